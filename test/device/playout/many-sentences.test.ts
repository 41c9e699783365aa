import { describe, expect, it } from 'vitest';
import { FORMAT, PlayoutHarness, START } from './playout-harness.ts';

describe('a service that sends very many, very short sounds', () => {
  it('has a limited number of waiting sentences, the newest ones', () => {
    const playout = new PlayoutHarness();
    for (let i = 0; i < 1000; i++) playout.arrive(`s${i}`, 2);
    const { utterances, shed, unwanted } = playout.playout;
    expect(utterances.length).toBeLessThan(70);
    expect(utterances.at(-1)?.key).toBe('s999');
    expect(shed.sentences + utterances.length).toBe(1000);
    expect(unwanted.length).toBeLessThanOrEqual(64);
  });

  it('loses no sentence that fits in the permitted lag', () => {
    const playout = new PlayoutHarness();
    for (let i = 0; i < 60; i++) playout.arrive(`s${i}`, 300, true);
    expect(playout.playout.shed.sentences).toBe(0);
    expect(playout.pass(30_000).writtenMs).toBe(60 * 300);
  });

  it('has the pieces of one sentence joined to a few, all in order', () => {
    const playout = new PlayoutHarness();
    for (let i = 0; i < 5000; i++) playout.arrive('a', 1);
    expect(playout.playout.utterances[0]?.pieces.length).toBeLessThan(40);
    expect(playout.pass(10_000).writtenMs).toBe(5000);
    const words = playout.spoken.flatMap(({ pcm }) => [...new Uint32Array(new Uint8Array(pcm).buffer)]);
    expect(words).toEqual([...words].sort((a, b) => a - b));
    expect(words).toHaveLength((5000 * FORMAT.bytesPerMs) / 4);
  });

  it('has pieces of ordinary length left as they came', () => {
    const playout = new PlayoutHarness();
    for (let i = 0; i < 30; i++) {
      playout.arrive('a', 200);
      playout.now += 1;
    }
    const arrivals = playout.playout.utterances[0]?.pieces.map(({ receivedAt }) => receivedAt) ?? [];
    expect(new Set(arrivals).size).toBe(arrivals.length);
    expect(arrivals.at(-1)).toBe(START + 29);
  });
});
