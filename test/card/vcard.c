/* The virtual card's interface to alsa-lib: the callbacks of an external I/O plugin. */
#include "vcard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Wakes the client when the next period is full (or empty), as a card's interrupt does. */
static void arm(struct card *card)
{
	int64_t period = card->io.period_size;
	int64_t done = frame_at(&card->clock, now_ns()) - card->start_frame;
	int64_t at = ns_of(&card->clock, card->start_frame + (done / period + 1) * period);
	card->wakes_ns = at;
	struct itimerspec when = { .it_value = { at / NS_PER_S, at % NS_PER_S } };
	timerfd_settime(card->io.poll_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void *run_mover(void *argument)
{
	struct card *card = argument;
	while (__atomic_load_n(&card->mover_runs, __ATOMIC_ACQUIRE)) {
		move_sounded(card);
		int64_t due = now_ns() + TICK_NS;
		sleep_until(due);
		note_late(card, due);
	}
	return NULL;
}

static int card_start(snd_pcm_ioplug_t *io)
{
	struct card *card = io->private_data;
	struct control control = obey(card);
	if (control.unplug)
		return -ENODEV;
	int64_t now = now_ns();
	int error = begin_time(card, now);
	if (error)
		return error;
	card->xruns_seen = control.xrun;
	card->start_frame = frame_at(&card->clock, now);
	card->moved = 0;
	card->running = true;
	record_at(card, now, "start", card->start_frame);
	arm(card);
	if (io->stream == SND_PCM_STREAM_CAPTURE)
		return 0;

	/* Signals go to the client's thread. */
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
	int64_t now = now_ns();
	if (card->running)
		record_at(card, now, "stop", frame_at(&card->clock, now));
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
		/* From now on alsa-lib answers every call with ENODEV, as for an unplugged USB card. */
		snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
		return io->hw_ptr;
	}
	if (!card->running)
		return 0;
	bool is_ordered = control.xrun != card->xruns_seen && io->state == SND_PCM_STATE_RUNNING;
	if (is_ordered && io->stream == SND_PCM_STREAM_PLAYBACK)
		sleep_until(ns_of(&card->clock, card->start_frame + card->written));
	if (card->mover_runs)
		move_sounded(card);

	int64_t done = frame_at(&card->clock, now_ns()) - card->start_frame;
	int64_t client = io->appl_ptr;
	if (io->state == SND_PCM_STATE_DRAINING && done > client)
		done = client;
	int64_t avail = io->stream == SND_PCM_STREAM_CAPTURE ? done - client
							     : done - client + (int64_t)io->buffer_size;
	if (is_ordered || (uint64_t)(avail < 0 ? 0 : avail) >= card->stop_threshold) {
		if (io->state == SND_PCM_STATE_RUNNING) {
			card->xruns_seen = control.xrun;
			record(card, "xrun", card->start_frame + done);
			/* Records the time, from which the client computes the length of the gap. */
			snd_pcm_drop(io->pcm);
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
	/* A player may have had nothing to write. */
	if (is_capture)
		note_late(card, card->wakes_ns);
	snd_pcm_sframes_t done = card_pointer(io);
	int64_t avail = done - (int64_t)io->appl_ptr + (is_capture ? 0 : (int64_t)io->buffer_size);
	/* The client gets the error from its next call. */
	bool is_wrong = done < 0 || io->state != SND_PCM_STATE_RUNNING;
	/*
	 * A kernel card wakes its reader at every period for the rest of a started read, even if that is less than avail_min.
	 * Alsa-lib would wait here for avail_min more, and every other period would be a period late.
	 */
	if (is_wrong || is_capture || avail >= (int64_t)card->avail_min)
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
	int *fds[] = { &card->pcm_fd, &card->lock_fd, &card->log_fd, &card->late_fd,
		       &card->seen_fd, &card->io.poll_fd, &card->echo.fd };
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

/* Parameters of the card: one format, one rate, one number of channels. */
static int constrain(struct card *card)
{
	static const unsigned int accesses[] = { SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED };
	static const unsigned int formats[] = { SND_PCM_FORMAT_S16_LE };
	unsigned int frame_bytes = card->channels * sizeof(sample_t);
	unsigned int shortest = card->period ? card->period : 16;
	unsigned int longest = card->period ? card->period : card->buffer_max / 2;
	snd_pcm_ioplug_t *io = &card->io;
	const struct { int type; unsigned int least, most; } ranges[] = {
		{ SND_PCM_IOPLUG_HW_CHANNELS, card->channels, card->channels },
		{ SND_PCM_IOPLUG_HW_RATE, card->rate, card->rate },
		{ SND_PCM_IOPLUG_HW_PERIOD_BYTES, shortest * frame_bytes, longest * frame_bytes },
		{ SND_PCM_IOPLUG_HW_PERIODS, 2, 1024 },
		{ SND_PCM_IOPLUG_HW_BUFFER_BYTES, 2 * shortest * frame_bytes, card->buffer_max * frame_bytes },
	};
	int error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 2, accesses);

	if (!error)
		error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, formats);
	for (size_t at = 0; !error && at < sizeof ranges / sizeof *ranges; at++)
		error = snd_pcm_ioplug_set_param_minmax(io, ranges[at].type, ranges[at].least, ranges[at].most);
	return error;
}

/* Opens the files; errors are those of a real card. */
static int plug_in(struct card *card, snd_pcm_stream_t stream)
{
	card->log_fd = open_file(card->path, ".log", O_WRONLY | O_CREAT | O_APPEND);
	card->lock_fd = open_file(card->path, ".lock", O_WRONLY | O_CREAT);
	char seen[32];
	snprintf(seen, sizeof seen, ".seen.%d", (int)getpid());
	card->late_fd = open_file(card->path, ".late", O_WRONLY | O_CREAT | O_APPEND);
	card->seen_fd = open_file(card->path, seen, O_WRONLY | O_CREAT);
	if (card->log_fd < 0 || card->lock_fd < 0 || card->late_fd < 0 || card->seen_fd < 0)
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
	resume_time(card);
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
	card->late_fd = card->seen_fd = -1;
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
	card->io.flags = SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
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
