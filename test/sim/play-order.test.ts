import { describe, expect, it } from 'vitest';
import { createPlayOrder, type Rendering } from './play-order.ts';
import { createViolations } from './violations.ts';

const CONNECTIONS: Record<string, number> = { older: 1, newer: 2 };

function setUp(named = true) {
  const violations = createViolations(() => 0);
  const order = createPlayOrder({ violations, named }, (stream) => CONNECTIONS[stream] ?? 0);
  return {
    order,
    rules: () => violations.list.map(({ rule }) => rule),
    deliver: (rendering: Rendering, at: number) => order.delivered(rendering, 5, at),
    play: (rendering: Rendering, at: number, place = 0) => order.written(rendering, { place, ticks: 5 }, at),
  };
}

const rendering = (id: number, stream: string, first: number): Rendering => ({
  id,
  stream,
  ticks: [first, first + 1],
});

describe('the oracle of playing order', () => {
  it('reports an older sentence that waited while a newer one of a newer stream was played', () => {
    const { rules, deliver, play } = setUp();
    const newer = rendering(1, 'newer', 200);
    const older = rendering(2, 'older', 100);
    deliver(newer, 1000);
    deliver(older, 1100);
    play(newer, 1200);
    play(older, 1300);
    expect(rules()).toEqual(['order']);
  });

  it('accepts a sentence of an older stream that arrives while a newer one is played', () => {
    const { order, rules, deliver, play } = setUp();
    const newer = rendering(1, 'newer', 200);
    const older = rendering(2, 'older', 100);
    deliver(newer, 1000);
    play(newer, 1000);
    deliver(older, 1100);
    play(older, 1300);
    expect(rules()).toEqual([]);
    expect(order.lateTicks).toBe(2);
  });

  it('accepts replayed speech that the service translates late', () => {
    const { order, rules, deliver, play } = setUp();
    const newer = rendering(1, 'newer', 200);
    const again = rendering(2, 'newer', 100);
    deliver(newer, 1000);
    deliver(again, 1100);
    play(newer, 1200);
    play(again, 1300);
    expect(rules()).toEqual([]);
    expect(order.lateTicks).toBe(2);
  });

  it('reports two sentences of one stream in the wrong order', () => {
    const { rules, deliver, play } = setUp();
    const first = rendering(1, 'newer', 100);
    const second = rendering(2, 'newer', 200);
    deliver(first, 1000);
    deliver(second, 1100);
    play(second, 1200);
    play(first, 1300);
    expect(rules()).toEqual(['order']);
  });

  it.each([
    { pauseMs: 900, found: [] },
    { pauseMs: 1100, found: ['order'] },
  ])('treats sound without ids as one sentence until a pause: $pauseMs ms', ({ pauseMs, found }) => {
    const { rules, deliver, play } = setUp(false);
    const newer = rendering(1, 'newer', 200);
    const older = rendering(2, 'older', 100);
    const newest = rendering(3, 'newer', 300);
    deliver(newer, 1000);
    play(newer, 1000);
    deliver(older, 1100);
    deliver(newest, 1000 + pauseMs);
    play(newest, 2200);
    play(older, 2300);
    expect(rules()).toEqual(found);
  });

  it('reports interleaved sentences, and sound that is played twice', () => {
    const { rules, deliver, play } = setUp();
    const first = rendering(1, 'newer', 100);
    const second = rendering(2, 'newer', 200);
    deliver(first, 1000);
    deliver(second, 1000);
    play(first, 1000);
    play(second, 1100);
    play(first, 1200, 5);
    play(first, 1300, 5);
    expect(rules()).toEqual(['interleaved', 'repeated']);
  });

  // The first 5 ticks have been played at 1100.
  it.each([
    { by: 'newer', goesOnAt: 1500, found: [] },
    { by: 'newer', goesOnAt: 1499, found: ['interleaved'] },
    { by: 'older', goesOnAt: 1500, found: ['interleaved'] },
  ])(
    'accepts only another stream between the parts of a stalled sentence: $by, continued at $goesOnAt ms',
    (overtaken) => {
      const { rules, deliver, play } = setUp();
      const stalls = rendering(1, 'older', 100);
      const other = rendering(2, overtaken.by, 200);
      deliver(stalls, 1000);
      play(stalls, 1000);
      deliver(other, 1400);
      deliver(stalls, overtaken.goesOnAt);
      play(other, 1500);
      play(stalls, 1700, 5);
      expect(rules()).toEqual(overtaken.found);
      play(other, 1800, 5);
      expect(rules().length).toBeGreaterThan(overtaken.found.length);
    },
  );
});
