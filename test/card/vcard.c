/*
 * A sound card made of files: an alsa-lib external I/O plugin, for tests on machines without sound.
 *
 * To arecord and aplay it is a card with an exact sample clock, a ring buffer, one user at a time, overruns and
 * underruns; it can be unplugged, hang and run fast or slow. To a test it is five files that begin with the same path:
 *
 *   PATH.pcm      capture: what the microphone hears, read by device frame; silence follows it (or it begins again).
 *                 playback: what the loudspeaker sounded, written at its device frame; where nothing sounded is a hole.
 *   PATH.epoch    JSON; when device frame 0 was, in nanoseconds of CLOCK_MONOTONIC, and how fast frames follow. Made at
 *                 the first start and kept: the card's time goes on while nobody uses it.
 *   PATH.control  words that a test writes while the card runs, with spaces between them:
 *                   unplug   ENODEV for every call until the word is gone
 *                   stall    calls block until the word is gone; nothing sounds
 *                   busy     EBUSY on open
 *                   xrun=N   an overrun or underrun, once for each new N
 *                   speed=F  frames follow F times as fast from now on
 *   PATH.log      what happened: nanoseconds, process, event, device frame.
 *   PATH.lock     held by the one process that has the card open: others get EBUSY.
 *
 * Options in the ALSA configuration: path; rate and channels (others are refused, as a hw device would); ppm, the error
 * of its clock; speed; period (frames, a fixed one); buffer_max (frames); loop; and for a capture that hears a playback:
 * echo (that one's PATH), echo_ms, echo_db.
 */
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
/* How often a loudspeaker's sound is moved into its file: as exact as what sounded before a SIGKILL is known. */
#define TICK_NS 5000000LL
/* Keeps a frame that is due at this very nanosecond from being missed by rounding. */
#define FRAME_EPSILON 0.001

typedef int16_t sample_t;

/* Frames and nanoseconds, tied together at one point. */
struct frame_clock {
	int64_t base_ns, base_frame;
	double frames_per_ns;
};

struct control {
	bool unplug, stall, busy;
	long xrun;
	double speed;
};

struct echo {
	char path[PATH_MAX];
	int fd; /* -1 until that card has started */
	struct frame_clock clock;
	int channels;
	double delay_ns, gain;
};

struct card {
	snd_pcm_ioplug_t io;
	char path[PATH_MAX];
	int pcm_fd, lock_fd, log_fd;
	long rate, channels, period, buffer_max;
	double ppm, speed;
	bool loop;
	struct echo echo;

	struct frame_clock clock; /* the card's, for all its life */
	long xruns_seen;
	snd_pcm_uframes_t avail_min, stop_threshold;

	bool running;
	int64_t start_frame; /* device frame of this run's frame 0 */

	/* Playback: what has been written and has not sounded. */
	pthread_t mover;
	pthread_mutex_t lock;
	bool mover_runs;
	sample_t *ring;
	int64_t written, moved; /* frames of this run */
};

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec at = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static int64_t frame_at(const struct frame_clock *clock, int64_t ns)
{
	return clock->base_frame + (int64_t)floor((ns - clock->base_ns) * clock->frames_per_ns + FRAME_EPSILON);
}

static int64_t ns_of(const struct frame_clock *clock, int64_t frame)
{
	return clock->base_ns + (int64_t)ceil((frame - clock->base_frame) / clock->frames_per_ns);
}

static int open_file(const char *path, const char *suffix, int flags)
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

static void record(struct card *card, const char *event, int64_t frame)
{
	dprintf(card->log_fd, "%lld %d %s %lld\n", (long long)now_ns(), (int)getpid(), event, (long long)frame);
}

static double frames_per_ns(const struct card *card, double speed)
{
	return card->rate * (1 + card->ppm * 1e-6) * speed / NS_PER_S;
}

static struct control read_control(struct card *card)
{
	struct control control = { .speed = card->speed };
	char text[256], *rest = NULL;

