import { describe, expect, it } from 'vitest';
import { createHeldTurns, type TurnAction } from '../../../src/device/desk/held-turns.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const turn = (lane: string, held: boolean, speaker: TurnAction['speaker'] = 'source'): TurnAction => ({
  do: 'turn',
  lane,
  speaker,
  held,
});

function holding() {
  const clock = createVirtualClock();
  const released: TurnAction[] = [];
  return { clock, released, turns: createHeldTurns(clock, (action) => released.push(action)) };
}

describe('a button that a page holds', () => {
  it('is let go 5 s after its last repetition, once', () => {
    const { clock, released, turns } = holding();
    expect(turns.take(turn('main', true))).toBe(true);
    clock.advance(4999);
    expect(turns.take(turn('main', true))).toBe(false);
    clock.advance(4999);
    expect(released).toEqual([]);
    clock.advance(1);
    expect(released).toEqual([turn('main', false)]);
    clock.advance(60_000);
    expect([released.length, clock.armed]).toEqual([1, 0]);
    expect(turns.take(turn('main', true))).toBe(true);
  });

  it('is new when the other person presses, whose button an earlier release does not end', () => {
    const { clock, released, turns } = holding();
    turns.take(turn('main', true));
    expect(turns.take(turn('main', true, 'target'))).toBe(true);
    expect(turns.take(turn('main', false))).toBe(false);
    clock.advance(5000);
    expect(released).toEqual([turn('main', false, 'target')]);
  });

  it('is held for its own lane, and leaves no timer when it is let go', () => {
    const { clock, released, turns } = holding();
    turns.take(turn('clerk', true));
    expect(turns.take(turn('visitor', true))).toBe(true);
    expect(turns.take(turn('clerk', false))).toBe(true);
    expect(clock.armed).toBe(1);
    clock.advance(5000);
    expect(released).toEqual([turn('visitor', false)]);
  });

  it('leaves no timer at the close, however many are held', () => {
    const { clock, turns } = holding();
    for (const lane of ['clerk', 'visitor', 'guide']) turns.take(turn(lane, true));
    turns.close();
    expect(clock.armed).toBe(0);
  });
});
