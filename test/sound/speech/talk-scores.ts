import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import { resampleBy } from '../../../src/emulator/core/resample.ts';
import { createEnergyDetector } from '../../../src/sound/energy-detector.ts';
import { toFloat, toPcm } from '../../../src/sound/pcm.ts';
import { withTalk } from '../../../src/sound/speech/talk-detector.ts';
import { createDice, type Dice } from '../../sim/dice.ts';
import { happen, pink } from '../../voices/noises.ts';
import { atLevel, levelDb, mixIn } from '../../voices/room.ts';

export const RATE_HZ = 24_000;
const CHUNK_MS = 320;

/** Score of each chunk of 320 ms; null before there is one. */
export function scores(sound: Float32Array, rateHz = RATE_HZ): (number | null)[] {
  const detector = withTalk(createEnergyDetector)(rateHz);
  const chunk = Math.round((rateHz * CHUNK_MS) / 1000);
  const found: (number | null)[] = [];
  for (let at = 0; at + chunk <= sound.length; at += chunk) {
    const bytes = toPcm(sound.subarray(at, at + chunk));
    detector.hear(new Int16Array(bytes.buffer, bytes.byteOffset, chunk), () => {});
    found.push(detector.talk?.()?.score ?? null);
  }
  detector.close();
  return found;
}

export const highest = (all: readonly (number | null)[]): number =>
  Math.max(...all.map((score) => score ?? -100));

/** Until shortly after the visitors' first sentence. */
const HEARD = 12 * RATE_HZ;
interface Leveled {
  readonly sound: Float32Array;
  /** Duration of the whole. */
  readonly isDb: number;
}
const made: { said: Leveled; room: Leveled }[] = [];
/** The visitors from the demo's recording, with a room around them. */
async function saidAndRoom(): Promise<{ said: Leveled; room: Leveled }> {
  const recording = fileURLToPath(new URL('../../../src/cli/demo/visitor.wav', import.meta.url));
  const said = toFloat((await loadWav(recording)).pcm);
  const room = pink(8 * RATE_HZ + said.length, createDice(3));
  const [saidDb, roomDb] = [levelDb(said), levelDb(room)];
  return { said: { sound: said, isDb: saidDb }, room: { sound: room, isDb: roomDb } };
}

/** The visitors, after some seconds of a room. */
async function inRoom(saidDb: number, roomDb: number): Promise<Float32Array> {
  const { said, room } = made[0] ?? (await saidAndRoom());
  made[0] = { said, room };
  const sound = atLevel(room.sound.slice(0, HEARD), roomDb, room.isDb);
  mixIn(sound, atLevel(said.sound.slice(0, HEARD), saidDb, said.isDb), 8 * RATE_HZ);
  return sound;
}

/** They are heard, and not before they speak; only the time up to the end of the first sentence is tested. */
export async function expectHeard(saidDb: number, roomDb: number, rateHz = RATE_HZ): Promise<void> {
  const sound = await inRoom(saidDb, roomDb);
  const all = scores(rateHz === RATE_HZ ? sound : resampleBy(sound, RATE_HZ / rateHz), rateHz);
  expect(highest(all.slice(0, 24))).toBeLessThan(0);
  // The first sentence of all visitors, not only of one.
  expect(all.length).toBeGreaterThanOrEqual(34);
  expect(highest(all.slice(25, 34))).toBeGreaterThan(0);
}

/** No part of this many seconds of room sound counts as speech. */
export function expectNoSpeech(seconds: number, levelDb: number, make: (dice: Dice) => Float32Array): void {
  const all = scores(happen(seconds * RATE_HZ, createDice(17), levelDb, make));
  expect(all.length).toBe(Math.floor((seconds * 1000) / CHUNK_MS));
  expect(highest(all)).toBeLessThan(0);
}
