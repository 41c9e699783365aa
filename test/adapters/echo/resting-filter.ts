/** A loudspeaker that speaks, is silent, and speaks again; and the output of the echo filter. */
import { expect } from 'vitest';
import { levelDb, type Talk, talk, through, together, VOICE_RATE_HZ } from '../../acoustics.ts';
import { type EchoCase, type Left, likeness, lossDb } from './filtered-room.ts';

const SECONDS = 20;
/** Silence of the loudspeaker (seconds). */
const SILENT = { from: 8, until: 14 };
const PATH = { delayMs: 120, gainDb: -12, rt60S: 0.4 };

export async function talkWithSilence(): Promise<Talk> {
  const { people, said, room } = await talk(SECONDS, -65);
  return { people, room, said: only(said, (second) => second < SILENT.from || second >= SILENT.until) };
}

function only(sound: Float32Array, when: (second: number) => boolean): Float32Array {
  return sound.map((sample, index) => (when(index / VOICE_RATE_HZ) ? sample : 0));
}

/** The steepest step between two samples. */
function steepest(sound: Float32Array, fromS: number, untilS: number): number {
  let most = 0;
  for (let at = Math.round(fromS * VOICE_RATE_HZ); at < untilS * VOICE_RATE_HZ; at++)
    most = Math.max(most, Math.abs((sound[at + 1] ?? 0) - (sound[at] ?? 0)));
  return most;
}

export const withoutVisitor = ({ said, room }: Talk): EchoCase => ({
  played: said,
  heard: together(through(PATH, said), room),
});

/** A visitor speaks while the loudspeaker is silent. */
export function withVisitor({ people, said, room }: Talk): EchoCase & { readonly visitor: Float32Array } {
  const visitor = only(people, (second) => second > 8.5 && second < 14);
  return { visitor, played: said, heard: together(through(PATH, said), visitor, room), pieceMs: 20 };
}

/** Expects a rest from two seconds after the loudspeaker's end until its next sound. */
export function expectRest({ rests }: Left): void {
  expect(rests).toHaveLength(1);
  expect(rests[0]?.from).toBeCloseTo(SILENT.from + 2, 0);
  expect(rests[0]?.until).toBeCloseTo(SILENT.until - 0.2, 0);
}

/** Expects that the learnt path still works from the first half second after the rest. */
export function expectAsGood({ heard }: EchoCase, { left }: Left): void {
  expect(lossDb(heard, left, 4, SILENT.from)).toBeGreaterThan(22);
  expect(lossDb(heard, left, SILENT.until + 0.6, SILENT.until + 2)).toBeGreaterThan(25);
  expect(lossDb(heard, left, SILENT.until + 2, SECONDS)).toBeGreaterThan(25);
}

/** Expects that the change within a word makes no audible step. */
export function expectUnheard({ visitor }: ReturnType<typeof withVisitor>, { left, rests }: Left): void {
  const [rest] = rests;
  if (rest === undefined) throw new Error('it never rested');
  expect(levelDb(visitor, 9, 13.7) - levelDb(left, 9, 13.7)).toBeCloseTo(0, 1);
  for (const change of [rest.from, rest.until]) {
    expect(levelDb(visitor, change - 0.2, change + 0.2)).toBeGreaterThan(-32);
    expect(likeness(visitor, left, change - 0.2, change + 0.2)).toBeGreaterThan(0.98);
  }
  expect(likeness(visitor, left, rest.from + 0.1, rest.until - 0.1)).toBeGreaterThan(0.999);
  expect(steepest(left, 9, 13.7)).toBeLessThan(steepest(visitor, 9, 13.7) * 1.05);
}
