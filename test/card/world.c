/* The virtual card's environment: its clock, its files, its control by tests, and its sound. */
#include "vcard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Rounding tolerance, so that a frame due at exactly this nanosecond is not missed. */
#define FRAME_EPSILON 0.001
/* Samples on each side of an interpolated place, and number of places between two samples. */
#define SINC_REACH 8
#define SINC_PHASES 1024

int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

void sleep_until(int64_t ns)
{
	struct timespec at = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

int64_t frame_at(const struct frame_clock *clock, int64_t ns)
{
	return clock->base_frame + (int64_t)floor((ns - clock->base_ns) * clock->frames_per_ns + FRAME_EPSILON);
}

int64_t ns_of(const struct frame_clock *clock, int64_t frame)
{
	return clock->base_ns + (int64_t)ceil((frame - clock->base_frame) / clock->frames_per_ns);
}

int open_file(const char *path, const char *suffix, int flags)
{
	char name[PATH_MAX + 16];
	snprintf(name, sizeof name, "%s%s", path, suffix);
	return open(name, flags | O_CLOEXEC, 0644);
}

/* Reads a small text file whole; an absent one is empty. */
static void read_text(const char *path, const char *suffix, char *text, size_t size)
{
	int fd = open_file(path, suffix, O_RDONLY);
	ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);
	text[length < 0 ? 0 : length] = 0;
	if (fd >= 0)
		close(fd);
}

void record_at(struct card *card, int64_t ns, const char *event, int64_t frame)
{
	dprintf(card->log_fd, "%lld %d %s %lld\n", (long long)ns, (int)getpid(), event, (long long)frame);
}

void record(struct card *card, const char *event, int64_t frame)
{
	record_at(card, now_ns(), event, frame);
}

void note_late(struct card *card, int64_t due_ns)
{
	int64_t late = now_ns() - due_ns;
	if (late > LATE_NS)
		dprintf(card->late_fd, "%lld\n", (long long)late);
}

/* Records a call of the client. */
static void note_seen(struct card *card)
{
	int64_t now = now_ns();
	if (now - card->seen_ns < TICK_NS)
		return;
	card->seen_ns = now;
	if (pwrite(card->seen_fd, &now, sizeof now, 0) != sizeof now)
		record(card, "cannot-write", -1);
}

static double frames_per_ns(const struct card *card, double speed)
{
	return card->rate * (1 + card->ppm * 1e-6) * speed / NS_PER_S;
}

/* Reads the whole text of a link; an absent one is empty. */
static void read_link(const char *path, const char *suffix, char *text, size_t size)
{
	char name[PATH_MAX + 16];
	snprintf(name, sizeof name, "%s%s", path, suffix);
	ssize_t length = readlink(name, text, size - 1);
	text[length < 0 ? 0 : length] = 0;
}

bool is_unplugged(const char *path)
{
	char text[256];
	read_link(path, ".control", text, sizeof text);
	return strstr(text, "unplug") != NULL;
}

bool is_plugged(const char *path)
{
	char text[8];
	read_link(path, ".jack", text, sizeof text);
	return text[0] == '1';
}

struct knob read_knob(const char *path)
{
	struct knob knob = { { KNOB_STEPS, KNOB_STEPS }, { 1, 1 } };
	char text[64];

	read_link(path, ".volume", text, sizeof text);
	sscanf(text, "%ld %ld", &knob.volume[0], &knob.volume[1]);
	read_link(path, ".switch", text, sizeof text);
	sscanf(text, "%ld %ld", &knob.on[0], &knob.on[1]);
	return knob;
}

/* Replaces the text of a link atomically; 0 or a negative error. */
static int write_link(const char *path, const char *suffix, const char *text)
{
	char draft[PATH_MAX + 48], name[PATH_MAX + 16];

	snprintf(name, sizeof name, "%s%s", path, suffix);
	snprintf(draft, sizeof draft, "%s.%d.draft", name, (int)getpid());
	return symlink(text, draft) || rename(draft, name) ? -errno : 0;
}

int turn_knob(const char *path, bool is_switch, long first, long second)
{
	char text[64];

	snprintf(text, sizeof text, "%ld %ld", first, second);
	return write_link(path, is_switch ? ".switch" : ".volume", text);
}

/* Applies the control's volume to frames; the loudest position changes nothing. */
static void turn(struct card *card, sample_t *frames, int64_t size)
{
	struct knob knob = read_knob(card->path);

	for (long channel = 0; channel < card->channels; channel++) {
		bool is_silent = !knob.on[channel] || knob.volume[channel] <= 0;
		double gain = is_silent ? 0 : pow(10, (knob.volume[channel] - KNOB_STEPS) / 20.0);
		for (int64_t at = channel; gain != 1 && at < size * card->channels; at += card->channels)
			frames[at] = lrint(frames[at] * gain);
	}
}

