/**
 * Each 20 ms of speech must be translated exactly once, unless one of these excuses holds.
 *
 * Physical reasons:
 * - gated: the loudspeaker was heard (half-duplex), or the lane was muted;
 * - deaf: the lane or the process did not run, or stopped before the speech was translated;
 * - asleep: less than two chunks of speech in standby, which do not wake the lane;
 * - unheard: its translation, or a part of it, had no loudspeaker for too long, and the device has counted that;
 * - shed: more than a minute of translated speech waited for the loudspeaker, or a visitor spoke over it.
 *
 * Reasons of the service and its streams:
 * - service: the service skipped it, or did not speak it in full although it was replayed or most of it arrived. The service
 *   treats 0.3 s as noise, and skips up to 0.4 s of a soft word and 0.64 s of a soft beginning;
 * - outage: no working stream for longer than the backlog holds, or a stream fell silent after it had received the speech;
 * - unnamed: the service sends no ids or times (cases b and c of terms.ts), so that it is unknown which speech it has spoken.
 *   The sum is bounded (unnamed.ts).
 *
 * Speech may be translated twice only in cases b and c; that sum is bounded too. Speech may be out of order only if it reaches the
 * device after newer speech is played: an older stream was late, or broke after the next one had taken newer speech.
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

/** Notes about a piece of speech, as bits. */
export const FLAGS = {
  /** The gate was closed. */
  gated: 1,
  /** The lane did not listen. */
  deaf: 2,
  /** It was too short to wake the lane. */
  asleep: 4,
  /** Its translation had no loudspeaker, and the device has counted it. */
  unheard: 8,
  /** Too much translated speech waited. */
  shed: 16,
  /** The device counted a loss while it waited, or soon after it was sent. */
  lost: 32,
  /** It reached the service in a burst that the service skipped. */
  overrun: 64,
  /** A stream whose task runs has heard it. */
  heard: 128,
  /** The service has spoken some of it. */
  rendered: 256,
} as const;
