import { describe, expect, it } from 'vitest';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { disturbsNobody, isInWindow } from '../../../src/device/update/good-moment.ts';
import { LaneHarness } from '../lane/lane-harness.ts';

describe('the window of an update', () => {
  const day = { from: '02:00', to: '04:30' };
  const night = { from: '22:00', to: '05:00' };
  const around = { from: '03:00', to: '03:00' };
  it.each([
    [day, '01:59', false],
    [day, '02:00', true],
    [day, '04:29', true],
    [day, '04:30', false],
    [night, '21:59', false],
    [night, '22:00', true],
    [night, '00:00', true],
    [night, '04:59', true],
    [night, '05:00', false],
    [night, '12:00', false],
    // As the configuration says: the end is on the next day if it is not later than the begin.
    [around, '02:59', true],
    [around, '03:00', true],
  ])('%j at %s: %s', (window, time, isIn) => {
    const minute = Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
    expect(isInWindow(window, minute)).toBe(isIn);
  });

  it('does not count while the clock is not set, or without one', () => {
    expect([isInWindow(day, null), isInWindow(null, 720)]).toEqual([true, true]);
  });
});

it('disturbs when a person has just spoken at any one of the lanes', () => {
  const { state } = new LaneHarness();
  const speaks = { ...state, lastVoiceAt: 59_000 };
  expect(disturbsNobody([state, state], 60_000)).toBe(true);
  expect(disturbsNobody([state, speaks], 60_000)).toBe(false);
  expect(disturbsNobody([speaks, state], 60_000)).toBe(false);
  expect(disturbsNobody([state, speaks], 61_000)).toBe(true);
  // The room is silent, and a text is being said.
  const saying = { id: 's', text: 'Cerramos', language: 'es' } as unknown as LaneState['saying'];
  expect(disturbsNobody([state, { ...state, saying }], 60_000)).toBe(false);
  const conversation = {} as unknown as LaneState['conversation'];
  expect(disturbsNobody([{ ...state, conversation }, state], 60_000)).toBe(false);
});