static struct control read_control(struct card *card)
{
	struct control control = { .speed = card->speed };
	char text[256], *rest = NULL;

	read_link(card->path, ".control", text, sizeof text);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(word, "unplug"))
			control.unplug = true;
		else if (!strcmp(word, "stall"))
			control.stall = true;
		else if (!strcmp(word, "busy"))
			control.busy = true;
		else if (!strncmp(word, "stall-at=", 9))
			control.stall_at = atol(word + 9);
		else if (!strncmp(word, "xrun=", 5))
			control.xrun = atol(word + 5);
		else if (!strncmp(word, "speed=", 6))
			control.speed = atof(word + 6);
	}
	return control;
}

struct control obey(struct card *card)
{
	/* No call reports more frames than are played before the card stalls. */
	if (card->mover_runs)
		move_sounded(card);
	struct control control = read_control(card);

	bool is_held = false;
	note_seen(card);
	while (control.stall && !control.unplug) {
		if (!is_held)
			record(card, "held", -1);
		is_held = true;
		sleep_until(now_ns() + TICK_NS);
		note_seen(card);
		control = read_control(card);
	}
	/* The client did not cause this. */
	if (is_held)
		card->wakes_ns = now_ns();
	double wanted = frames_per_ns(card, control.speed);
	if (wanted != card->clock.frames_per_ns && card->clock.base_ns) {
		pthread_mutex_lock(&card->lock);
		int64_t frame = frame_at(&card->clock, now_ns());
		card->clock = (struct frame_clock){ ns_of(&card->clock, frame), frame, wanted };
		pthread_mutex_unlock(&card->lock);
	}
	return control;
}

static bool read_epoch(const char *path, struct frame_clock *clock, int *channels)
{
	char text[256];
	long long ns;
	double rate;

	read_text(path, ".epoch", text, sizeof text);
	if (sscanf(text, "{\"ns\":%lld,\"frames_per_s\":%lf,\"channels\":%d}", &ns, &rate, channels) != 3)
		return false;
	*clock = (struct frame_clock){ ns, 0, rate / NS_PER_S };
	return true;
}

bool resume_time(struct card *card)
{
	int channels;
	return card->clock.base_ns || read_epoch(card->path, &card->clock, &channels);
}

int begin_time(struct card *card, int64_t now)
{
	if (resume_time(card))
		return 0;

	char draft[PATH_MAX + 16], name[PATH_MAX + 16];
	snprintf(draft, sizeof draft, "%s.epoch.draft", card->path);
	snprintf(name, sizeof name, "%s.epoch", card->path);
	int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	card->clock = (struct frame_clock){ now, 0, frames_per_ns(card, card->speed) };
	dprintf(fd, "{\"ns\":%lld,\"frames_per_s\":%.9f,\"channels\":%ld}\n", (long long)card->clock.base_ns,
		card->clock.frames_per_ns * NS_PER_S, card->channels);
	close(fd);
	return rename(draft, name) ? -errno : 0;
}

/* Number of these frames that are played before a stall that was ordered in advance. */
static int64_t before_stall(struct card *card, const sample_t *frames, int64_t size, long stall_at)
{
	for (int64_t at = 0; at < size; at++) {
		if (frames[at * card->channels] == 0)
			continue;
		if (stall_at > 0 && card->sounded >= stall_at)
			return at;
		card->sounded++;
	}
	return size;
}

void move_sounded(struct card *card)
{
	size_t frame_bytes = card->channels * sizeof(sample_t);
	int64_t ring_frames = card->io.buffer_size;

	pthread_mutex_lock(&card->lock);
	struct control control = read_control(card);
	int64_t until = frame_at(&card->clock, now_ns()) - card->start_frame;
	if (until > card->written)
		until = card->written;
	while (card->moved < until) {
		int64_t at = card->moved % ring_frames;
		int64_t frames = until - card->moved;
		if (frames > ring_frames - at)
			frames = ring_frames - at;
		/* Played frames are no longer needed in the ring. */
		turn(card, card->ring + at * card->channels, frames);
		/* A stalled or unplugged card is silent. */
		bool is_silent = control.stall || control.unplug;
		const sample_t *first = card->ring + at * card->channels;
		int64_t sounding = is_silent ? 0 : before_stall(card, first, frames, control.stall_at);
		if (sounding > 0 && pwrite(card->pcm_fd, first, sounding * frame_bytes,
					   (card->start_frame + card->moved) * frame_bytes) < 0)
			record(card, "cannot-write", card->start_frame + card->moved);
		if (!is_silent && sounding < frames) {
			control.stall = true;
			record(card, "stall", card->start_frame + card->moved + sounding);
			if (write_link(card->path, ".control", "stall"))
				record(card, "cannot-write", -1);
		}
		card->moved += frames;
	}
	pthread_mutex_unlock(&card->lock);
}

