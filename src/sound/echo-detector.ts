import { createDecimator } from './decimator.ts';
import { createEchoCorrelation } from './echo-correlation.ts';
import type { EchoMeasure } from './echo-measure.ts';
import { createTimeline } from './echo-timeline.ts';
import { samplesOf } from './pcm.ts';

/**
 * Finds the played sound in the heard sound by the fine structure of both. Another voice, the same rhythm, or a person who
 * speaks meanwhile does not count as an echo.
 */
export interface EchoDetector {
  /**
   * @param heardAt when the first sample of `pcm` is heard from the loudspeaker
   * @param goesOn true if it continues the sound before it
   */
  played(pcm: Uint8Array, heardAt: number, goesOn?: boolean): void;
  /** Removes the played sound from this moment on: its playout was cancelled. */
  flushed(at: number): void;
  /** The current run of played sound, and whatever continues it, is heard this much later than estimated. */
  late(byMs: number): void;
  /**
   * The next piece of the microphone's sound. Costs next to nothing while nothing was played lately.
   * @param capturedAt when its last sample was captured
   * @returns a new measurement once there is enough new evidence
   */
  hear(pcm: Uint8Array, capturedAt: number): EchoMeasure | null;
}

/** Makes a detector; `heardRateHz` is the microphone's, `playedRateHz` the loudspeaker's. */
export type CreateEchoDetector = (options: { heardRateHz: number; playedRateHz: number }) => EchoDetector;

/** Both sounds are compared at this rate (Hz): its band carries most of the power of speech. */
export const ECHO_RATE_HZ = 4000;
/** Heard samples per comparison. */
const BLOCK_SAMPLES = 2048;
/** Pause after a measurement (samples, 1.5 s): rooms do not change faster, and the pause halves the work. */
const REST_SAMPLES = 6000;
/** An echo may seem to come this much before its sound, because playing times are estimates. */
const LEAD_SAMPLES = 128;
/** Seconds of sound to keep: sound is written before it is heard, and its echo may come long after. */
const MEMORY_S = 8;
/**
 * Start of a second range of lags (samples), searched if the first range has no echo. A loudspeaker over radio, a
 * television or a network may be almost a second late without reporting it.
 */
const FAR_SAMPLES = 1800;
/** Confidence needed for a far echo: the far range is searched all the time, so chance matches happen. */
const FAR_CONFIDENCE = 0.5;
/** Time after the last played sound (ms) in which its echo may still arrive. */
const DIES_AWAY_MS = 1300;
/** @param heardRateHz of the microphone's sound; @param playedRateHz of the played sound */
export function createEchoDetector(options: { heardRateHz: number; playedRateHz: number }): EchoDetector {
  const { heardRateHz, playedRateHz } = options;
  const decimatePlayed = createDecimator(playedRateHz, ECHO_RATE_HZ);
  const decimateHeard = createDecimator(heardRateHz, ECHO_RATE_HZ);
  const played = createTimeline(ECHO_RATE_HZ, MEMORY_S);
  const heard = createTimeline(ECHO_RATE_HZ, 2);
  const shape = { rateHz: ECHO_RATE_HZ, blockSamples: BLOCK_SAMPLES, leadSamples: LEAD_SAMPLES };
  const lags = createEchoCorrelation(shape);
  const farLags = createEchoCorrelation(shape);
  /** The played sound, shifted by the start of the far range. */
  const playedLater = {
    read: (from: number, target: Float32Array | Float64Array) => played.read(from - FAR_SAMPLES, target),
  };
  const compare = (end: number): EchoMeasure | null => {
    const near = lags.compare(played, heard, end);
    const far = farLags.compare(playedLater, heard, end);
    if (near !== null || far === null || far.confidence < FAR_CONFIDENCE) return near;
    return { ...far, delayMs: far.delayMs + (FAR_SAMPLES * 1000) / ECHO_RATE_HZ };
  };
  let lastBlockEnd = Number.NEGATIVE_INFINITY;

  return {
    played(pcm, heardAt, goesOn = false) {
      played.write(decimatePlayed(samplesOf(pcm)), heardAt, goesOn);
    },
    flushed(at) {
      played.cut(at);
    },
    late(byMs) {
      played.delay(played.unbrokenSince, Math.round((byMs * ECHO_RATE_HZ) / 1000));
    },
    hear(pcm, capturedAt) {
      const durationMs = (pcm.byteLength * 500) / heardRateHz;
      const beganAt = capturedAt - durationMs;
      if (played.end < played.placeOf(beganAt - DIES_AWAY_MS)) return null;
      heard.write(decimateHeard(samplesOf(pcm)), beganAt);
      let measure: EchoMeasure | null = null;
      while (true) {
        const begin = Math.max(heard.unbrokenSince, lastBlockEnd);
        const end = begin + BLOCK_SAMPLES;
        if (end > heard.end) return measure;
        lastBlockEnd = end;
        const comparison = compare(end);
        if (comparison === null) continue;
        measure = comparison;
        lastBlockEnd += REST_SAMPLES;
      }
    },
  };
}