	read_text(card->path, ".control", text, sizeof text);
	for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		if (!strcmp(word, "unplug"))
			control.unplug = true;
		else if (!strcmp(word, "stall"))
			control.stall = true;
		else if (!strcmp(word, "busy"))
			control.busy = true;
		else if (!strncmp(word, "xrun=", 5))
			control.xrun = atol(word + 5);
		else if (!strncmp(word, "speed=", 6))
			control.speed = atof(word + 6);
	}
	return control;
}

/* What a test wants now; returns only when calls do not block, and sets the speed. */
static struct control obey(struct card *card)
{
	struct control control = read_control(card);

	while (control.stall && !control.unplug) {
		sleep_until(now_ns() + TICK_NS);
		control = read_control(card);
	}
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

/* The card's time begins with its first start, whoever does it. */
static int begin_time(struct card *card)
{
	int channels;
	if (card->clock.base_ns || read_epoch(card->path, &card->clock, &channels))
		return 0;

	char draft[PATH_MAX + 16], name[PATH_MAX + 16];
	snprintf(draft, sizeof draft, "%s.epoch.draft", card->path);
	snprintf(name, sizeof name, "%s.epoch", card->path);
	int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	card->clock = (struct frame_clock){ now_ns(), 0, frames_per_ns(card, card->speed) };
	dprintf(fd, "{\"ns\":%lld,\"frames_per_s\":%.6f,\"channels\":%ld}\n", (long long)card->clock.base_ns,
		card->clock.frames_per_ns * NS_PER_S, card->channels);
	close(fd);
	return rename(draft, name) ? -errno : 0;
}

/* Playback: moves what has sounded until now into the file. */
static void move_sounded(struct card *card)
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
		/* A card that hangs or is gone is silent. */
		if (!control.stall && !control.unplug &&
		    pwrite(card->pcm_fd, card->ring + at * card->channels, frames * frame_bytes,
			   (card->start_frame + card->moved) * frame_bytes) < 0)
			record(card, "cannot-write", card->start_frame + card->moved);
		card->moved += frames;
	}
	pthread_mutex_unlock(&card->lock);
}

static void *run_mover(void *argument)
{
	struct card *card = argument;
	while (__atomic_load_n(&card->mover_runs, __ATOMIC_ACQUIRE)) {
		move_sounded(card);
		sleep_until(now_ns() + TICK_NS);
	}
	return NULL;
}

/* The microphone hears the loudspeaker of the same room, later and quieter. */
static void add_echo(struct card *card, sample_t *frames, int64_t frame, snd_pcm_uframes_t size)
{
	struct echo *echo = &card->echo;
	if (!echo->path[0])
		return;
	if (echo->fd < 0 && read_epoch(echo->path, &echo->clock, &echo->channels))
		echo->fd = open_file(echo->path, ".pcm", O_RDONLY);
	if (echo->fd < 0)
		return;
	int64_t first = frame_at(&echo->clock, ns_of(&card->clock, frame) - (int64_t)echo->delay_ns);
	double step = echo->clock.frames_per_ns / card->clock.frames_per_ns;
	size_t heard_frames = (size_t)ceil(size * step) + 1;
	sample_t *heard = calloc(heard_frames * echo->channels, sizeof(sample_t));
	/* The holes of the file are silence, and so is what lies before or behind it. */
	int64_t skipped = first < 0 ? -first : 0;
	if (heard && skipped < (int64_t)heard_frames) {
		size_t frame_bytes = echo->channels * sizeof(sample_t);
		ssize_t length = pread(echo->fd, heard + skipped * echo->channels,
				       (heard_frames - skipped) * frame_bytes, (first + skipped) * frame_bytes);
		for (snd_pcm_uframes_t at = 0; length > 0 && at < size; at++) {
			double sound = echo->gain * heard[(size_t)(at * step) * echo->channels];
			for (long channel = 0; channel < card->channels; channel++) {
				sample_t *sample = &frames[at * card->channels + channel];
				long sum = *sample + lrint(sound);
				*sample = sum > SHRT_MAX ? SHRT_MAX : sum < SHRT_MIN ? SHRT_MIN : sum;
			}
		}
	}
	free(heard);
}

/* Capture: what the microphone heard from a device frame on. */
static void hear(struct card *card, sample_t *frames, int64_t frame, snd_pcm_uframes_t size)
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
}

