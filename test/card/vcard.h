/*
 * A sound card made of files: an alsa-lib external I/O plugin, for tests on machines without sound.
 *
 * To arecord and aplay it is a card with an exact sample clock, a ring buffer, one user at a time, overruns and
 * underruns; it can be unplugged, hang and run fast or slow. To a test it is files that begin with the same path:
 *
 *   PATH.pcm      capture: what the microphone hears, read by device frame; silence follows it (or it begins again).
 *                 playback: what the loudspeaker sounded, written at its device frame; where nothing sounded is a hole.
 *   PATH.epoch    JSON; when device frame 0 was, in nanoseconds of CLOCK_MONOTONIC, and how fast frames follow. Made at
 *                 the first start and kept: the card's time goes on while nobody uses it.
 *   PATH.control  a symbolic link to nothing: its text is replaced at once, and reading it does not show in what /proc
 *                 says this process has read. Words, with spaces between them, that a test sets while the card runs:
 *                   unplug   ENODEV for every call until the word is gone
 *                   stall    calls block until the word is gone; nothing sounds
 *                   stall-at=N  the same from the moment on when N frames that are no silence have sounded, since the card
 *                            was opened: then the card itself replaces the words by `stall`
 *                   busy     EBUSY on open
 *                   xrun=N   once for each new N an overrun, in which all is lost that waits, or an underrun: calls block
 *                            until all has sounded that was written
 *                   speed=F  frames follow F times as fast from now on
 *   PATH.log      what happened: nanoseconds, process, event, device frame.
 *   PATH.lock     held by the one process that has the card open: others get EBUSY.
 *   PATH.late     nanoseconds by which the process that has the card open came late, each time that it was much: a machine
 *                 that has kept it from running.
 *   PATH.seen.PID when that process last called the card, in nanoseconds of CLOCK_MONOTONIC: eight bytes.
 *
 * and, where the card has a control for this direction, which turns what sounds or is heard up and down:
 *
 *   PATH.volume   symbolic links to nothing, too, with a number for each channel: steps of 1 dB, KNOB_STEPS of which are
 *   PATH.switch   as loud as without a control, and 0 is silence; 0 and 1
 *
 * Options in the ALSA configuration: path; rate and channels (others are refused, as a hw device would); ppm, the error
 * of its clock; speed; period (frames, a fixed one); buffer_max (frames); loop; and for a capture that hears a playback:
 * echo (that one's PATH), echo_ms, echo_db. Of the controls: playback_path, capture_path; playback and capture, the names
 * that they have in the mixer; channels.
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
/* The control's loudest. */
#define KNOB_STEPS 64
/* How often a loudspeaker's sound is moved into its file: as exact as what sounded before a SIGKILL is known. */
#define TICK_NS 5000000LL
/* Whoever comes later than this is late. */
#define LATE_NS 40000000LL

typedef int16_t sample_t;

/* Frames and nanoseconds, tied together at one point. */
struct frame_clock {
	int64_t base_ns, base_frame;
	double frames_per_ns;
};

struct control {
	bool unplug, stall, busy;
	long xrun, stall_at; /* 0 for none */
	double speed;
};

/* What a control says; as loud as can be where there is none. */
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

	/* Playback: what has been written and has not sounded. */
	pthread_t mover;
	pthread_mutex_t lock;
	bool mover_runs;
	sample_t *ring;
	int64_t written, moved; /* frames of this run */
	int64_t sounded; /* frames that were no silence, since it was opened */
};

int64_t now_ns(void);
void sleep_until(int64_t ns);
int64_t frame_at(const struct frame_clock *clock, int64_t ns);
int64_t ns_of(const struct frame_clock *clock, int64_t frame);

/* Opens one of the card's files by its suffix; -1 and errno. */
int open_file(const char *path, const char *suffix, int flags);
/* Notes in the log what happens now, or happened then. */
void record(struct card *card, const char *event, int64_t frame);
void record_at(struct card *card, int64_t ns, const char *event, int64_t frame);
/* Notes how late the client is that was to come then, if it is. */
void note_late(struct card *card, int64_t due_ns);
bool is_unplugged(const char *path);
struct knob read_knob(const char *path);
/* 0 or a negative error. */
int turn_knob(const char *path, bool is_switch, long first, long second);
/* What a test wants now; returns only when calls do not block, and sets the speed. */
struct control obey(struct card *card);
/* Continues the card's time where it has begun; false where it has not. */
bool resume_time(struct card *card);
/* The card's time begins with its first start, whoever does it; 0 or a negative error. */
int begin_time(struct card *card, int64_t now);

/* Playback: moves what has sounded until now into the file. */
void move_sounded(struct card *card);
/* Capture: what the microphone heard from a device frame on. */
void hear(struct card *card, sample_t *frames, int64_t frame, snd_pcm_uframes_t size);

#endif
