import { createDecimator } from './decimator.ts';
import { createEchoLags } from './echo-lags.ts';
import type { EchoMeasure } from './echo-measure.ts';
import { createTimeline } from './echo-timeline.ts';

/**
 * Recognises what was played in what is heard, by the fine structure of the two sounds: neither another voice, nor the same
 * rhythm, nor a person who speaks meanwhile is taken for an echo.
 */
export interface EchoDetector {
  /**
   * @param heardAt when the first sample of `pcm` is heard from the loudspeaker
   * @param goesOn it follows what still sounds
   */
  played(pcm: Uint8Array, heardAt: number, goesOn?: boolean): void;
  /** What would have been heard from this moment on has been taken back. */
  flushed(at: number): void;
  /** What has sounded without a gap until now, and what is to follow, is heard so much later than was said. */
  late(byMs: number): void;
  /**
   * The next piece of the microphone's sound. Costs next to nothing while nothing was played lately.
   * @param capturedAt when its last sample was captured
   * @returns a new measure where there is enough new evidence for one
   */
  hear(pcm: Uint8Array, capturedAt: number): EchoMeasure | null;
}

/** Makes a detector; `heardRateHz` is the microphone's, `playedRateHz` the loudspeaker's. */
export type CreateEchoDetector = (options: { heardRateHz: number; playedRateHz: number }) => EchoDetector;

/** Both sounds are compared at this rate: the part of speech that carries most of its power. */
export const ECHO_RATE_HZ = 4000;
/** This much of the microphone's sound is one piece of evidence. */
const BLOCK_SAMPLES = 2048;
/** After a measure nothing is compared for this long (1.5 s): a room does not change so fast, and it saves half of the work. */
const REST_SAMPLES = 6000;
/** An echo may seem to come before its sound by this much, because the moment at which it is heard is an estimate. */
const LEAD_SAMPLES = 128;
/** Sound is written so far ahead of being heard that it must be kept for as long, and then for the longest echo. */
const MEMORY_S = 8;
/**
 * Where no echo is found among the lags of one block, it is looked for among those that begin here: a loudspeaker behind radio, a television
 * or a network may be most of a second late, and tells nobody.
 */
const FAR_SAMPLES = 1800;
/** There it must be this clear: it is looked for all the time beside a nearer echo, where chance has its way now and then. */
const FAR_CONFIDENCE = 0.5;
/** Nothing is listened for when the loudspeaker has been silent for longer. */
const DIES_AWAY_MS = 1300;
/** @param heardRateHz of the microphone's sound; @param playedRateHz of what is played */
export function createEchoDetector(options: { heardRateHz: number; playedRateHz: number }): EchoDetector {
  const { heardRateHz, playedRateHz } = options;
  const decimatePlayed = createDecimator(playedRateHz, ECHO_RATE_HZ);
  const decimateHeard = createDecimator(heardRateHz, ECHO_RATE_HZ);
  const played = createTimeline(ECHO_RATE_HZ, MEMORY_S);
  const heard = createTimeline(ECHO_RATE_HZ, 2);
  const shape = { rateHz: ECHO_RATE_HZ, blockSamples: BLOCK_SAMPLES, leadSamples: LEAD_SAMPLES };
  const lags = createEchoLags(shape);
  const farLags = createEchoLags(shape);
  /** What was played by as much later as the far lags begin. */
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
      played.write(decimatePlayed(pcm), heardAt, goesOn);
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
      heard.write(decimateHeard(pcm), beganAt);
      let measure: EchoMeasure | null = null;
      while (true) {
        const begin = Math.max(heard.unbrokenSince, lastBlockEnd);
        const end = begin + BLOCK_SAMPLES;
        if (end > heard.end) return measure;
        lastBlockEnd = end;
        const found = compare(end);
        if (found === null) continue;
        measure = found;
        lastBlockEnd += REST_SAMPLES;
      }
    },
  };
}
