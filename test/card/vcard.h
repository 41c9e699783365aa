/*
 * A sound card made of files: an alsa-lib external I/O plugin, for tests on machines without sound.
 *
 * To arecord and aplay it is a card with an exact sample clock, a ring buffer, one user at a time, overruns and
 * underruns; it can be unplugged, hang and run fast or slow. To a test it is files that begin with the same path:
 *
 *   PATH.pcm      capture: sound at the microphone, read by device frame; then silence (or it starts again).
 *                 playback: played sound, written at its device frame; silence is a hole in the file.
 *   PATH.epoch    JSON; time of device frame 0 in nanoseconds of CLOCK_MONOTONIC, and the pace of the frames. Made at
 *                 the first start and kept: the card's time continues while no program uses it.
 *   PATH.control  a symbolic link to nothing: its text is replaced atomically, and reading it does not count in the bytes
 *                 read of /proc. Words with spaces between them, which a test sets while the card runs:
 *                   unplug   ENODEV for every call until the word is removed
 *                   stall    calls block until the word is removed; nothing is played
 *                   stall-at=N  the same, after N frames that are not silent were played since the card was opened: then
 *                            the card itself replaces the words by `stall`
 *                   busy     EBUSY on open
 *                   xrun=N   once for each new N: an overrun, which loses all waiting sound, or an underrun: calls block
 *                            until all written sound was played
 *                   speed=F  frames are F times as fast from now on
 *   PATH.log      events: nanoseconds, process, event, device frame.
 *   PATH.lock     held by the process that has the card open: others get EBUSY.
 *   PATH.late     large delays of the process that has the card open, in nanoseconds: signs of a busy machine.
 *   PATH.seen.PID time of that process's last call in nanoseconds of CLOCK_MONOTONIC: eight bytes.
 *
 * and, if the card has a volume control for this direction:
 *
 *   PATH.volume   a symbolic link to nothing, with a number for each channel: steps of 1 dB; KNOB_STEPS is unchanged
 *                 sound, 0 is silence
 *   PATH.switch   the same, with 0 or 1 for each channel
 *
 * and, if the card has a jack (option jack of the controls: its name, "Headphone Jack"):
 *
 *   PATH.jack     of the playback: a symbolic link to nothing, with 1 while a plug is in, or 0. Open controls report its changes.
 *
 * Options in the ALSA configuration: path; rate and channels (others are refused, as by a hw device); ppm, the error
 * of its clock; speed; period (frames, fixed); buffer_max (frames); loop; and for a capture of a playback: echo (PATH of
 * the playback), echo_ms, echo_db. Options of the controls: playback_path, capture_path; playback and capture, their
 * names in the mixer; channels.
 */
#ifndef VCARD_H
#define VCARD_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define NS_PER_S 1000000000LL
/* Loudest step of the control. */
#define KNOB_STEPS 64
/* Interval at which played sound is written to its file; after a SIGKILL the file is exact to this interval. */
#define TICK_NS 5000000LL
/* Delay of a client that counts as late. */
#define LATE_NS 40000000LL

typedef int16_t sample_t;

/* Relation of frames and nanoseconds. */
struct frame_clock {
	int64_t base_ns, base_frame;
	double frames_per_ns;
};

struct control {
	bool unplug, stall, busy;
	long xrun, stall_at; /* 0 for none */
	double speed;
};

/* Position of a control; the loudest if there is none. */
struct knob {
	long volume[2], on[2];
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
	int pcm_fd, lock_fd, log_fd, late_fd, seen_fd;
	long rate, channels, period, buffer_max;
	double ppm, speed;
	bool loop;
	struct echo echo;

	struct frame_clock clock; /* the card's, for all its life */
	long xruns_seen;
	snd_pcm_uframes_t avail_min, stop_threshold;

	int64_t seen_ns, wakes_ns; /* when the client called last, and is woken next */

	bool running;
	int64_t start_frame; /* device frame of this run's frame 0 */

	/* Playback: sound that was written but not played. */
	pthread_t mover;
	pthread_mutex_t lock;
	bool mover_runs;
	sample_t *ring;
	int64_t written, moved; /* frames of this run */
	int64_t sounded; /* frames that were not silence, since it was opened */
};

int64_t now_ns(void);
void sleep_until(int64_t ns);
int64_t frame_at(const struct frame_clock *clock, int64_t ns);
int64_t ns_of(const struct frame_clock *clock, int64_t frame);

/* Opens one of the card's files by its suffix; -1 and errno on failure. */
int open_file(const char *path, const char *suffix, int flags);
/* Writes an event to the log, with the present or another time. */
void record(struct card *card, const char *event, int64_t frame);
void record_at(struct card *card, int64_t ns, const char *event, int64_t frame);
/* Records the delay of a client that was due at this time, if it is late. */
void note_late(struct card *card, int64_t due_ns);
bool is_unplugged(const char *path);
struct knob read_knob(const char *path);
/* Whether the plug of the card's jack is in. */
bool is_plugged(const char *path);
/* 0 or a negative error. */
int turn_knob(const char *path, bool is_switch, long first, long second);
/* Reads the control words and sets the speed; returns when calls do not block. */
struct control obey(struct card *card);
/* Continues the card's time; false if it has not started. */
bool resume_time(struct card *card);
/* Starts the card's time at the first start by any process; 0 or a negative error. */
int begin_time(struct card *card, int64_t now);

/* Playback: writes the sound played so far to the file. */
void move_sounded(struct card *card);
/* Capture: the microphone's sound from a device frame. */
void hear(struct card *card, sample_t *frames, int64_t frame, snd_pcm_uframes_t size);

#endif
