import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { budgetUse, countUse } from '../../src/device/limits/budget.ts';
import { BUDGET_FILE_VERSION, readBudget, writeBudget } from '../../src/device/limits/budget-file.ts';
import { createMemoryFile } from './memory-file.ts';
import {
  createScheduledAgent,
  DESIRED,
  HOUR,
  hours,
  MIN,
  type ScheduledAgent,
  THURSDAY,
} from './scheduled-agent.ts';

describe('the daily budget', () => {
  const events = (deps: ScheduledAgent) => deps.sent('event/budget').map(({ body }) => body);
  /** Nine o'clock UTC is four in the morning in New York, where the day ends at five UTC. */
  const zone = { timeZone: () => 'America/New_York' };

  it('warns at 80 %, ends the session at 100 %, and starts again with the local day', async () => {
    const deps = createScheduledAgent({ budget: { minutesPerDay: 20 } }, zone);
    await deps.goLive();
    const used = () => deps.sent('state').at(-1)?.body['budget'];
    deps.clock.advance(1000);
    expect(used()).toEqual({ used_minutes: 0, minutes_per_day: 20 });
    deps.clock.advance(3 * MIN);
    expect(used()).toEqual({ used_minutes: 3, minutes_per_day: 20 });
    // The stream has been open for 2.8 s, the time of its setup.
    deps.clock.advance(13 * MIN - 3801);
    expect(events(deps)).toEqual([]);
    deps.clock.advance(1);
    expect(events(deps)).toEqual([
      {
        ts: expect.any(String),
        lane: null,
        used_minutes: 16,
        minutes_per_day: 20,
        percent: 80,
      },
    ]);
    expect(deps.statusTold()).toEqual(['ready', []]);
    deps.clock.advance(4 * MIN - 1);
    expect(deps.statusTold()).toEqual(['ready', []]);
    deps.clock.advance(1);
    expect(deps.statusTold()).toEqual(['degraded', ['budget']]);
    deps.closeDrained();
    expect(deps.phase()).toBe('idle');
    const [stream] = deps.agent.lanes.map(({ state }) => state.counts.streamMs);
    expect(Math.abs((stream ?? 0) - 20 * MIN)).toBeLessThan(30_000);
    expect(deps.closedUntil()).toBe('2026-01-16T05:00:00.000Z');
    expect(deps.ask('start')).toMatchObject({
      error: {
        code: 'budget',
        message:
          'the 20 minutes of the day are used up (budget.minutesPerDay): no session begins until 2026-01-16T05:00:00.000Z',
      },
    });
    expect(deps.ask('start', { until: '2026-01-15T23:00:00Z' })).toMatchObject({
      error: { code: 'budget' },
    });
    const asked = deps.sent('token/req').length;
    deps.advanceTo(THURSDAY + 29 * HOUR - 1);
    expect(deps.sent('token/req')).toHaveLength(asked);
    deps.clock.advance(1);
    expect(deps.sent('token/req')).toHaveLength(asked + 1);
    expect(events(deps)).toHaveLength(1);
  });

  it.each([['NaN'], [-1], [0], [1e9], [true], [[]], [{ minutes: 4 }]])(
    'refuses %j',
    async (minutesPerDay) => {
      const deps = createScheduledAgent({ budget: { minutesPerDay: 100 } });
      await deps.goLive();
      deps.deliver(DESIRED, { version: 1, budget: { minutesPerDay } });
      deps.clock.advance(1000);
      expect(deps.sent('config/reported').at(-1)?.body).toMatchObject({
        errors: [{ from: 'device', key: 'budget.minutesPerDay', message: expect.stringMatching(/^must /) }],
        effective: { budget: { minutesPerDay: 100 } },
      });
      expect(deps.phase()).toBe('live');
    },
  );

  it('survives a restart, with the warning', async () => {
    const file = createMemoryFile();
    const first = createScheduledAgent({ budget: { minutesPerDay: 10 } }, { budgetFile: file.file });
    await first.goLive();
    await first.clock.elapse(9 * MIN);
    expect(events(first)).toHaveLength(1);
    const stopped = first.agent.stop();
    await first.clock.elapse(5000);
    await stopped;
    const second = createScheduledAgent({ budget: { minutesPerDay: 10 } }, { budgetFile: file.file });
    await second.goLive();
    second.clock.advance(2 * MIN);
    expect(second.statusTold()).toEqual(['degraded', ['budget']]);
    expect(events(second)).toEqual([]);
  });

  it.each([
    '',
    '{',
    'null',
    '{"version":1}',
    '{"version":2,"days":[]}',
    '{"version":1,"days":[{"day":"2026-01-15","used_ms":-5,"told_for":null}]}',
    '{"version":1,"days":[{"day":"2026-01-15","used_ms":1e300,"told_for":null}]}',
    '{"version":1,"days":[{"day":"today","used_ms":5,"told_for":null}]}',
  ])('is counted from zero when the kept file holds %j, and logged', async (text) => {
    const file = createMemoryFile();
    file.fill(text);
    const deps = createScheduledAgent({ budget: { minutesPerDay: 10 } }, { budgetFile: file.file });
    await deps.goLive();
    expect(deps.phase()).toBe('live');
    expect(deps.logged.map(([, sentence]) => sentence)).toContain(
      'cannot read the budget used so far; counting begins at zero',
    );
  });

  it('keeps counting when the disk fails, and reports failure and recovery once', async () => {
    const file = createMemoryFile();
    file.fail('the disk is full');
    const deps = createScheduledAgent({ budget: { minutesPerDay: 30 } }, { budgetFile: file.file });
    await deps.goLive();
    await deps.clock.elapse(10 * MIN);
    const told = () =>
      deps.logged.map(([, sentence]) => String(sentence)).filter((one) => one.includes('budget'));
    expect(told()).toEqual(['the disk is full; budget usage will not survive a restart']);
    file.fail(null);
    await deps.clock.elapse(10 * MIN);
    expect(told().at(-1)).toBe('budget usage is saved again');
    await deps.clock.elapse(11 * MIN);
    expect(deps.statusTold()).toEqual(['degraded', ['budget']]);
  });

  it('counts the day so far without the tables of time zones when the limit comes later', async () => {
    let asked = 0;
    const timeZone = (): string => {
      asked++;
      return 'America/New_York';
    };
    const machineDay = (wall: number): number => Math.floor((wall - 5 * HOUR) / (24 * HOUR));
    const deps = createScheduledAgent({}, { timeZone, machineDay });
    await deps.goLive();
    deps.clock.advance(12 * MIN);
    expect(asked).toBe(0);
    deps.deliver(DESIRED, { version: 1, budget: { minutesPerDay: 10 } });
    expect(asked).toBeGreaterThan(0);
    expect(deps.statusTold()).toEqual(['degraded', ['budget']]);
    deps.closeDrained();
    expect(deps.closedUntil()).toBe('2026-01-16T05:00:00.000Z');
  });

  it('uses UTC days without a time zone, and logs it', async () => {
    const sentence = 'the time zone of the machine is unknown: budget days begin at midnight UTC';
    const told = (deps: ScheduledAgent) => deps.logged.filter(([, said]) => said === sentence).length;
    const deps = createScheduledAgent({ budget: { minutesPerDay: 10 } }, { timeZone: () => null });
    await deps.goLive();
    deps.clock.advance(11 * MIN);
    expect(told(deps)).toBe(1);
    expect(deps.closedUntil()).toBe('2026-01-16T00:00:00.000Z');
  });

  it('leaves no timer', async () => {
    const deps = createScheduledAgent({ budget: { minutesPerDay: 10 }, schedule: hours('08:00', '10:00') });
    await deps.goLive();
    const stopped = deps.agent.stop();
    await deps.clock.elapse(5000);
    await stopped;
    expect(deps.clock.armed).toBe(0);
  });
});

describe('the budget file', () => {
  const folder = new URL('./state-files/', import.meta.url);

  it('has a stored example of each version', () => {
    const kept = Array.from({ length: BUDGET_FILE_VERSION }, (_, index) => `budget-${index + 1}.json`);
    expect(readdirSync(folder).filter((file) => file.startsWith('budget'))).toEqual(kept);
  });

  it('can be read in version 1', () => {
    expect(readBudget(readFileSync(new URL('budget-1.json', folder), 'utf8'))).toEqual({
      kind: 'kept',
      content: [
        { day: '2026-01-14', usedMs: 5_400_000, toldFor: 100 },
        { day: '2026-01-15', usedMs: 61_234, toldFor: null },
      ],
    });
  });

  it('can be read in the present version', () => {
    const use = countUse(budgetUse([], 0), '2026-05-04', 0, 1234.4);
    expect(readBudget(writeBudget(use))).toEqual({
      kind: 'kept',
      content: [{ day: '2026-05-04', usedMs: 1234, toldFor: null }],
    });
  });
});
