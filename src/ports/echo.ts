import type { Place } from './audio.ts';

/**
 * The shape of an echo canceller: takes the loudspeaker's sound out of the microphone's. PCM is signed 16-bit
 * little-endian, mono; times are monotonic milliseconds of the agent's clock.
 */

/** Where a canceller delivers. Called from the event loop, never after `close()` has returned. */
export interface EchoCancellerSink {
  /** From here on it may be given sound. */
  ready(): void;
  /** It has found the echo where it did not know of any. What comes behind this is the first that was heard since, and it still learns. */
  found(): void;
  /**
   * The microphone's sound, in the order in which it was given.
   * @param capturedAt when its last sample was captured
   */
  frames(pcm: Uint8Array, capturedAt: number): void;
  /**
   * It can't do its work and does nothing from now on. What it still holds comes right behind this, as it was captured.
   * @param message why, in words an operator can act on
   */
  failed(message: string): void;
}

/** A running canceller. */
export interface EchoCanceller {
  /**
   * @param heardAt when the first sample of `pcm` is heard from the loudspeaker
   * @param goesOn it follows what still sounds: the device plays on, whatever became of the estimate of when
   * @param place where it lies in the sound of a device that runs without a break
   */
  played(pcm: Uint8Array, heardAt: number, goesOn: boolean, place?: Place | null): void;
  /** What would have been heard from this moment on has been taken back. */
  flushed(at: number, place?: Place | null): void;
  /**
   * @param capturedAt when its last sample was captured
   * @param missingMs of sound until the next that is waited for is complete; 0: it is, and wanted now
   */
  captured(pcm: Uint8Array, capturedAt: number, missingMs: number): void;
  /** Gives what it still holds to the sink, as it was captured, and ends. */
  close(): void;
}

/** Begins to make a canceller; what it can't do comes as `failed`, never as an exception. */
export type OpenEchoCanceller = (
  rates: { heardRateHz: number; playedRateHz: number },
  sink: EchoCancellerSink,
) => EchoCanceller;
