/** Opening hours, budgets and texts: the oracles find agents that handle them wrongly. */
import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/agent/deps.ts';
import type { StateFile } from '../../src/ports/state-file.ts';
import { asWall } from '../../src/protocol/time.ts';
import { type DrawnSchedule, isOpenBy } from './hours.ts';
import { WITH_TROUBLE } from './later-faults.ts';
import { rulesThatNotice, withPublished } from './tampered.ts';

const AN_HOUR = 1;
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

describe('an agent with opening hours, a budget and texts to speak', () => {
  it('breaks no rule as shipped', async () => {
    const limits = { hours: AN_HOUR / 4, seeds: [700] };
    expect(await rulesThatNotice(WITH_TROUBLE, (world) => world, limits)).toEqual([]);
  });

  it('breaks `hours` when it never closes', async () => {
    const rules = await rulesThatNotice(['opening_hours'], (world) => ({
      ...world,
      clock: { ...world.clock, wall: () => null },
    }));
    expect(rules).toEqual(['hours']);
  });

  it('breaks `hours` and `reporting` when it does not report that it is closed', async () => {
    const silent = withPublished((topic, payload) => [
      topic.endsWith('/status')
        ? JSON.stringify({ ...(JSON.parse(payload) as object), reasons: [] })
        : payload,
    ]);
    expect(await rulesThatNotice(['opening_hours'], silent)).toEqual(['hours', 'reporting']);
  });

  it('breaks `command` when it answers `start` with ok while it is closed', async () => {
    const polite = withPublished((topic, payload) => [
      topic.endsWith('/cmd/start/res') && payload.includes('"closed"')
        ? JSON.stringify({ ...(JSON.parse(payload) as object), status: 'ok', error: undefined })
        : payload,
    ]);
    expect(await rulesThatNotice(['opening_hours', 'commands'], polite, { hours: AN_HOUR })).toEqual([
      'command',
    ]);
  });

  it('breaks `budget` when it forgets its use at each restart', async () => {
    const rules = await rulesThatNotice(
      ['budget', 'sigterm'],
      (world) => {
        const { budgetFile } = world;
        const file: StateFile | undefined = budgetFile && { ...budgetFile, read: () => ({ kind: 'none' }) };
        return file === undefined ? world : { ...world, budgetFile: file };
      },
      { hours: AN_HOUR },
    );
    expect(rules).toEqual(['budget']);
  });

  it('breaks `budget` when it begins a new day each minute', async () => {
    const newDays = (world: AgentDeps): AgentDeps => {
      const { clock } = world;
      const wall = () => asWall((clock.wall() ?? 0) + Math.floor(clock.now() / MINUTE_MS) * DAY_MS);
      return { ...world, clock: { ...clock, wall } };
    };
    const rules = await rulesThatNotice(['budget'], newDays, { hours: AN_HOUR, seeds: [701, 702] });
    expect(rules).toEqual(['budget']);
  });

  it('breaks `command` when it answers `say` not at all, or twice', async () => {
    for (const times of [0, 2]) {
      const rules = await rulesThatNotice(
        ['say'],
        withPublished((topic, payload) =>
          Array<string>(topic.endsWith('/cmd/say/res') && !payload.includes('accepted') ? times : 1).fill(
            payload,
          ),
        ),
        { hours: AN_HOUR },
      );
      expect(rules).toEqual(['command']);
    }
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
