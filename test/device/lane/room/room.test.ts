import { describe, expect, it } from 'vitest';
import type { Side } from '../../../../src/device/lane/room/floor.ts';
import {
  EMPTY_ROOM,
  hear,
  isUndecided,
  type Room,
  settle,
  withoutOthers,
} from '../../../../src/device/lane/room/room.ts';
import { toPcm } from '../../../../src/sound/pcm.ts';
import { noise, VOICE_RATE_HZ as RATE_HZ, visitors } from '../../../acoustics.ts';

const PIECE_MS = 20;
const PIECE = (RATE_HZ * PIECE_MS) / 1000;
const secondsOf = (seconds: number): number => Math.round(seconds * RATE_HZ);

/** Passes both microphones' sound to a room, and returns each side that had the floor. */
function holdersOf(both: readonly [Float32Array, Float32Array]): { room: Room; holders: Side[] } {
  let room = EMPTY_ROOM;
  const holders: Side[] = [];
  for (let at = 0; at + PIECE <= both[0].length; at += PIECE) {
    const capturedAt = ((at + PIECE) / RATE_HZ) * 1000;
    for (const side of [0, 1] as const)
      room = hear(room, side, toPcm(both[side].subarray(at, at + PIECE)), capturedAt, RATE_HZ);
    const { holder } = room.floor;
    if (holder !== null && holders.at(-1) !== holder) holders.push(holder);
  }
  return { room, holders };
}

/** One person: the own microphone hears them after a second, the other one 4 ms later and softer; both have noise 15 dB below. */
function atDesk(speech: Float32Array, side: Side, softerDb: number): [Float32Array, Float32Array] {
  const samples = speech.length + secondsOf(1);
  const power = speech.reduce((sum, value) => sum + value * value, 0) / speech.length;
  const noiseDb = 10 * Math.log10(power) - 15;
  const microphone = (seed: number, delayMs: number, gainDb: number): Float32Array => {
    const from = secondsOf(1 + delayMs / 1000);
    const gain = 10 ** (gainDb / 20);
    return noise(samples, noiseDb, seed).map((value, at) => value + gain * (speech[at - from] ?? 0));
  };
  const [own, other] = [microphone(1, 0, 0), microphone(2, 4, -softerDb)];
  return side === 0 ? [own, other] : [other, own];
}

describe('a room with two microphones', () => {
  it('gives the floor to the nearer person alone when the other microphone hears 6 dB less', async () => {
    const all = await visitors();
    for (const side of [0, 1] as const) {
      for (const from of [0, 6, 13]) {
        const speech = all.subarray(secondsOf(from), secondsOf(from + 3));
        expect(holdersOf(atDesk(speech, side, 6)).holders, `from ${from} s`).toEqual([side]);
      }
    }
  });
});

/** A tone that stands out of silence. */
const loud = (ms: number): Float32Array =>
  Float32Array.from({ length: (RATE_HZ * ms) / 1000 }, (_, at) => 0.2 * Math.sin(at / 5));
const silent = (ms: number): Float32Array => new Float32Array((RATE_HZ * ms) / 1000);

describe('a microphone that delivers nothing', () => {
  it('is waited for 200 ms, and then the other one decides alone', () => {
    let room = hear(EMPTY_ROOM, 0, toPcm(silent(1000)), 1000, RATE_HZ);
    room = hear(room, 0, toPcm(loud(200)), 1200, RATE_HZ);
    // The slot that ends at 1000 ms has waited 200 ms; the next one has not.
    expect(room.settled).toBe(49);
    expect(room.floor.holder).toBeNull();
    expect(settle(room, 1219).settled).toBe(49);
    expect(settle(room, 1220).settled).toBe(50);
    expect(settle(room, 1400).floor.holder).toBe(0);
    expect(settle(room, 1400).waiting.size).toBe(0);
  });

  it('does not change what was decided when it delivers too late', () => {
    let room = hear(EMPTY_ROOM, 0, toPcm(silent(1000)), 1000, RATE_HZ);
    room = settle(hear(room, 0, toPcm(loud(200)), 1200, RATE_HZ), 1400);
    const { floor, settled } = room;
    room = hear(room, 1, toPcm(loud(1200)), 1200, RATE_HZ);
    expect([room.floor, room.settled, room.waiting.size]).toEqual([floor, settled, 0]);
  });

  it('is counted from the end of its last whole slot', () => {
    let room = hear(EMPTY_ROOM, 0, toPcm(silent(30)), 200, RATE_HZ);
    // From 170 to 190 ms; the rest waits.
    expect(room.rests[0].next).toBe(9);
    room = hear(room, 0, toPcm(silent(30)), 230, RATE_HZ);
    expect([room.rests[0].next, room.rests[0].pcm.byteLength]).toEqual([11, 0]);
  });

  it('is counted anew by the clock after a pause of more than five slots, and by its samples before', () => {
    const nextSlotAfter = (pauseMs: number): number | null => {
      let room = hear(EMPTY_ROOM, 0, toPcm(silent(200)), 200, RATE_HZ);
      room = hear(room, 0, toPcm(silent(20)), 220 + pauseMs, RATE_HZ);
      return room.rests[0].next;
    };
    expect(nextSlotAfter(100)).toBe(11);
    expect(nextSlotAfter(120)).toBe(17);
  });
});

describe('the sound of a lane in a room', () => {
  /** The person at the second microphone speaks from 1000 to 2000 ms. */
  const { room } = holdersOf([
    Float32Array.from([...silent(1000), ...loud(1000).map((value) => value / 10), ...silent(1000)]),
    Float32Array.from([...silent(1000), ...loud(1000), ...silent(1000)]),
  ]);
  const lengths = (began: number, side: Side) => {
    const pcm = toPcm(loud(320));
    const { own, pcm: left } = withoutOthers(room, side, pcm, began, RATE_HZ);
    const heard = left.reduce((count, byte, at) => count + (byte === pcm[at] ? 1 : 0), 0);
    return {
      ms: own.map(({ from, until }) => [from / 2 / 24, until / 2 / 24]),
      isWhole: heard === pcm.length,
    };
  };

  it('is silence while the other person speaks, from 60 ms before the first word to 0.7 s after the last', () => {
    expect(lengths(1200, 0).ms).toEqual([]);
    expect(lengths(800, 0).ms).toEqual([[0, 140]]);
    expect(lengths(2560, 0).ms).toEqual([[120, 320]]);
    // What the other person said is silence in the sound that is left.
    for (const began of [800, 1200, 2560]) expect(lengths(began, 0).isWhole, `${began} ms`).toBe(false);
    for (const began of [300, 800, 1200, 2560]) expect(lengths(began, 1).isWhole, `${began} ms`).toBe(true);
  });

  it('is decided when both microphones have heard all of it', () => {
    expect(isUndecided(room, 3000)).toBe(false);
    expect(isUndecided(room, 3020)).toBe(true);
  });
});
