import { expect } from 'vitest';
import { createEchoDetector } from '../../../src/core/audio/echo-detector.ts';
import type { EchoMeasure } from '../../../src/core/audio/echo-measure.ts';
import { type Path, perform, VOICE_RATE_HZ } from '../../acoustics.ts';

/** What the detector measures while this is played and that is heard. */
export function detect(played: Float32Array, heard: Float32Array, pieceMs = 320): EchoMeasure[] {
  const detector = createEchoDetector({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
  const measures: EchoMeasure[] = [];
  perform(
    { played, heard, pieceMs },
    {
      play: (pcm, heardAt) => detector.played(pcm, heardAt),
      capture: (pcm, capturedAt) => {
        const measure = detector.hear(pcm, capturedAt);
        if (measure !== null) measures.push(measure);
      },
    },
  );
  return measures;
}

/** It measures several times, is wrong at most once, and knows the gain. */
export function expectMeasured(measures: readonly EchoMeasure[], path: Path): void {
  expect(measures.length).toBeGreaterThanOrEqual(2);
  const wrong = measures.filter(({ delayMs }) => Math.abs(delayMs - path.delayMs) > 5);
  expect(wrong.length).toBeLessThanOrEqual(1);
  const gains = measures.filter((measure) => !wrong.includes(measure)).map(({ gainDb }) => gainDb);
  expect(Math.abs((gains.toSorted((a, b) => a - b)[gains.length >> 1] ?? 0) - path.gainDb)).toBeLessThan(5);
}