/* Wakes the client when the next period is full (or empty), as a card's interrupt does. */
static void arm(struct card *card)
{
	int64_t period = card->io.period_size;
	int64_t done = frame_at(&card->clock, now_ns()) - card->start_frame;
	int64_t at = ns_of(&card->clock, card->start_frame + (done / period + 1) * period);
	struct itimerspec when = { .it_value = { at / NS_PER_S, at % NS_PER_S } };
	timerfd_settime(card->io.poll_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static int card_start(snd_pcm_ioplug_t *io)
{
	struct card *card = io->private_data;
	struct control control = obey(card);
	if (control.unplug)
		return -ENODEV;
	int error = begin_time(card);
	if (error)
		return error;
	card->xruns_seen = control.xrun;
	card->start_frame = frame_at(&card->clock, now_ns());
	card->moved = 0;
	card->running = true;
	record(card, "start", card->start_frame);
	arm(card);
	if (io->stream == SND_PCM_STREAM_CAPTURE)
		return 0;

	/* Signals are for the client's own thread. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	card->mover_runs = true;
	error = pthread_create(&card->mover, NULL, run_mover, card);
	card->mover_runs = error == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static int card_stop(snd_pcm_ioplug_t *io)
{
	struct card *card = io->private_data;
	if (card->mover_runs) {
		__atomic_store_n(&card->mover_runs, false, __ATOMIC_RELEASE);
		pthread_join(card->mover, NULL);
		move_sounded(card);
	}
	if (card->running)
		record(card, "stop", frame_at(&card->clock, now_ns()));
	card->running = false;
	return 0;
}

static int card_prepare(snd_pcm_ioplug_t *io)
{
	struct card *card = io->private_data;
	card_stop(io);
	card->written = 0;
	return obey(card).unplug ? -ENODEV : 0;
}

static snd_pcm_sframes_t card_pointer(snd_pcm_ioplug_t *io)
{
	struct card *card = io->private_data;
	struct control control = obey(card);

	if (control.unplug) {
		/* From now on alsa-lib answers every call with ENODEV, as it does for a USB card that was pulled. */
		snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
		return io->hw_ptr;
	}
	if (!card->running)
		return 0;
	if (card->mover_runs)
		move_sounded(card);

	int64_t done = frame_at(&card->clock, now_ns()) - card->start_frame;
	int64_t client = io->appl_ptr;
	if (io->state == SND_PCM_STATE_DRAINING && done > client)
		done = client;
	int64_t avail = io->stream == SND_PCM_STREAM_CAPTURE ? done - client
							     : done - client + (int64_t)io->buffer_size;
	if (control.xrun != card->xruns_seen || (uint64_t)(avail < 0 ? 0 : avail) >= card->stop_threshold) {
		if (io->state == SND_PCM_STATE_RUNNING) {
			card->xruns_seen = control.xrun;
			record(card, "xrun", card->start_frame + done);
			return -EPIPE;
		}
	}
	return done;
}

/* Copies between the client and the card, at the client's pointer. */
static snd_pcm_sframes_t card_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
				       snd_pcm_uframes_t offset, snd_pcm_uframes_t size)
{
	struct card *card = io->private_data;
	size_t frame_bytes = card->channels * sizeof(sample_t);
	char *client = (char *)areas->addr + (areas->first + areas->step * offset) / 8;

	if (io->stream == SND_PCM_STREAM_CAPTURE) {
		hear(card, (sample_t *)client, card->start_frame + io->appl_ptr, size);
		return size;
	}
	pthread_mutex_lock(&card->lock);
	for (snd_pcm_uframes_t done = 0; done < size;) {
		snd_pcm_uframes_t at = (io->appl_ptr + done) % io->buffer_size;
		snd_pcm_uframes_t frames = size - done;
		if (frames > io->buffer_size - at)
			frames = io->buffer_size - at;
		memcpy(card->ring + at * card->channels, client + done * frame_bytes, frames * frame_bytes);
		done += frames;
	}
	card->written = io->appl_ptr + size;
	pthread_mutex_unlock(&card->lock);
	return size;
}

