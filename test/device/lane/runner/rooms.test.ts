import { expect, it } from 'vitest';
import { desksOf } from '../../../../src/device/lane/runner/rooms.ts';

it('the lanes of a room share a desk, others have their own, and a room without lanes has none', () => {
  const lanes = ['a', 'b', 'c'].map((id) => ({ id }));
  const rooms = [{ lanes: ['c', 'a'] }, { lanes: ['x', 'y'] }] as unknown as Parameters<typeof desksOf>[1];
  const desks = desksOf(lanes, rooms);
  expect(desks.map((desk) => desk.map(({ id }) => id))).toEqual([['a', 'c'], ['b']]);
});
