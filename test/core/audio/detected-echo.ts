import { expect, it } from 'vitest';
import { createEchoDetector } from '../../../src/core/audio/echo-detector.ts';
import type { EchoMeasure } from '../../../src/core/audio/echo-measure.ts';
import {
  interpreter,
  noise,
  type Path,
  perform,
  through,
  together,
  VOICE_RATE_HZ,
  visitors,
} from '../../acoustics.ts';

const ROOM_DB = -62;
const PART_S = 20.5;

/** Visitors who speak, a loudspeaker that translates them, and the noise of the room. */
export interface Conversation {
  readonly people: Float32Array;
  readonly said: Float32Array;
  readonly room: Float32Array;
}

export async function conversation(): Promise<Conversation> {
  const people = await visitors();
  const said = interpreter(people, { shift: 0.8, beginS: 6 });
  return { people, said, room: noise(people.length, ROOM_DB, 5) };
}

export function measuresEcho(paths: readonly Path[], heard: () => Conversation): void {
  it.each(paths)('measures $delayMs ms, $gainDb dB in a room of $rt60S s', (path) => {
    const { said, room } = heard();
    const part = said.subarray(0, PART_S * VOICE_RATE_HZ);
    expectMeasured(detect(part, together(through(path, part), room)), path);
  });
}

export function findsEchoBehindSpeech(paths: readonly Path[], heard: () => Conversation): void {
  it.each(paths)('finds $gainDb dB while a visitor speaks without a pause', (path) => {
    const { people, said, room } = heard();
    const measures = detect(said, together(through(path, said), people, room));
    const right = measures.filter(({ delayMs }) => Math.abs(delayMs - path.delayMs) <= 5);
    expect(right.length).toBeGreaterThanOrEqual(3);
    expect(measures.length - right.length).toBeLessThanOrEqual(1);
  });
}

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
function expectMeasured(measures: readonly EchoMeasure[], path: Path): void {
  expect(measures.length).toBeGreaterThanOrEqual(2);
  const wrong = measures.filter(({ delayMs }) => Math.abs(delayMs - path.delayMs) > 5);
  expect(wrong.length).toBeLessThanOrEqual(1);
  const gains = measures.filter((measure) => !wrong.includes(measure)).map(({ gainDb }) => gainDb);
  expect(Math.abs((gains.toSorted((a, b) => a - b)[gains.length >> 1] ?? 0) - path.gainDb)).toBeLessThan(5);
}
