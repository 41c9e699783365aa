import { describe, expect, it } from 'vitest';
import { growthBytes, type Health, judgeVisits, readMessages } from './day/figures.ts';
import { makeTones } from './tones.ts';

const health = (rss: number): Health => ({
  boot_id: 'a',
  rss_bytes: rss,
  cpu_seconds: 1,
  reconnects: 0,
  outbox: { dropped: 0 },
  lanes: [
    {
      xruns: 0,
      underruns: 0,
      capture_restarts: 0,
      playback_restarts: 0,
      rollovers: 0,
      speech_lost_ms: 0,
      billed_s: 0,
    },
  ],
});
const line = (topic: string, text: object): string =>
  `${JSON.stringify({ topic, text: JSON.stringify(text) })}\n`;

describe('the figures of a day', () => {
  it('are read from complete lines of the log', () => {
    const lines =
      line('health', health(5)) +
      line('event/rollover', {}) +
      line('event/rollover', {}) +
      line('cmd/volume/res', { id: 'a', status: 'accepted' }) +
      line('cmd/volume/res', { id: 'a', status: 'expired' });
    const told = readMessages(`${lines}{"topic":"eve`);
    expect(told.health).toEqual([health(5)]);
    expect(told.events).toEqual({ rollover: 2 });
    expect(told.answers).toEqual(['expired']);
  });

  it('report growing memory, but not a single peak', () => {
    const steady = Array.from({ length: 50 }, (_, at) => health(at === 49 ? 900 : 100));
    expect(growthBytes(steady)).toBe(0);
    expect(growthBytes(Array.from({ length: 50 }, (_, at) => health(100 + at)))).toBe(40);
    expect(growthBytes([])).toBe(0);
  });

  it('judge each visit separately', () => {
    const [whole, cut] = [makeTones(4), makeTones(4)];
    const flawed = new Int16Array(cut.length);
    flawed.set(cut.subarray(0, 24_000));
    flawed.set(cut.subarray(48_000), 24_000);
    const bytes = (samples: Int16Array) =>
      Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
    const judged = judgeVisits(Buffer.concat([bytes(whole), bytes(flawed), Buffer.alloc(100)]), 4);
    expect(judged).toHaveLength(2);
    expect(judged[0]).toMatchObject({ missing: 0, outOfOrder: 0 });
    expect(judged[1]?.missing).toBeGreaterThan(3);
  });
});
