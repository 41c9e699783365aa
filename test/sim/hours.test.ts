/** Opening hours, budgets and texts. `hours.long.test.ts`: the oracles find agents that handle them wrongly. */
import { describe, expect, it } from 'vitest';
import { type DrawnSchedule, isOpenBy } from './hours.ts';
import { WITH_TROUBLE } from './later-faults.ts';
import { rulesThatNotice } from './tampered.ts';

describe('an agent with opening hours, a budget and texts to speak', () => {
  it('breaks no rule as shipped', async () => {
    const limits = { hours: 0.25, seeds: [700] };
    expect(await rulesThatNotice(WITH_TROUBLE, (world) => world, limits)).toEqual([]);
  });
});

describe('the model of opening hours', () => {
  const schedule: DrawnSchedule = {
    timeZone: 'America/Phoenix',
    open: [
      { days: ['thu'], from: '09:00', to: '18:00' },
      { days: ['thu', 'fri'], from: '22:00', to: '02:00' },
    ],
    closed: ['2026-01-16'],
  };
  it.each([
    ['2026-01-15T08:59:59-07:00', false],
    ['2026-01-15T09:00:00-07:00', true],
    ['2026-01-15T17:59:59-07:00', true],
    ['2026-01-15T18:00:00-07:00', false],
    ['2026-01-16T01:59:59-07:00', true],
    ['2026-01-16T02:00:00-07:00', false],
    ['2026-01-16T22:30:00-07:00', false],
    ['2026-01-23T22:30:00-07:00', true],
  ])('gives at %s that the device is open: %s', (at, isOpen) => {
    expect(isOpenBy(schedule, Date.parse(at))).toBe(isOpen);
  });

  it('is open while the clock is not set', () => {
    expect(isOpenBy(schedule, null)).toBe(true);
  });
});
