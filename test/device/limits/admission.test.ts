import { describe, expect, it } from 'vitest';
import { admissionOf, type Rules } from '../../../src/device/limits/admission.ts';
import { asWall, type WallMs } from '../../../src/protocol/common/time.ts';
import { scheduleSchema } from '../../../src/protocol/config-hours.ts';

const at = (text: string): WallMs => asWall(Date.parse(text));
const SCHEDULE = scheduleSchema.parse({
  timeZone: 'UTC',
  open: [{ days: ['mon'], from: '09:00', to: '18:00' }],
});
const FREE: Rules = { schedule: null, openingDelayMs: 0, isSpent: false, dayEndsAt: null, openUntil: null };
const NOON = at('2026-05-04T12:00:00Z');
const EVENING = at('2026-05-04T20:00:00Z');
const NEXT = at('2026-05-11T09:00:00Z');
const MIDNIGHT = at('2026-05-05T00:00:00Z');
const LATER = asWall(EVENING + 1);
const PAST_MIDNIGHT = asWall(MIDNIGHT + 5);

describe('the admission of a lane to a session', () => {
  it.each([
    ['there is neither a schedule nor a budget', FREE, NOON, null, null, null],
    ['the device is open', { ...FREE, schedule: SCHEDULE }, NOON, null, null, at('2026-05-04T18:00:00Z')],
    ['the device is closed', { ...FREE, schedule: SCHEDULE }, EVENING, 'closed', NEXT, NEXT],
    ['the clock is not set', { ...FREE, schedule: SCHEDULE }, null, null, null, null],
    [
      'an operator has opened the device outside its hours',
      { ...FREE, schedule: SCHEDULE, openUntil: LATER },
      EVENING,
      null,
      null,
      LATER,
    ],
    [
      'the time for which an operator opened it is over',
      { ...FREE, schedule: SCHEDULE, openUntil: EVENING },
      EVENING,
      'closed',
      NEXT,
      NEXT,
    ],
    [
      'the budget is used up',
      { ...FREE, isSpent: true, dayEndsAt: MIDNIGHT },
      NOON,
      'budget',
      MIDNIGHT,
      MIDNIGHT,
    ],
    [
      'the budget is used up and the clock is not set',
      { ...FREE, isSpent: true },
      null,
      'budget',
      null,
      null,
    ],
    [
      'the budget is used up outside the hours: the reason is "closed"',
      { ...FREE, schedule: SCHEDULE, isSpent: true, dayEndsAt: MIDNIGHT, openUntil: null },
      EVENING,
      'closed',
      NEXT,
      MIDNIGHT,
    ],
    [
      'the budget also limits a lane opened by command',
      { ...FREE, schedule: SCHEDULE, isSpent: true, dayEndsAt: MIDNIGHT, openUntil: PAST_MIDNIGHT },
      EVENING,
      'budget',
      MIDNIGHT,
      MIDNIGHT,
    ],
  ] as const)('%s', (_, rules, wall, hold, until, changesAt) => {
    expect(admissionOf(rules, wall)).toEqual({ hold, until, changesAt });
  });
});
