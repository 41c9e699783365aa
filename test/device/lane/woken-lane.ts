import { expect } from 'vitest';
import { behave } from './behaviour.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { nextPcm, SPEECH } from './sound.ts';

/** Loud chunks that are judged as a whole: speech has a score above 0. */
export function hear(lane: LaneHarness, scores: readonly number[], roomDb = -40): void {
  for (const score of scores) {
    lane.pass(CHUNK_MS);
    const levels = { ...SPEECH, isSpeech: true, talk: { score, roomDb } };
    lane.step({ type: 'captured', capturedAt: lane.now, pcm: nextPcm(true), levels });
  }
}

export const chunks = (seconds: number, score: number): number[] =>
  new Array<number>(Math.ceil((seconds * 1000) / CHUNK_MS)).fill(score);

export function asleep(given: { hears?: boolean; standbyAfterMs?: number } = {}): LaneHarness {
  const { hears = false, standbyAfterMs = 120_000 } = given;
  const lane = new LaneHarness({
    settings: { silentAskMs: 12_000 },
    options: { start: 'voice', standbyAfterMs },
  });
  behave(lane, { hears });
  lane.start();
  expect(lane.phase).toBe('standby');
  return lane;
}

/** A sound wakes the lane, and then only the loud room is heard. */
export function wakeInVain(lane: LaneHarness, score: number): void {
  hear(lane, [score]);
  expect(lane.phase).not.toBe('standby');
  hear(lane, chunks(25, -5));
  expect(lane.phase).toBe('standby');
}
