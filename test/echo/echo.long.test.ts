import { beforeAll, describe, expect, it } from 'vitest';
import { CELL, expectGone, expectVisitorLeftAlone, expectVisitorSent, loadVoices } from './cancelling.ts';
import { fallbacks, judgeEcho, judgeFallback } from './judge.ts';
import { BLOCK_SAMPLES, type Performance, perform, type Voices } from './perform.ts';
import { judged, type Result } from './tables.ts';

let voices: Voices;
beforeAll(async () => {
  voices = await loadVoices();
});

/** Time in which understandable echo would be sent (s). */
function leaksS({ blocks }: Performance, fromS: number, untilS: number): number {
  const loud = 10 ** (-45 / 10) * BLOCK_SAMPLES;
  let count = 0;
  for (let block = fromS * 100; block < untilS * 100; block++)
    if (blocks.isOpen[block] === 1 && (blocks.left[block] ?? 0) > loud) count += 1;
  return count / 100;
}

const NOTHING: Result = {
  name: 'test',
  sentences: [],
  breaksS: [],
  visit: null,
  fallbacks: 0,
  heardS: 0,
  fellS: null,
  backS: null,
  driftPpm: 0,
  workMsPerS: 0,
};

/** Longer tests like a small `npm run echo`, without recordings of many people. */
describe('a lane that cancels its echo', () => {
  it.each([
    { delayMs: 20, gainDb: 0, ppm: -300 },
    { delayMs: 300, gainDb: -12, ppm: 300 },
    { delayMs: 700, gainDb: -12, ppm: 100, seconds: 20 },
  ])('removes the echo from the second sentence on: $delayMs ms, $gainDb dB, $ppm ppm', async (path) => {
    await expectGone(voices, path);
  });

  it('sends a visitor who is as loud as the echo', async () => {
    await expectVisitorSent(voices, 20, 8);
  });

  it('does not change a visitor when there is no echo', async () => {
    await expectVisitorLeftAlone(voices);
  });

  it('finds the echo again within a second of speech after an underrun, whatever times the device reports', async () => {
    const performance = await perform({ ...CELL, seconds: 48, dryEveryS: 13 }, voices, 1);
    expect(performance.breaks.length).toBeGreaterThan(2);
    const sentences = judgeEcho(performance);
    const breaksS = performance.breaks.map((block) => block / 100);
    const some = judged({ ...NOTHING, sentences, breaksS }, null);
    expect(some.length).toBeGreaterThan(3);
    expect(some.filter(({ isGood }) => !isGood)).toEqual([]);
    expect(fallbacks(performance)).toBe(0);
  });

  it('falls back within seconds when the canceller is off without its knowledge', async () => {
    const off = { from: 24, until: 60 };
    const performance = await perform({ ...CELL, seconds: 60, off }, voices, 1);
    const { fellS } = judgeFallback(performance);
    expect(fellS).toBeGreaterThan(0);
    expect(fellS).toBeLessThan(30);
  });

  it.each([
    { name: 'turned up from silence without a report', gainDb: -90, by: 78, delayMs: 0 },
    { name: 'replaced by another one, 90 ms later', gainDb: -12, by: 0, delayMs: 90 },
  ])('closes its gate when the loudspeaker is $name', async ({ gainDb, by, delayMs }) => {
    const change = { atS: 14, gainDb: by, delayMs, otherRoom: true };
    const performance = await perform({ ...CELL, ppm: 0, seconds: 50, gainDb, change }, voices, 1);
    // Echo passes until it is found, which takes a second or two of speech.
    expect(leaksS(performance, 0, 50)).toBeLessThan(1.5);
    expect(leaksS(performance, 25, 50)).toBe(0);
    const [, ...sentences] = judgeEcho(performance).filter(({ beganS }) => beganS > 22);
    expect(sentences.length).toBeGreaterThan(1);
    expect(sentences.filter(({ isGood }) => !isGood)).toEqual([]);
  });
});
