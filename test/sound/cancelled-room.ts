import { expect } from 'vitest';
import { cancellerBlock, createCanceller } from '../../src/sound/canceller/canceller-filter.ts';
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
} from '../acoustics.ts';

const BLOCK = cancellerBlock(VOICE_RATE_HZ);
export const ROOM_DB = -65;
const PER_MS = VOICE_RATE_HZ / 1000;

interface Loss {
  readonly lossDb: number;
  readonly leftDb: number;
}

/** The remaining echo of a sentence is small, or no louder than the room. */
export const isGone = ({ lossDb, leftDb }: Loss): boolean => lossDb >= 25 || leftDb <= ROOM_DB + 3;

/** A loudspeaker plays sentences into a room; the microphone's sound goes through the canceller. */
export async function createCancelledRoom(roomSeconds: number) {
  const people = (await visitors()).subarray(0, roomSeconds * VOICE_RATE_HZ);
  const said = interpreter(people, { shift: 0.8, beginS: 6 }).map((sample) => sample / 2);
  const room = noise(said.length, ROOM_DB, 5);
  const sentences = sentencesOf(said);

  /** The canceller's output, sample by sample at the heard places. Times waver by milliseconds; the places do not. */
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

  /** Removed and remaining echo (dB) of each sentence after the first ones. */
  function judge(heard: Float32Array, left: Float32Array, delayMs: number, from = 1): Loss[] {
    return sentences.slice(from).map((sentence) => {
      const [begin, end] = [seconds(sentence.from, delayMs), seconds(sentence.until, delayMs)];
      const leftDb = levelDb(left, begin, end);
      return { lossDb: levelDb(heard, begin, end) - leftDb, leftDb };
    });
  }

  return { people, room, sentences, cancel, echoOf, judge };
}

const VISITOR_PATH: Path = { delayMs: 60, gainDb: -6, rt60S: 0.3 };

/** A visitor starts after the second sentence, as loud as its echo: returns the heard and the remaining sound. */
export function withVisitor(talk: Awaited<ReturnType<typeof createCancelledRoom>>) {
  const begin = talk.sentences[1]?.until ?? 0;
  const echo = talk.echoOf(VISITOR_PATH, 80);
  const loudness = levelDb(echo.subarray(begin)) - levelDb(talk.people.subarray(begin));
  const visitor = talk.people.map((sample, at) => (at < begin ? 0 : sample * 10 ** (loudness / 20)));
  const heard = together(echo, visitor, talk.room);
  return { begin, visitor, heard, left: talk.cancel(heard, 80), delayMs: VISITOR_PATH.delayMs };
}

/** The visitor passes the canceller at full level. */
export function expectVisitorThrough({ begin, visitor, left }: ReturnType<typeof withVisitor>): void {
  let [frames, sent, before, after] = [0, 0, 0, 0];
  const usual = levelDb(visitor.subarray(begin));
  for (let at = begin; at + 480 < left.length; at += 480) {
    const [was, is] = [visitor, left].map((sound) => levelDb(sound.subarray(at, at + 480)));
    if (was === undefined || is === undefined || was < usual - 15) continue;
    frames += 1;
    if (is > was - 10) sent += 1;
    before += 10 ** (was / 10);
    after += 10 ** (is / 10);
  }
  expect(frames).toBeGreaterThan(100);
  expect(sent / frames).toBeGreaterThan(0.95);
  expect(Math.abs(10 * Math.log10(after / before))).toBeLessThan(3);
}

/** Position of each sentence (samples). */
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
