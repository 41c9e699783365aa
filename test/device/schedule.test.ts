import { describe, expect, it } from 'vitest';
import { createScheduledAgent, DESIRED, HOUR, hours, MIN, THURSDAY } from './scheduled-agent.ts';

/** How long after the opening time this kiosk opens: a fleet spreads its openings over a minute. */
const LATE_MS = 51_000;

describe('a schedule', () => {
  it('ends the session at closing time, reports the opening time, and starts a session then', async () => {
    const deps = createScheduledAgent({ schedule: hours('08:00', '09:10') });
    await deps.goLive();
    expect(deps.statusTold()).toEqual(['ready', []]);
    expect(deps.closedUntil()).toBeNull();
    deps.advanceTo(THURSDAY + 9 * HOUR + 10 * MIN - 1);
    expect(deps.phase()).toBe('live');
    deps.clock.advance(1);
    expect(deps.phase()).toBe('draining');
    expect(deps.statusTold()).toEqual(['idle', ['closed']]);
    deps.closeDrained();
    expect(deps.closedUntil()).toBe('2026-01-16T08:00:51.000Z');
    expect(deps.openMicrophones).toBe(0);
    const asked = deps.sent('token/req').length;
    deps.advanceTo(THURSDAY + 32 * HOUR + LATE_MS - 1);
    expect(deps.sent('token/req')).toHaveLength(asked);
    deps.clock.advance(1);
    expect(deps.sent('token/req')).toHaveLength(asked + 1);
    deps.liveAgain();
    expect(deps.statusTold()).toEqual(['ready', []]);
    expect(deps.closedUntil()).toBeNull();
  });

  it('starts no session when the agent starts outside the opening hours, and refuses `start`', async () => {
    const deps = createScheduledAgent({ schedule: hours('10:00', '12:00') });
    await deps.agent.start();
    deps.brokerUp();
    expect(deps.sent('token/req')).toEqual([]);
    expect(deps.statusTold()).toEqual(['idle', ['closed']]);
    expect(deps.ask('start')).toMatchObject({
      status: 'error',
      error: {
        code: 'closed',
        message:
          'it is outside the opening hours of the schedule until 2026-01-15T10:00:51.000Z; give "until" with a time to open it anyway',
      },
    });
    expect(deps.ask('start', { lane: 'main', until: '2026-01-15T08:59:00Z' })).toMatchObject({
      status: 'error',
      error: {
        code: 'invalid_args',
        message: expect.stringContaining('until: 2026-01-15T08:59:00Z must be in the future'),
      },
    });
    for (const until of ['tomorrow', 5, '2026-01-15', '2026-02-30T10:00:00Z', '2026-01-15T10:00:00'])
      expect(deps.ask('start', { until })).toMatchObject({ error: { code: 'invalid_args' } });
    expect(deps.sent('token/req')).toEqual([]);
  });

  it('is overridden by `start` with `until`, until that time or until `stop`', async () => {
    const deps = createScheduledAgent({ schedule: hours('12:00', '13:00') });
    await deps.agent.start();
    deps.brokerUp();
    expect(deps.ask('start', { until: '2026-01-15T10:10:00+01:00' })).toMatchObject({ status: 'ok' });
    deps.liveAgain();
    expect(deps.statusTold()).toEqual(['ready', []]);
    expect(deps.ask('start')).toMatchObject({ status: 'ok' });
    deps.advanceTo(THURSDAY + 9 * HOUR + 10 * MIN);
    deps.closeDrained();
    expect(deps.statusTold()).toEqual(['idle', ['closed']]);
    // The desired state continues at opening time.
    expect(deps.ask('start', { until: '2026-01-15T11:00:00Z' })).toMatchObject({ status: 'ok' });
    expect(deps.ask('stop')).toMatchObject({ status: 'ok' });
    expect(deps.ask('start')).toMatchObject({ error: { code: 'closed' } });
    deps.advanceTo(THURSDAY + 12 * HOUR + LATE_MS + 1000);
    expect(deps.statusTold()).toEqual(['idle', ['stopped']]);
    expect(deps.ask('start')).toMatchObject({ status: 'ok' });
  });

  it('may be set by config/desired at any time, for a group too, even in the middle of a sentence', async () => {
    const deps = createScheduledAgent({ device: { id: 'kiosk-01', tenant: 'museum', groups: ['lobby'] } });
    await deps.goLive();
    for (let chunk = 0; chunk < 12; chunk++) deps.speak();
    deps.deliver('dragoman/v1/museum/group/lobby/config/desired', {
      version: 1,
      schedule: hours('20:00', '21:00'),
    });
    expect(deps.phase()).toBe('live');
    expect(deps.statusTold()).toEqual(['idle', ['closed']]);
    expect(deps.closedUntil()).toBe('2026-01-15T20:00:51.000Z');
    deps.deliver(DESIRED, { version: 1, schedule: null });
    expect(deps.statusTold()).toEqual(['ready', []]);
    expect(deps.closedUntil()).toBeNull();
    deps.clock.advance(1000);
    expect(deps.phase()).toBe('live');
    deps.deliver(DESIRED, '');
    deps.clock.advance(25_000);
    expect(deps.phase()).toBe('idle');
    expect(deps.streams).toHaveLength(1);
    const { errors, effective } = deps.sent('config/reported').at(-1)?.body ?? {};
    expect(errors).toEqual([]);
    expect(effective).toMatchObject({ schedule: hours('20:00', '21:00', { closed: [] }) });
  });

  it('closes a session at once that is still being set up', async () => {
    const deps = createScheduledAgent({});
    await deps.agent.start();
    deps.brokerUp();
    deps.grant();
    deps.lastStream().listener.opened();
    expect(deps.phase()).toBe('configuring');
    deps.deliver(DESIRED, { version: 1, schedule: hours('20:00', '21:00') });
    expect(deps.phase()).toBe('idle');
    expect(deps.lastStream().calls).toContain('close');
  });

  it('is refused as a whole when it is unusable, and the previous one stays', async () => {
    const deps = createScheduledAgent({ schedule: hours('08:00', '10:00') });
    await deps.goLive();
    const refused = (schedule: unknown): unknown => {
      deps.deliver(DESIRED, JSON.stringify({ version: 1, schedule }));
      deps.clock.advance(1000);
      return deps.sent('config/reported').at(-1)?.body['errors'];
    };
    const one = hours('08:00', '10:00');
    const many = Array.from({ length: 4000 }, () => '2026-01-15');
    for (const [schedule, key] of [
      [{ ...one, timeZone: 'Mars/Olympus' }, 'schedule.timeZone'],
      [{ ...one, open: [] }, 'schedule.open'],
      [{ ...one, open: [{ ...one.open[0], to: 'NaN' }] }, 'schedule.open[0].to'],
      [{ ...one, closed: many }, 'schedule.closed'],
      [{ ...one, closed: ['2026-13-01'] }, 'schedule.closed[0]'],
      ['always', 'schedule'],
      [7, 'schedule'],
    ] as const)
      expect(refused(schedule)).toEqual([
        { from: 'device', key, message: expect.stringMatching(/^[a-zA-Z].{5,}/) },
      ]);
    expect(refused({ ...one, closed: many })).toMatchObject([{ message: 'must have at most 400 entries' }]);
    expect(deps.phase()).toBe('live');
    const tooLong = JSON.stringify({ version: 1, schedule: { ...one, closed: [...many, ...many, ...many] } });
    deps.deliver(DESIRED, tooLong);
    expect(deps.phase()).toBe('live');
  });
});
