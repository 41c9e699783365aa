import { describe, expect, it } from 'vitest';
import { CHUNK_MS, lags } from './drifting-loudspeaker.ts';
import { FORMAT, PlayoutHarness } from './playout-harness.ts';

describe('sound without any pause', () => {
  it('keeps its delay when the loudspeaker is slower than the microphone', () => {
    expect(Math.max(...lags(60, 600, { quickens: true }))).toBeLessThan(1000);
  });

  it('lags by the drift when the sound must not be changed: a recording', () => {
    const most = lags(60, 600, { quickens: false });
    expect(most.at(-1)).toBeGreaterThan(2000);
  });

  it('is not changed while the clocks agree', () => {
    const playout = new PlayoutHarness({ quickens: true });
    for (let i = 0; i < 300; i++) playout.arrive('a', CHUNK_MS).pass(CHUNK_MS);
    playout.pass(1000);
    expect(playout.writtenMs).toBe(300 * CHUNK_MS);
  });

  it('plays faster by at most 0.3 %, and only after ten seconds of lag', () => {
    const playout = new PlayoutHarness({ quickens: true }).arrive('a', 30_000, true);
    playout.pass(9900);
    // The first write fills the loudspeaker, each later one refills it.
    expect(playout.writes.slice(1).every(({ pcm }) => pcm.byteLength === 200 * FORMAT.bytesPerMs)).toBe(true);
    const { length } = playout.writes;
    playout.pass(15_000);
    const quick = playout.writes.slice(length + 1);
    expect(quick.length).toBeGreaterThan(50);
    for (const { pcm } of quick) expect(pcm.byteLength).toBe((4800 - 14) * 2);
  });

  it('is unchanged again after it has caught up', () => {
    const playout = new PlayoutHarness({ quickens: true }).arrive('a', 15_000, true).pass(20_000);
    expect(playout.writtenMs).toBeLessThan(15_000);
    expect(playout.writtenMs).toBeGreaterThan(15_000 * 0.997);
    expect(playout.playout.queuedBytes).toBe(0);
    const { length } = playout.writes;
    playout.arrive('b', 1000, true).pass(2000);
    expect(playout.writes.slice(length).reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(48_000);
  });
});