static int card_drain(snd_pcm_ioplug_t *io)
{
	struct card *card = io->private_data;
	while (card->running && frame_at(&card->clock, now_ns()) < card->start_frame + card->written) {
		if (obey(card).unplug)
			return -ENODEV;
		if (io->nonblock)
			return -EAGAIN;
		sleep_until(now_ns() + TICK_NS);
	}
	return card_stop(io);
}

static int card_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned int count, unsigned short *revents)
{
	struct card *card = io->private_data;
	bool is_capture = io->stream == SND_PCM_STREAM_CAPTURE;
	uint64_t expirations;

	*revents = 0;
	if (count != 1 || !(fds[0].revents & POLLIN) ||
	    read(io->poll_fd, &expirations, sizeof expirations) != sizeof expirations)
		return 0;
	snd_pcm_sframes_t done = card_pointer(io);
	int64_t avail = done - (int64_t)io->appl_ptr + (is_capture ? 0 : (int64_t)io->buffer_size);
	/* What is wrong, the client learns from its next call. */
	bool is_wrong = done < 0 || io->state != SND_PCM_STATE_RUNNING;
	if (is_wrong || avail >= (int64_t)card->avail_min)
		*revents = is_capture ? POLLIN : POLLOUT;
	if (done < 0)
		snd_pcm_ioplug_set_state(io, SND_PCM_STATE_XRUN);
	arm(card);
	return 0;
}

static int card_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params)
{
	struct card *card = io->private_data;
	(void)params;
	free(card->ring);
	card->ring = calloc(io->buffer_size * card->channels, sizeof(sample_t));
	return card->ring ? 0 : -ENOMEM;
}

static int card_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params)
{
	struct card *card = io->private_data;
	snd_pcm_sw_params_get_avail_min(params, &card->avail_min);
	snd_pcm_sw_params_get_stop_threshold(params, &card->stop_threshold);
	return 0;
}

static void discard(struct card *card)
{
	int *fds[] = { &card->pcm_fd, &card->lock_fd, &card->log_fd, &card->io.poll_fd, &card->echo.fd };
	for (size_t at = 0; at < sizeof fds / sizeof *fds; at++)
		if (*fds[at] >= 0)
			close(*fds[at]);
	pthread_mutex_destroy(&card->lock);
	free(card->ring);
	free(card);
}

static int card_close(snd_pcm_ioplug_t *io)
{
	struct card *card = io->private_data;
	card_stop(io);
	record(card, "close", -1);
	discard(card);
	return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
	.start = card_start,
	.stop = card_stop,
	.prepare = card_prepare,
	.pointer = card_pointer,
	.transfer = card_transfer,
	.drain = card_drain,
	.poll_revents = card_poll_revents,
	.hw_params = card_hw_params,
	.sw_params = card_sw_params,
	.close = card_close,
};

/* What the card can do: one format, one rate, one number of channels. */
static int constrain(struct card *card)
{
	static const unsigned int accesses[] = { SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED };
	static const unsigned int formats[] = { SND_PCM_FORMAT_S16_LE };
	unsigned int frame_bytes = card->channels * sizeof(sample_t);
	unsigned int shortest = card->period ? card->period : 16, longest = card->period ? card->period : card->buffer_max / 2;
	snd_pcm_ioplug_t *io = &card->io;
	int error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 2, accesses);

	if (!error)
		error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, formats);
	if (!error)
		error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, card->channels, card->channels);
	if (!error)
		error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_RATE, card->rate, card->rate);
	if (!error)
		error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, shortest * frame_bytes,
							longest * frame_bytes);
	if (!error)
		error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, 1024);
	if (!error)
		error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 2 * shortest * frame_bytes,
							card->buffer_max * frame_bytes);
	return error;
}

