import { beforeAll, describe, expect, it } from 'vitest';
import { cancellerBlock, createCanceller } from '../../../src/core/audio/canceller/canceller.ts';
import {
  drifted,
  interpreter,
  levelDb,
  noise,
  type Path,
  through,
  together,
  VOICE_RATE_HZ,
  visitors,
} from '../../acoustics.ts';

const BLOCK = cancellerBlock(VOICE_RATE_HZ);
const ROOM_DB = -65;
/** Five sentences. */
const SECONDS = 19;
const PER_MS = VOICE_RATE_HZ / 1000;

let people: Float32Array;
let said: Float32Array;
let room: Float32Array;
/** Where a sentence is said, samples. */
let sentences: { from: number; until: number }[];

beforeAll(async () => {
  people = (await visitors()).subarray(0, SECONDS * VOICE_RATE_HZ);
  said = interpreter(people, { shift: 0.8, beginS: 6 }).map((sample) => sample / 2);
  room = noise(said.length, ROOM_DB, 5);
  sentences = sentencesOf(said);
});

function sentencesOf(sound: Float32Array): { from: number; until: number }[] {
  const found: { from: number; until: number }[] = [];
  for (let at = 0; at + 2400 <= sound.length; at += 2400) {
    if (levelDb(sound.subarray(at, at + 2400)) < -50) continue;
    const last = found.at(-1);
    if (last !== undefined && at - last.until < 0.5 * VOICE_RATE_HZ) last.until = at + 2400;
    else found.push({ from: at, until: at + 2400 });
  }
  return found.filter(({ from, until }) => until - from > VOICE_RATE_HZ);
}

/** What is left, sample by sample where it was heard. Times waver by milliseconds; the places do not. */
function cancel(heard: Float32Array, ppm: number, offMs = 4): Float32Array {
  const canceller = createCanceller({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
  const left = new Float32Array(heard.length);
  const slice = 100 * PER_MS;
  let written = 0;
  for (let at = 0; at + BLOCK <= heard.length; at += BLOCK) {
    while (written < said.length && written < at + 180 * PER_MS) {
      const wavers = ((written / slice) % 7) - 3;
      const heardAt = 5000 + written / PER_MS / (1 + ppm * 1e-6) + offMs + wavers;
      const sound = said.subarray(written, written + slice);
      if (sound.some((sample) => sample !== 0))
        canceller.played(sound, heardAt, true, { run: 1, sample: written, heardFrom: null });
      written += slice;
    }
    const out = canceller.step(heard.subarray(at, at + BLOCK), 5000 + at / PER_MS + ((at / BLOCK) % 3));
    if (at >= BLOCK) left.set(out, at - BLOCK);
  }
  return left;
}

const echoOf = (path: Path, ppm: number): Float32Array => drifted(through(path, said), ppm);
const seconds = (sample: number, delayMs: number): number => (sample / PER_MS + delayMs) / 1000;

/** Of each sentence but the first ones, how much of its echo is gone and what is left, dB. */
function judge(heard: Float32Array, left: Float32Array, delayMs: number, from = 1) {
  return sentences.slice(from).map((sentence) => {
    const [begin, end] = [seconds(sentence.from, delayMs), seconds(sentence.until, delayMs)];
    const leftDb = levelDb(left, begin, end);
    return { lossDb: levelDb(heard, begin, end) - leftDb, leftDb };
  });
}

describe('the canceller, from the second sentence on', () => {
  it.each([
    { delayMs: 20, gainDb: -6, rt60S: 0.3, ppm: 0 },
    { delayMs: 60, gainDb: 0, rt60S: 0.3, ppm: 50 },
    { delayMs: 120, gainDb: -12, rt60S: 0.4, ppm: -100 },
    { delayMs: 200, gainDb: -6, rt60S: 0.4, ppm: 300 },
    { delayMs: 250, gainDb: -20, rt60S: 0.4, ppm: -300 },
    { delayMs: 300, gainDb: 0, rt60S: 0.5, ppm: 200 },
  ])('takes out an echo of $delayMs ms, $gainDb dB and $ppm ppm', ({ ppm, ...path }) => {
    const heard = together(echoOf(path, ppm), room);
    for (const { lossDb, leftDb } of judge(heard, cancel(heard, ppm), path.delayMs)) {
      expect(lossDb >= 25 || leftDb <= ROOM_DB + 3).toBe(true);
    }
  });

  it("does so beside a zero that is off, and leaves it where it is, in the sentences' pauses, too", () => {
    const [path, zero] = [{ delayMs: 60, gainDb: -6, rt60S: 0.3 }, 0.06];
    const heard = together(echoOf(path, 80), room).map((sample) => sample + zero);
    const left = cancel(heard, 80);
    const sound = left.map((sample) => sample - zero);
    for (const { lossDb, leftDb } of judge(
      heard.map((sample) => sample - zero),
      sound,
      path.delayMs,
    ))
      expect(lossDb >= 25 || leftDb <= ROOM_DB + 3).toBe(true);
    // A step of the zero, where the canceller begins and ends to work, would be a click.
    const steps = left.map((sample, at) => Math.abs(sample - (left[at - 1] ?? sample)));
    const quiet = steps.subarray(VOICE_RATE_HZ, 8 * VOICE_RATE_HZ).filter((step) => step > zero / 2);
    expect(quiet.length).toBe(0);
  });

  it('lets a visitor through who is as loud as the echo', () => {
    const path = { delayMs: 60, gainDb: -6, rt60S: 0.3 };
    const begin = sentences[1]?.until ?? 0;
    const echo = echoOf(path, 80);
    const loudness = levelDb(echo.subarray(begin)) - levelDb(people.subarray(begin));
    const visitor = people.map((sample, at) => (at < begin ? 0 : sample * 10 ** (loudness / 20)));
    const left = cancel(together(echo, visitor, room), 80);
    let [frames, sent, before, after] = [0, 0, 0, 0];
    for (let at = begin; at + 480 < left.length; at += 480) {
      const [was, is] = [visitor, left].map((sound) => levelDb(sound.subarray(at, at + 480)));
      if (was === undefined || is === undefined || was < levelDb(visitor.subarray(begin)) - 15) continue;
      frames += 1;
      if (is > was - 10) sent += 1;
      before += 10 ** (was / 10);
      after += 10 ** (is / 10);
    }
    expect(frames).toBeGreaterThan(100);
    expect(sent / frames).toBeGreaterThan(0.95);
    expect(Math.abs(10 * Math.log10(after / before))).toBeLessThan(3);
  });

  it('learns again within a sentence when the microphone is moved or the volume is changed', () => {
    const path = { delayMs: 60, gainDb: -6, rt60S: 0.3 };
    const from = sentences[2]?.from ?? 0;
    const before = echoOf(path, 80);
    for (const changed of [
      { ...path, delayMs: 62, gainDb: -3, rt60S: 0.35 },
      { ...path, gainDb: 0 },
      { ...path, gainDb: -12 },
    ]) {
      const behind = echoOf(changed, 80);
      const echo = before.map((sample, at) => (at < from - 4800 ? sample : (behind[at] ?? 0)));
      const heard = together(echo, room);
      for (const { lossDb, leftDb } of judge(heard, cancel(heard, 80), changed.delayMs, 4))
        expect(lossDb >= 25 || leftDb <= ROOM_DB + 3).toBe(true);
    }
  });
});
