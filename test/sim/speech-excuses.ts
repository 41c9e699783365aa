/**
 * What becomes of every 20 ms of speech: it is said exactly once, or one of few excuses holds.
 *
 * Allowed to be unheard, and why:
 * - gated: the loudspeaker was heard (half-duplex) or the lane was muted: as the operator ordered;
 * - deaf: nobody wanted the lane to run, or the process was dead, stopping, or was stopped before it was said;
 * - hold_full: the agent counted it as lost with its hold full: the outage was longer than the backlog;
 * - late_break: the stream that it was sent on broke off, and from the stream's last sign of life before it was sent until
 *   the next stream was live more time passed than the backlog spans: the same bound, seen from outside;
 * - unnamed: the stream broke off, and the service does not name sentences (the specification's own messages have none),
 *   does not say what it has understood, or which seconds of the stream that was (or not the truth): sound that came after a
 *   sentence was sent is taken for its translation; or such a service cut running speech, and one of the two sentences had
 *   to be said again: up to 1.5 s before the cut, or behind it where texts came late, may have been said with the other (where the
 *   task was changed meanwhile, with any service: the zero of its times is not known then); or of two languages without names the translation into one was
 *   cut off: nobody can tell whose sound is missing; or of a sentence that has neither a name nor an end the last part never
 *   came: voices differ, and more than half of it may be all;
 * - behind: a stream broke off that was more than a sentence behind (a connection slower than real time): what the service says of
 *   an older sentence is taken for the newer one;
 * - service: the service heard it on a stream that went on, and left it out (faults of its sound, noise of less than 0.3 s, up
 *   to 0.4 s of a soft word, to 0.64 s of a soft beginning whose rest it says: it was sent to the sample, and nobody can make the service hear better);
 * - left_out: the service gave interim texts of it and no more, and the device has told that, where it was longer than a few
 *   words (left-out.ts);
 * - unheard: there was no loudspeaker for its translation, or for a part of it, for longer than speech is held, and the device has
 *   counted that (told-oracle.ts: it tells the sum);
 * - shed: more than a minute of translated speech waited for the loudspeaker;
 * - asleep: less than two chunks of speech in standby, which do not wake the lane: a slammed door is one;
 * - cut: the stream broke off in the middle of its translation, and the device has told the operator so (`audio_cut`); or next to
 *   nothing came of one part, another was whole, and a new task has left open which seconds they translate, which is told as well.
 *
 * Nothing may be said twice, whatever happens, but what nobody can know (and it is counted): where a service without times has cut running speech
 * and the sentence before the cut is said again, up to 1.5 s behind the cut may have been its end; where a service tells wrong times, up to 1.5 s
 * before a cut in running speech is what it says that it has not heard; three more, each with its two worlds and its bound, are in doubts.ts. Out of order only what reaches the device when something newer sounds
 * already: an older stream was late, or broke off in a rollover when the next one had heard newer speech. It is counted.
 */
export const EXCUSES = [
  'gated',
  'deaf',
  'hold_full',
  'late_break',
  'unnamed',
  'behind',
  'service',
  'left_out',
  'shed',
  'asleep',
  'cut',
  'unheard',
] as const;
export type Excuse = (typeof EXCUSES)[number];
