import { describe, expect, it } from 'vitest';
import { NO_TURNS } from '../../../../src/device/lane/state/state-parts.ts';
import { heardWhileHeld } from '../../../../src/device/lane/two-way/held-window.ts';
import { LaneHarness } from '../lane-harness.ts';

/** 100 ms at 1 kHz, captured from 900 to 1000. */
const PCM = Uint8Array.from({ length: 200 }, () => 1);
const [CAPTURED_AT, MS] = [1000, 100];

/** The heard milliseconds of the chunk; null: it was closed. */
function heard(turnedAt: number, openUntil: number): string | null {
  const { state } = new LaneHarness({ options: { twoWay: 'hold' } });
  const lane = { ...state, twoWay: { ...NO_TURNS, turnedAt, openUntil } };
  const sound = heardWhileHeld(lane, PCM, CAPTURED_AT, MS);
  if (sound === null) return null;
  const loud = [...sound].flatMap((byte, at) => (byte === 1 ? [at / 2] : []));
  return `${Math.floor(loud[0] ?? 0)}-${Math.ceil(loud.at(-1) ?? 0)}`;
}

describe('the microphone of a held key', () => {
  it.each([
    ['was pressed before', 500, Number.POSITIVE_INFINITY, '0-100'],
    ['is pressed within', 940, Number.POSITIVE_INFINITY, '40-100'],
    ['closes within', 500, 930, '0-30'],
    ['is pressed and closes within', 920, 930, '20-30'],
    ['closed before', 500, 900, null],
    ['is pressed later', 1000, Number.POSITIVE_INFINITY, null],
    ['was never pressed', Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, null],
  ])('hears just that part of a chunk when it %s', (_what, turnedAt, openUntil, part) => {
    expect(heard(turnedAt, openUntil)).toBe(part);
  });
});
