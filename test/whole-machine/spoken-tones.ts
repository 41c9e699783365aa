import { expect } from 'vitest';
import { createEchoDetector } from '../../src/sound/echo-detector.ts';
import type { EchoMeasure } from '../../src/sound/echo-measure.ts';
import { perform } from '../acoustics.ts';
import { makeTones, RATE_HZ } from './tones.ts';

/** Expects that tones played again after these delays (ms) are not taken for an echo. */
export function expectNoEcho(saidAfter: readonly number[]): void {
  const spoken = new Float32Array(30 * RATE_HZ);
  for (const [at, sample] of makeTones(30).entries()) spoken[at] = sample / 32_768;
  const measures: EchoMeasure[] = [];
  for (const saidAfterMs of saidAfter) {
    const detector = createEchoDetector({ heardRateHz: RATE_HZ, playedRateHz: RATE_HZ });
    const lateBy = (saidAfterMs * RATE_HZ) / 1000;
    const said = new Float32Array(lateBy + spoken.length);
    said.set(spoken, lateBy);
    let heardMs = 0;
    perform(
      { played: said, heard: spoken, pieceMs: 320 },
      {
        play: (pcm, heardAt) => detector.played(pcm, heardAt),
        capture: (pcm, capturedAt) => {
          heardMs += 320;
          const measure = detector.hear(pcm, capturedAt);
          if (measure !== null) measures.push(measure);
        },
      },
    );
    expect(heardMs).toBeGreaterThan(29_000);
  }
  expect(measures).toEqual([]);
}