/* Opens the files; errors are those of a real card. */
static int plug_in(struct card *card, snd_pcm_stream_t stream)
{
	card->log_fd = open_file(card->path, ".log", O_WRONLY | O_CREAT | O_APPEND);
	card->lock_fd = open_file(card->path, ".lock", O_WRONLY | O_CREAT);
	if (card->log_fd < 0 || card->lock_fd < 0)
		return -errno;
	struct control control = obey(card);
	bool is_taken = control.busy || flock(card->lock_fd, LOCK_EX | LOCK_NB) != 0;
	if (control.unplug || is_taken) {
		record(card, control.unplug ? "no-device" : "busy", -1);
		return control.unplug ? -ENODEV : -EBUSY;
	}
	record(card, "open", -1);
	bool is_playback = stream == SND_PCM_STREAM_PLAYBACK;
	card->pcm_fd = open_file(card->path, ".pcm", is_playback ? O_WRONLY | O_CREAT : O_RDONLY);
	if (is_playback && card->pcm_fd < 0)
		return -errno;
	int channels;
	read_epoch(card->path, &card->clock, &channels);
	return 0;
}

static int read_option(struct card *card, snd_config_t *option, const char *id)
{
	struct { const char *name; long *value; } integers[] = {
		{ "rate", &card->rate }, { "channels", &card->channels },
		{ "period", &card->period }, { "buffer_max", &card->buffer_max },
	};
	struct { const char *name; double *value; } numbers[] = {
		{ "ppm", &card->ppm }, { "speed", &card->speed },
		{ "echo_ms", &card->echo.delay_ns }, { "echo_db", &card->echo.gain },
	};
	struct { const char *name; char *value; } paths[] = { { "path", card->path }, { "echo", card->echo.path } };
	const char *text;

	for (size_t at = 0; at < sizeof integers / sizeof *integers; at++)
		if (!strcmp(id, integers[at].name))
			return snd_config_get_integer(option, integers[at].value);
	for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++)
		if (!strcmp(id, numbers[at].name))
			return snd_config_get_ireal(option, numbers[at].value);
	for (size_t at = 0; at < sizeof paths / sizeof *paths; at++)
		if (!strcmp(id, paths[at].name)) {
			int error = snd_config_get_string(option, &text);
			if (!error)
				snprintf(paths[at].value, PATH_MAX, "%s", text);
			return error;
		}
	if (!strcmp(id, "loop")) {
		int loop = snd_config_get_bool(option);
		card->loop = loop > 0;
		return loop < 0 ? loop : 0;
	}
	SNDERR("A virtual card has no option %s", id);
	return -EINVAL;
}

SND_PCM_PLUGIN_DEFINE_FUNC(vcard)
{
	snd_config_iterator_t at, next;
	int error = 0;
	struct card *card = calloc(1, sizeof *card);
	(void)root;

	if (!card)
		return -ENOMEM;
	card->pcm_fd = card->lock_fd = card->log_fd = card->io.poll_fd = card->echo.fd = -1;
	card->rate = 24000;
	card->channels = 1;
	card->speed = 1;
	card->buffer_max = 96000;
	card->stop_threshold = ULONG_MAX;
	pthread_mutex_init(&card->lock, NULL);

	snd_config_for_each(at, next, conf) {
		snd_config_t *option = snd_config_iterator_entry(at);
		const char *id;
		if (error || snd_config_get_id(option, &id) < 0 || !strcmp(id, "type") || !strcmp(id, "comment") ||
		    !strcmp(id, "hint"))
			continue;
		error = read_option(card, option, id);
	}
	card->echo.delay_ns *= 1e6;
	card->echo.gain = pow(10, card->echo.gain / 20);
	if (!error && !card->path[0])
		error = -EINVAL;
	if (!error)
		error = plug_in(card, stream);
	if (!error && (card->io.poll_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) < 0)
		error = -errno;
	if (error) {
		discard(card);
		return error;
	}

	card->io.version = SND_PCM_IOPLUG_VERSION;
	card->io.name = "Virtual card";
	card->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
	card->io.poll_events = POLLIN;
	card->io.callback = &callbacks;
	card->io.private_data = card;
	error = snd_pcm_ioplug_create(&card->io, name, stream, mode);
	if (error) {
		discard(card);
		return error;
	}
	error = constrain(card);
	if (error) {
		snd_pcm_ioplug_delete(&card->io); /* closes it, too */
		return error;
	}
	*pcmp = card->io.pcm;
	return 0;
}

SND_PCM_PLUGIN_SYMBOL(vcard);
