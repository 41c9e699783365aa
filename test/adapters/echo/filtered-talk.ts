import { expect } from 'vitest';
import { levelDb, type Path, type Talk, talk, through, together, VOICE_RATE_HZ } from '../../acoustics.ts';
import { clean, later, likeness, lossDb } from './filtered-room.ts';

/** Duration of four sentences (seconds). */
export const SECONDS = 14;
export const loadTalk = (seconds = SECONDS): Promise<Talk> => talk(seconds, -65);
const secondsOf = (sound: Float32Array): number => sound.length / VOICE_RATE_HZ;

/** Expects that the echo of words that begin this much later is removed. */
export async function expectTakenOut({ said, room }: Talk, path: Path, beginMs: number): Promise<void> {
  const played = later(said, beginMs);
  const heard = together(through(path, played), room);
  const { left, observations } = await clean({ played, heard, detects: true });
  // Measured: 22 to 35 dB; the rest is mostly room noise.
  expect(lossDb(heard, left, 3, secondsOf(said))).toBeGreaterThan(18);
  expect(observations).toBeLessThanOrEqual(1);
  expect(levelDb(left, 3, secondsOf(said))).toBeLessThan(-52);
}

/** Expects that the speech of a visitor during the echo is kept. */
export async function expectLetThrough({ people, said, room }: Talk, path: Path): Promise<void> {
  const quiet = people.map((sample, index) => (index < 6 * VOICE_RATE_HZ ? 0 : sample));
  const heard = together(through(path, said), quiet, room);
  const { left } = await clean({ played: said, heard });
  const lostDb = levelDb(quiet, 6, SECONDS) - levelDb(left, 6, SECONDS);
  expect(lostDb).toBeLessThan(4);
  expect(likeness(quiet, left, 6, SECONDS - 0.1)).toBeGreaterThan(path.gainDb === 0 ? 0.6 : 0.8);
}

/** Expects that speech is unchanged and unmoved while nothing is played. */
export async function expectLeftAlone(people: Float32Array): Promise<void> {
  const { left } = await clean({ played: new Float32Array(people.length), heard: people });
  expect(Math.abs(levelDb(people) - levelDb(left))).toBeLessThan(0.5);
  expect(likeness(people, left, 1, secondsOf(people) - 0.1)).toBeGreaterThan(0.97);
}
