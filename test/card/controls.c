/* The virtual card's volume controls for amixer: an alsa-lib external control. `vcard.h` documents their knobs. */
#include "vcard.h"

#include <alsa/control_external.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum direction { PLAYBACK, CAPTURE, DIRECTIONS };

/* Elements: a volume and a switch for each direction with a control, and a jack. */
struct element {
	enum direction direction;
	bool is_switch;
	bool is_jack;
};

struct controls {
	snd_ctl_ext_t ext;
	char paths[DIRECTIONS][PATH_MAX];
	char names[DIRECTIONS][32]; /* "Speaker"; empty where there is none */
	char jack[32]; /* "Headphone Jack"; empty where there is none */
	int watch_fd; /* inotify: the links beside the jack's */
	long channels;
	struct element elements[2 * DIRECTIONS + 1];
	int count;
};

/* "Master Playback Volume": alsa-lib makes one simple control of all names with the same beginning. */
static int elem_list(snd_ctl_ext_t *ext, unsigned int offset, snd_ctl_elem_id_t *id)
{
	struct controls *controls = ext->private_data;
	char name[64];

	if (offset >= (unsigned int)controls->count)
		return -EINVAL;
	struct element element = controls->elements[offset];
	if (element.is_jack) {
		snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_CARD);
		snd_ctl_elem_id_set_name(id, controls->jack);
		return 0;
	}
	snprintf(name, sizeof name, "%s %s %s", controls->names[element.direction],
		 element.direction == PLAYBACK ? "Playback" : "Capture", element.is_switch ? "Switch" : "Volume");
	snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_MIXER);
	snd_ctl_elem_id_set_name(id, name);
	return 0;
}

static int elem_count(snd_ctl_ext_t *ext)
{
	struct controls *controls = ext->private_data;
	return controls->count;
}

static snd_ctl_ext_key_t find_elem(snd_ctl_ext_t *ext, const snd_ctl_elem_id_t *id)
{
	struct controls *controls = ext->private_data;
	unsigned int numid = snd_ctl_elem_id_get_numid(id);
	snd_ctl_elem_id_t *own;

	if (numid > 0 && numid <= (unsigned int)controls->count)
		return numid - 1;
	snd_ctl_elem_id_alloca(&own);
	for (int at = 0; at < controls->count; at++) {
		elem_list(ext, at, own);
		if (!strcmp(snd_ctl_elem_id_get_name(own), snd_ctl_elem_id_get_name(id)))
			return at;
	}
	return SND_CTL_EXT_KEY_NOT_FOUND;
}

static int get_attribute(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, int *type, unsigned int *acc, unsigned int *count)
{
	struct controls *controls = ext->private_data;
	bool is_switch = controls->elements[key].is_switch;

	if (controls->elements[key].is_jack) {
		*type = SND_CTL_ELEM_TYPE_BOOLEAN;
		*acc = SND_CTL_EXT_ACCESS_READ;
		*count = 1;
		return 0;
	}
	*type = is_switch ? SND_CTL_ELEM_TYPE_BOOLEAN : SND_CTL_ELEM_TYPE_INTEGER;
	*acc = SND_CTL_EXT_ACCESS_READWRITE | (is_switch ? 0 : SND_CTL_EXT_ACCESS_TLV_READ);
	*count = controls->channels;
	return 0;
}

static int get_integer_info(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *least, long *most, long *step)
{
	struct controls *controls = ext->private_data;
	*least = 0;
	*most = controls->elements[key].is_switch || controls->elements[key].is_jack ? 1 : KNOB_STEPS;
	*step = 1;
	return 0;
}

static bool is_gone(struct controls *controls)
{
	return is_unplugged(controls->paths[PLAYBACK]) || is_unplugged(controls->paths[CAPTURE]);
}

static int read_integer(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *values)
{
	struct controls *controls = ext->private_data;
	struct element element = controls->elements[key];
	struct knob knob = read_knob(controls->paths[element.direction]);

	if (is_gone(controls))
		return -ENODEV;
	if (element.is_jack) {
		values[0] = is_plugged(controls->paths[PLAYBACK]);
		return 0;
	}
	for (long channel = 0; channel < controls->channels; channel++)
		values[channel] = element.is_switch ? knob.on[channel] : knob.volume[channel];
	return 0;
}

static int write_integer(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *values)
{
	struct controls *controls = ext->private_data;
	struct element element = controls->elements[key];
	long second = controls->channels > 1 ? values[1] : values[0];

	if (is_gone(controls))
		return -ENODEV;
	int error = turn_knob(controls->paths[element.direction], element.is_switch, values[0], second);
	return error ? error : 1;
}

static void close_controls(snd_ctl_ext_t *ext)
{
	struct controls *controls = ext->private_data;
	if (controls->watch_fd >= 0)
		close(controls->watch_fd);
	free(controls);
}

