/**
 * What becomes of every 20 ms of speech: it is said exactly once, or one of few excuses holds.
 *
 * Allowed to be unheard, and why:
 * - gated: the loudspeaker was heard (half-duplex) or the lane was muted: by the operator's own wish;
 * - deaf: nobody wanted the lane to run, or the process was dead, stopping, or was stopped before it was said;
 * - hold_full: the agent counted it as lost with its hold full: the outage was longer than the hold;
 * - late_break: the stream that it was sent on broke off, and from the stream's last sign of life before it was sent until
 *   the next stream was live more time passed than the hold spans: the same bound, seen from outside;
 * - cut_short: the stream broke off while the service was speaking this very sentence: saying it again would say half twice;
 * - unnamed: the same without names for sentences (the specification's own messages have none): sound that came after the
 *   sentence was understood is taken for its translation;
 * - behind: a stream broke off that was more than a sentence behind (a line slower than real time): what the service says of
 *   an older sentence is taken for the newer one;
 * - service: the service heard it on a stream that went on, and left it out (faults of its sound, noise of less than 0.3 s);
 * - shed: more than a minute of translated speech waited for the loudspeaker;
 * - asleep: less than two chunks of speech in standby, which do not wake the lane: a slammed door is one.
 *
 * Said twice it may be in two cases, on a stream that then broke off:
 * - cut: of a sentence so long that the service cut it where nobody paused, for nothing tells where;
 * - late: on a line so late that the service was more than a sentence behind.
 */
export const EXCUSES = [
  'gated',
  'deaf',
  'hold_full',
  'late_break',
  'cut_short',
  'unnamed',
  'behind',
  'service',
  'shed',
  'asleep',
] as const;
export type Excuse = (typeof EXCUSES)[number];

/** Why something may be said twice. */
export const REPEATS = ['cut', 'late'] as const;
export type Repeat = (typeof REPEATS)[number];
