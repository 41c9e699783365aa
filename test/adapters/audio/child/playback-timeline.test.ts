import { describe, expect, it } from 'vitest';
import type { Consumption } from '../../../../src/adapters/audio/child/consumption.ts';
import { createSpeakerLine } from '../../../../src/adapters/audio/child/playback-timeline.ts';
import type { Child } from '../../../../src/adapters/audio/child/process.ts';

const RATE_HZ = 24_000;
const PERIOD = 480;
const BUFFER = 2400;
const LOOK_MS = 37;

/** A device that takes a period whenever its buffer has room for it, at a pace of its own. */
function play(options: {
  readonly ppm?: number;
  readonly seconds: number;
  readonly startsLateMs?: number;
  /** The device stands still in this stretch of time. */
  readonly stall?: readonly [number, number];
  /** What it reads beside its sound. */
  readonly foreign?: (now: number) => number;
  /** From then on nothing is written. */
  readonly endsMs?: number;
  /** Between two looks, if nothing is doubtful. */
  readonly lookMs?: number;
  readonly limitMs?: number;
  /** Held ready ahead of what is heard. */
  readonly aheadMs?: number;
}) {
  const {
    ppm = 0,
    seconds,
    startsLateMs = 0,
    stall = [0, 0],
    foreign = () => 0,
    endsMs = Infinity,
    lookMs = LOOK_MS,
    limitMs = 2000,
    aheadMs = 240,
  } = options;
  const framesPerMs = (RATE_HZ / 1000) * (1 + ppm * 1e-6);
  let written = 0;
  let now = 10_000;
  const heardBy = (at: number): number => {
    const stood = Math.max(0, Math.min(at, stall[1]) - stall[0]) * (stall[1] > 0 && at > stall[0] ? 1 : 0);
    return Math.max(0, Math.min(written, (at - 10_000 - startsLateMs - stood) * framesPerMs));
  };
  const taken = (): number => {
    const room = Math.floor((heardBy(now) + BUFFER + PERIOD) / PERIOD) * PERIOD;
    return Math.min(written, room) + foreign(now);
  };
  const meter: Consumption = { frames: () => taken(), begin() {}, close() {} };
  const child: Child = {
    ...{ pid: 1, waitingBytes: 0, kill() {}, end() {} },
    write(bytes) {
      written += bytes.byteLength / 2;
      return true;
    },
  };
  const shape = { rateHz: RATE_HZ, channels: 1 } as const;
  const line = createSpeakerLine(child, shape, { periodFrames: PERIOD, bufferFrames: BUFFER }, () => meter);
  line.begin(now);
  const errors: { at: number; error: number; aheadMs: number; lags: boolean }[] = [];
  let hung = false;
  let hungAt: number | null = null;
  while (now < 10_000 + seconds * 1000) {
    hung = line.look(now, limitMs) || hung;
    if (hung) hungAt ??= now - 10_000;
    const mostQueued = (aheadMs * RATE_HZ) / 1000;
    while (now - 10_000 < endsMs && line.end() - now < aheadMs && (line.queuedFrames() ?? 0) < mostQueued)
      line.write(new Uint8Array(PERIOD * 2));
    const reallyAhead = (written - heardBy(now)) / framesPerMs;
    const lags = line.end() <= now && line.lags(now);
    errors.push({ at: now - 10_000, error: line.end() - now - reallyAhead, aheadMs: reallyAhead, lags });
    now = Math.min(now + lookMs, line.doubtful(limitMs) ?? Number.POSITIVE_INFINITY);
  }
  return { errors, hung, hungAt, line };
}
const since = <T extends { at: number }>(ms: number, errors: readonly T[]): T[] =>
  errors.filter(({ at }) => at > ms);

describe('when what was written is heard', () => {
  it.each([0, 300, -300])('is known for hours on a device that is off by %d ppm', (ppm) => {
    const { errors, line } = play({ ppm, seconds: 2 * 3600 });
    const late = since(5000, errors);
    expect(late.every(({ error }) => Math.abs(error) < 6)).toBe(true);
    // The delay neither grows nor starves.
    expect(late.every(({ aheadMs }) => aheadMs > 200 && aheadMs < 280)).toBe(true);
    expect(line.isMeasured).toBe(true);
  });

  it('is corrected where the device starts later than thought', () => {
    const { errors } = play({ seconds: 10, startsLateMs: 45 });
    expect(errors[0]?.error).toBeCloseTo(0, -2);
    expect(since(2000, errors).every(({ error }) => Math.abs(error) < 6)).toBe(true);
  });

  it('is found again after the device stood still, and not too much is written meanwhile', () => {
    const { errors, hung } = play({ seconds: 20, stall: [15_000, 16_200] });
    expect(hung).toBe(false);
    expect(Math.max(...errors.map(({ aheadMs }) => aheadMs))).toBeLessThan(500);
    expect(since(10_000, errors).every(({ error }) => Math.abs(error) < 10)).toBe(true);
  });

  it('is a guess where the child reads other things, too', () => {
    const { errors, line } = play({ seconds: 60, foreign: (now) => Math.floor((now - 10_000) * 2) });
    expect(line.isMeasured).toBe(false);
    expect(errors.every(({ error }) => Math.abs(error) < 100)).toBe(true);
  });

  it('waits for a device that stands still in its last words, but not forever', () => {
    const { errors, hung } = play({ seconds: 10, endsMs: 5000, stall: [14_900, 16_000] });
    expect(hung).toBe(false);
    const still = errors.filter(({ at }) => at > 5400 && at < 6000);
    expect(still.length).toBeGreaterThan(10);
    expect(still.every(({ lags, aheadMs }) => lags && aheadMs > 150)).toBe(true);
    // Not before what is left has been heard.
    expect(still.every(({ error }) => error > -160 && error < 60)).toBe(true);
    expect(since(6300, errors).some(({ lags }) => lags)).toBe(false);
    const { errors: gone } = play({ seconds: 10, endsMs: 5000, stall: [14_900, 100_000] });
    expect(gone.some(({ lags }) => lags)).toBe(true);
    expect(since(6900, gone).some(({ lags }) => lags)).toBe(false);
  });

  it('comes to no end where the device takes nothing: it hangs', () => {
    expect(play({ seconds: 5, stall: [10_500, 100_000] }).hung).toBe(true);
  });

  it('is known to be never within two seconds, however rarely one looks', () => {
    for (const lookMs of [113, 511, 997, 1297]) {
      for (let stallAt = 14_000; stallAt < 15_300; stallAt += 61) {
        const { hungAt } = play({
          ...{ seconds: 9, lookMs, limitMs: 1500, aheadMs: 1400 },
          stall: [stallAt, 100_000],
        });
        const afterMs = (hungAt ?? Number.NaN) - (stallAt - 10_000);
        expect(afterMs, `${lookMs} ms, ${stallAt}`).toBeGreaterThan(1400);
        expect(afterMs, `${lookMs} ms, ${stallAt}`).toBeLessThan(1900);
      }
    }
  });

  it('is not given up for a device that stands still for less than that', () => {
    for (const lookMs of [113, 997, 1297]) {
      const { hung, errors } = play({
        ...{ seconds: 12, lookMs, limitMs: 1500, aheadMs: 1400, stall: [15_000, 16_300] },
      });
      expect(hung, `${lookMs} ms`).toBe(false);
      expect(errors.length).toBeGreaterThan(8);
    }
  });
});