/* Interpolates between samples with a windowed sinc. */
static double between(const sample_t *samples, int channels, double place)
{
	static double table[SINC_PHASES + 1][2 * SINC_REACH];
	if (table[0][SINC_REACH - 1] == 0)
		for (int phase = 0; phase <= SINC_PHASES; phase++)
			for (int tap = 0; tap < 2 * SINC_REACH; tap++) {
				double away = tap - SINC_REACH + 1 - (double)phase / SINC_PHASES;
				double fade = 0.5 + 0.5 * cos(M_PI * away / SINC_REACH);
				table[phase][tap] = fabs(away) < 1e-9 ? 1 : fade * sin(M_PI * away) / (M_PI * away);
			}
	int64_t whole = (int64_t)floor(place);
	const double *taps = table[lrint((place - whole) * SINC_PHASES)];
	double sum = 0;
	for (int tap = 0; tap < 2 * SINC_REACH; tap++)
		sum += taps[tap] * samples[(whole - SINC_REACH + 1 + tap) * channels];
	return sum;
}

/* Adds the loudspeaker of the same room to the microphone, later and quieter. */
static void add_echo(struct card *card, sample_t *frames, int64_t frame, snd_pcm_uframes_t size)
{
	struct echo *echo = &card->echo;
	if (!echo->path[0])
		return;
	if (echo->fd < 0 && read_epoch(echo->path, &echo->clock, &echo->channels))
		echo->fd = open_file(echo->path, ".pcm", O_RDONLY);
	if (echo->fd < 0)
		return;
	/* Captured samples lie between the played ones, because the clocks differ. */
	double ns = card->clock.base_ns + (frame - card->clock.base_frame) / card->clock.frames_per_ns - echo->delay_ns;
	double from = echo->clock.base_frame + (ns - echo->clock.base_ns) * echo->clock.frames_per_ns;
	double step = echo->clock.frames_per_ns / card->clock.frames_per_ns;
	int64_t first = (int64_t)floor(from) - SINC_REACH + 1;
	size_t heard_frames = (size_t)ceil(size * step) + 2 * SINC_REACH + 1;
	sample_t *heard = calloc(heard_frames * echo->channels, sizeof(sample_t));
	/* Holes in the file are silence, and so is everything before and after it. */
	int64_t skipped = first < 0 ? -first : 0;
	if (heard && skipped < (int64_t)heard_frames) {
		size_t frame_bytes = echo->channels * sizeof(sample_t);
		ssize_t length = pread(echo->fd, heard + skipped * echo->channels,
				       (heard_frames - skipped) * frame_bytes, (first + skipped) * frame_bytes);
		for (snd_pcm_uframes_t at = 0; length > 0 && at < size; at++) {
			double sound = echo->gain * between(heard, echo->channels, from + at * step - first);
			for (long channel = 0; channel < card->channels; channel++) {
				sample_t *sample = &frames[at * card->channels + channel];
				long sum = *sample + lrint(sound);
				*sample = sum > SHRT_MAX ? SHRT_MAX : sum < SHRT_MIN ? SHRT_MIN : sum;
			}
		}
	}
	free(heard);
}

void hear(struct card *card, sample_t *frames, int64_t frame, snd_pcm_uframes_t size)
{
	size_t frame_bytes = card->channels * sizeof(sample_t);
	off_t end = lseek(card->pcm_fd, 0, SEEK_END) / (off_t)frame_bytes;
	snd_pcm_uframes_t done = 0;

	memset(frames, 0, size * frame_bytes);
	while (done < size && card->pcm_fd >= 0 && end > 0) {
		off_t from = card->loop ? (frame + done) % end : frame + done;
		ssize_t length = from < end ? pread(card->pcm_fd, frames + done * card->channels,
						    (size - done) * frame_bytes, from * frame_bytes) : 0;
		if (length <= 0)
			break;
		done += length / frame_bytes;
	}
	add_echo(card, frames, frame, size);
	turn(card, frames, size);
}
