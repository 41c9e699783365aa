import type { Place } from './audio.ts';

/**
 * An echo canceller: removes the loudspeaker's sound from the microphone's. PCM is signed 16-bit little-endian, mono; times are
 * monotonic milliseconds of the agent's clock.
 */

/** Receives a canceller's output. Called from the event loop, never after `close()` has returned. */
export interface EchoCancellerSink {
  /** The canceller accepts sound from now on. */
  ready(): void;
  /** The echo was just found at a new delay. The next call of `frames` brings the first sound since; the filter is still adapting. */
  found(): void;
  /**
   * The microphone's sound, in its original order.
   * @param capturedAt when its last sample was captured
   */
  frames(pcm: Uint8Array, capturedAt: number): void;
  /**
   * The canceller has failed and does nothing from now on. The sound that it still holds follows at once, unchanged.
   * @param message why, worded so that an operator can act on it
   */
  failed(message: string): void;
}

/** A running canceller. */
export interface EchoCanceller {
  /**
   * @param heardAt when the first sample of `pcm` is heard from the loudspeaker
   * @param goesOn true: it directly follows earlier sound, even if the estimate of `heardAt` has changed
   * @param place its position, for a device that plays without breaks
   */
  played(pcm: Uint8Array, heardAt: number, goesOn: boolean, place?: Place | null): void;
  /** Sound that would have been heard from this moment on was dropped. */
  flushed(at: number, place?: Place | null): void;
  /**
   * @param capturedAt when its last sample was captured
   * @param missingMs sound still missing in the current chunk (ms); 0: the chunk is complete, and needed now
   */
  captured(pcm: Uint8Array, capturedAt: number, missingMs: number): void;
  /** Gives the sound that it still holds to the sink, unchanged, and ends. */
  close(): void;
}

/** Starts a canceller; a problem is reported as `failed`, never as an exception. */
export type OpenEchoCanceller = (
  rates: { heardRateHz: number; playedRateHz: number },
  sink: EchoCancellerSink,
) => EchoCanceller;
