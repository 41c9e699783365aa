/**
 * What becomes of every 20 ms of speech: it is said exactly once, or one of few excuses holds.
 *
 * Physical ones:
 * - gated: the loudspeaker was heard (half-duplex), or the lane was muted;
 * - deaf: the lane was not to run, the process was dead or stopping, or was stopped before it was said;
 * - asleep: less than two chunks of speech in standby, which do not wake the lane: a slammed door is one;
 * - unheard: its translation, or a part of it, had no loudspeaker for longer than speech is held, and the device has counted that;
 * - shed: more than a minute of translated speech waited for the loudspeaker, or a visitor spoke over it.
 *
 * What a stream had taken, or was to take:
 * - service: the service left it out, or did not speak it in full although it was asked again or most of it came. It takes 0.3 s
 *   for noise, and leaves out up to 0.4 s of a soft word and 0.64 s of a soft beginning;
 * - outage: no working stream for longer than the backlog holds, or a stream fell silent and kept what it had taken;
 * - unnamed: a service without ids or times (cases b and c of terms.ts): which speech it has spoken cannot be known. The sum is
 *   bounded (unnamed.ts).
 *
 * Nothing may be said twice. Only in cases b and c it may, and that sum is bounded likewise. Out of order is only what reaches the
 * device when newer speech sounds already: an older stream was late, or broke off when the next one had heard newer speech.
 */
export const EXCUSES = [
  'gated',
  'deaf',
  'asleep',
  'unheard',
  'shed',
  'service',
  'outage',
  'unnamed',
] as const;
export type Excuse = (typeof EXCUSES)[number];

/** What is noted of each piece of speech, as bits. */
export const FLAGS = {
  /** The gate was closed. */
  gated: 1,
  /** The lane was not to hear. */
  deaf: 2,
  /** It did not wake the lane. */
  asleep: 4,
  /** Its translation had no loudspeaker, and the device has counted it. */
  unheard: 8,
  /** Too much translated speech waited. */
  shed: 16,
  /** The device counted a loss when it waited, or soon after it was sent. */
  lost: 32,
  /** It reached the service in a heap that the service did not listen to. */
  overrun: 64,
  /** A stream whose task runs has heard it. */
  heard: 128,
  /** The service has spoken some of it. */
  rendered: 256,
} as const;