/* Only the jack reports changes: each amixer opens the other controls again. */
static int read_event(snd_ctl_ext_t *ext, snd_ctl_elem_id_t *id, unsigned int *mask)
{
	struct controls *controls = ext->private_data;
	const char *slash = strrchr(controls->paths[PLAYBACK], '/');
	char own[PATH_MAX + 8];
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	snprintf(own, sizeof own, "%s.jack", slash ? slash + 1 : controls->paths[PLAYBACK]);
	ssize_t size;
	while (controls->watch_fd >= 0 && (size = read(controls->watch_fd, events, sizeof events)) > 0)
		for (char *at = events; at < events + size;) {
			struct inotify_event *event = (struct inotify_event *)at;
			at += sizeof *event + event->len;
			if (!event->len || strcmp(event->name, own))
				continue;
			for (int offset = 0; offset < controls->count; offset++)
				if (controls->elements[offset].is_jack)
					elem_list(ext, offset, id);
			*mask = SND_CTL_EVENT_MASK_VALUE;
			return 1;
		}
	return -EAGAIN;
}

/* Watches the folder of the links: a link is replaced, so it cannot be watched itself. */
static int watch_folder(const char *path)
{
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%s", path);
	char *slash = strrchr(folder, '/');
	if (!slash)
		return -1;
	*slash = 0;
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd >= 0 && inotify_add_watch(fd, folder, IN_MOVED_TO) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static const snd_ctl_ext_callback_t callbacks = {
	.close = close_controls,
	.elem_count = elem_count,
	.elem_list = elem_list,
	.find_elem = find_elem,
	.get_attribute = get_attribute,
	.get_integer_info = get_integer_info,
	.read_integer = read_integer,
	.write_integer = write_integer,
	.read_event = read_event,
};

/* From -KNOB_STEPS dB in steps of 1 dB; the lowest is silence. */
static const unsigned int decibels[] = {
	SND_CTL_TLVT_DB_SCALE, 2 * sizeof(unsigned int), (unsigned int)(-100 * KNOB_STEPS), 100 | 0x10000,
};

static int read_option(struct controls *controls, snd_config_t *option, const char *id)
{
	struct { const char *name; char *value; size_t size; } texts[] = {
		{ "playback_path", controls->paths[PLAYBACK], PATH_MAX },
		{ "capture_path", controls->paths[CAPTURE], PATH_MAX },
		{ "playback", controls->names[PLAYBACK], sizeof controls->names[PLAYBACK] },
		{ "capture", controls->names[CAPTURE], sizeof controls->names[CAPTURE] },
		{ "jack", controls->jack, sizeof controls->jack },
	};
	const char *text;

	for (size_t at = 0; at < sizeof texts / sizeof *texts; at++)
		if (!strcmp(id, texts[at].name)) {
			int error = snd_config_get_string(option, &text);
			if (!error)
				snprintf(texts[at].value, texts[at].size, "%s", text);
			return error;
		}
	if (!strcmp(id, "channels"))
		return snd_config_get_integer(option, &controls->channels);
	SNDERR("A virtual card's controls have no option %s", id);
	return -EINVAL;
}

SND_CTL_PLUGIN_DEFINE_FUNC(vcard)
{
	snd_config_iterator_t at, next;
	int error = 0;
	struct controls *controls = calloc(1, sizeof *controls);
	if (!controls)
		return -ENOMEM;

	(void)root;
	controls->channels = 1;
	snd_config_for_each(at, next, conf) {
		snd_config_t *option = snd_config_iterator_entry(at);
		const char *id;
		if (snd_config_get_id(option, &id) < 0 || !strcmp(id, "type") || !strcmp(id, "comment"))
			continue;
		if ((error = read_option(controls, option, id)))
			break;
	}
	if (!error && is_gone(controls))
		error = -ENODEV;
	if (error) {
		free(controls);
		return error;
	}
	for (enum direction direction = PLAYBACK; direction < DIRECTIONS; direction++)
		for (int is_switch = 0; is_switch <= 1 && controls->names[direction][0]; is_switch++)
			controls->elements[controls->count++] = (struct element){ direction, is_switch, false };
	controls->watch_fd = -1;
	if (controls->jack[0]) {
		controls->elements[controls->count++] = (struct element){ PLAYBACK, false, true };
		controls->watch_fd = watch_folder(controls->paths[PLAYBACK]);
	}

	snd_ctl_ext_t *ext = &controls->ext;
	ext->version = SND_CTL_EXT_VERSION;
	ext->poll_fd = controls->watch_fd;
	ext->callback = &callbacks;
	ext->private_data = controls;
	ext->tlv.p = decibels;
	snprintf(ext->id, sizeof ext->id, "Virtual");
	snprintf(ext->driver, sizeof ext->driver, "Virtual");
	snprintf(ext->name, sizeof ext->name, "Virtual card");
	snprintf(ext->longname, sizeof ext->longname, "Virtual card");
	snprintf(ext->mixername, sizeof ext->mixername, "Virtual card");
	error = snd_ctl_ext_create(ext, name, mode);
	if (error) {
		if (controls->watch_fd >= 0)
			close(controls->watch_fd);
		free(controls);
		return error;
	}
	*handlep = ext->handle;
	return 0;
}

SND_CTL_PLUGIN_SYMBOL(vcard);
