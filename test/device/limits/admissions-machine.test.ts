import { describe, expect, it } from 'vitest';
import type { Hold } from '../../../src/device/lane/state/lane-event.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import {
  type AdmissionsFacts,
  admissionsMachine,
  budgetReport,
  refusalOf,
  type SeenLane,
} from '../../../src/device/limits/admissions-machine.ts';
import type { BudgetDay } from '../../../src/device/limits/budget.ts';
import { openingDelayMs } from '../../../src/device/limits/schedule.ts';
import { asWall } from '../../../src/protocol/common/time.ts';
import { scheduleSchema } from '../../../src/protocol/config-hours.ts';
import { drive } from '../../machine/drive.ts';
import { LaneHarness } from '../lane/lane-harness.ts';

const SECOND = 1000;
const MIN = 60_000;
const HOUR = 60 * MIN;
const DAY = 24 * HOUR;
/** A Thursday, at nine UTC. */
const NINE = Date.UTC(2026, 0, 15, 9);
const DEVICE = 'dragoman/v1/museum/kiosk-01';
const DELAY = openingDelayMs(DEVICE);
const EVERY_DAY = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const hours = (from: string, to: string) =>
  scheduleSchema.parse({ timeZone: 'UTC', open: [{ days: EVERY_DAY, from, to }] });

/** A lane whose stream has just opened, at the driver's first moment. */
const NOW = 1_000_000;
const LIVE: LaneState = (() => {
  const { state } = new LaneHarness().goLive();
  if (state.session.kind !== 'live') throw new Error('the lane is not live');
  const { session, counts } = state;
  return {
    ...state,
    counts: { ...counts, streamMs: 0 },
    session: { ...session, stream: { ...session.stream, openedAt: NOW } },
  };
})();
const IDLE: LaneState = new LaneHarness().state;
const ended = (streamMs: number): LaneState => ({ ...IDLE, counts: { ...IDLE.counts, streamMs } });

type Limits = AdmissionsFacts['config'];
const FREE: Limits = { schedule: null, budget: { minutesPerDay: null } };
const perDay = (minutesPerDay: number | null): Limits => ({ schedule: null, budget: { minutesPerDay } });
const open = (from: string, to: string): Limits => ({ ...FREE, schedule: hours(from, to) });

/** A device whose lanes take each hold at once. */
function device(
  config: Limits,
  {
    lanes = { main: IDLE },
    kept = [],
    wall = NINE,
    ...more
  }: Partial<Omit<AdmissionsFacts, 'lanes' | 'config'>> & {
    lanes?: Readonly<Record<string, LaneState>>;
    kept?: readonly BudgetDay[];
    wall?: number | null;
  } = {},
) {
  let states = lanes;
  const seen = (): readonly SeenLane[] => Object.entries(states).map(([id, state]) => ({ id, state }));
  const facts = { lanes: seen(), config, timeZone: () => 'UTC', machineDay: undefined, ...more };
  const driver = drive(admissionsMachine(DEVICE, kept, NOW), facts, { now: NOW, wall });
  const become = (next: Readonly<Record<string, LaneState>>): void => {
    states = { ...states, ...next };
    driver.see({ lanes: seen() });
  };
  driver.answer((effect) => {
    if (effect.type === 'hold') {
      const state = states[effect.lane];
      if (state !== undefined) become({ [effect.lane]: { ...state, hold: effect.hold } });
    }
    return null;
  });
  return Object.assign(driver, {
    become,
    holds: (): [string, Hold | null, number][] =>
      driver.all('hold').map(({ lane, hold, at }) => [lane, hold, at - NOW]),
    refusal: (isOpening = false, config_ = config) =>
      refusalOf(driver.state, ['main'], isOpening, {
        ...facts,
        lanes: seen(),
        config: config_,
        now: driver.now,
        wall: wall === null ? null : asWall(wall + driver.now - NOW),
      }),
  });
}

describe('the opening hours', () => {
  it('hold a lane from the closing time to the opening time and its delay, to the millisecond', () => {
    const driver = device(open('08:00', '09:10')).post({ type: 'review' }).pass(DAY);
    expect(driver.all('hold').map(({ hold, at }) => [hold, at - NOW])).toEqual([
      ['closed', 10 * MIN],
      [null, 23 * HOUR + DELAY],
    ]);
    expect(driver.all('refresh').map(({ at }) => at - NOW)).toEqual([0, 10 * MIN, 23 * HOUR + DELAY]);
  });

  it('are looked at twice a minute at most, and never without a schedule or budget', () => {
    const driver = device(open('08:00', '18:00')).post({ type: 'review' });
    for (let count = 1; count <= 10; count++) expect(driver.wake().now).toBe(NOW + count * 30 * SECOND);
    driver.see({ config: FREE }).wake();
    expect(driver.state.reviewAt).toBeNull();
  });

  it('are open while the clock is not set, and count soon after it is set or jumps', () => {
    const driver = device(open('20:00', '21:00'), { wall: null });
    driver.post({ type: 'open', lanes: ['main'], until: asWall(Date.UTC(2020, 0, 1)) });
    expect(driver.pass(HOUR).all('hold')).toEqual([]);
    driver.setWall(NINE).pass(30 * SECOND);
    expect(driver.holds()).toEqual([['main', 'closed', HOUR + 30 * SECOND]]);
    driver.setWall(NINE + 11 * HOUR + DELAY).pass(30 * SECOND);
    expect(driver.holds().at(-1)).toEqual(['main', null, HOUR + MIN]);
  });

  it('are refused with their end, unless the command opens the lane', () => {
    const driver = device(open('10:00', '12:00')).post({ type: 'review' });
    const opensAt = new Date(NINE + HOUR + DELAY).toISOString();
    expect(driver.refusal()).toEqual({
      code: 'closed',
      message: `it is outside the opening hours of the schedule until ${opensAt}; give "until" with a time to open it anyway`,
    });
    expect(driver.refusal(true)).toBeNull();
  });

  it('are judged as they are at the refusal, and not as at the last look', () => {
    const driver = device(FREE).post({ type: 'review' });
    expect(driver.refusal()).toBeNull();
    expect(driver.refusal(false, open('10:00', '12:00'))).toMatchObject({ code: 'closed' });
  });
});

describe('a lane opened by command', () => {
  const TEN = asWall(NINE + HOUR);

  it('runs until its time, alone, and the schedule applies again', () => {
    const driver = device(open('12:00', '13:00'), { lanes: { main: IDLE, other: IDLE } });
    driver.post({ type: 'review' }, { type: 'open', lanes: ['main'], until: TEN }).pass(HOUR - 1);
    expect(driver.holds()).toEqual([
      ['main', 'closed', 0],
      ['other', 'closed', 0],
      ['main', null, 0],
    ]);
    expect(driver.state.admissions['other']?.until).toBe(NINE + 3 * HOUR + DELAY);
    driver.pass(1);
    expect(driver.holds().at(-1)).toEqual(['main', 'closed', HOUR]);
  });

  it('stays open beyond the closing time', () => {
    const driver = device(open('08:00', '09:10'));
    driver.post({ type: 'open', lanes: ['main'], until: asWall(NINE + 20 * MIN) }).pass(20 * MIN - 1);
    expect(driver.holds()).toEqual([]);
    driver.pass(1);
    expect(driver.holds()).toEqual([['main', 'closed', 20 * MIN]]);
  });

  it('closes at the stop, and no other lane does', () => {
    const driver = device(open('12:00', '13:00'), { lanes: { main: IDLE, other: IDLE } });
    driver.post({ type: 'open', lanes: ['main', 'other'], until: TEN });
    driver.post({ type: 'stopped', lanes: ['main'] });
    expect(driver.holds()).toEqual([['main', 'closed', 0]]);
  });
});

describe("the day's budget", () => {
  it('is warned of at 80 %, held at 100 %, and new with the local day', () => {
    const driver = device(perDay(20), { lanes: { main: LIVE }, timeZone: () => 'America/New_York' });
    driver.post({ type: 'review' }).pass(20 * MIN - 1);
    expect(driver.all('tell')).toEqual([
      { type: 'tell', at: NOW + 16 * MIN, detail: { used_minutes: 16, minutes_per_day: 20, percent: 80 } },
    ]);
    expect(driver.holds()).toEqual([]);
    driver.pass(1);
    expect(driver.holds()).toEqual([['main', 'budget', 20 * MIN]]);
    // The day ends at five UTC.
    expect(driver.state.admissions['main']?.until).toBe(NINE + 20 * HOUR);
    driver.become({ main: { ...ended(20 * MIN), hold: 'budget' } });
    driver.pass(20 * HOUR - 20 * MIN - 1);
    expect(driver.holds()).toHaveLength(1);
    driver.pass(1);
    expect(driver.holds().at(-1)).toEqual(['main', null, 20 * HOUR]);
    expect(driver.all('tell')).toHaveLength(1);
  });

  it('is shared by all open streams: two use it in half the time', () => {
    const driver = device(perDay(10), { lanes: { main: LIVE, other: LIVE } });
    driver.post({ type: 'review' }).pass(5 * MIN);
    expect(driver.holds()).toEqual([
      ['main', 'budget', 5 * MIN],
      ['other', 'budget', 5 * MIN],
    ]);
    expect(driver.all('tell').map(({ at }) => at - NOW)).toEqual([4 * MIN]);
  });

  it('ends a hold when it is raised or removed, and warns again for a new limit', () => {
    const driver = device(FREE, { lanes: { main: LIVE } })
      .post({ type: 'review' })
      .pass(12 * MIN);
    driver.see({ config: perDay(10) }).post({ type: 'review' });
    driver.see({ config: perDay(14) }).post({ type: 'review' });
    driver.see({ config: perDay(10) }).post({ type: 'review' });
    driver.see({ config: FREE }).post({ type: 'review' });
    expect(driver.holds().map(([, hold]) => hold)).toEqual(['budget', null, 'budget', null]);
    expect(driver.all('tell').map(({ detail }) => detail.minutes_per_day)).toEqual([10, 14, 10]);
  });

  it('counts each stream once, also after a lane has forgotten its last one', () => {
    const driver = device(perDay(100), { lanes: { main: LIVE } })
      .post({ type: 'review' })
      .pass(10 * MIN);
    driver.become({ main: ended(0) });
    driver.post({ type: 'review' });
    expect(driver.state.use.today.usedMs).toBe(10 * MIN);
    driver.become({ main: ended(3 * MIN) });
    driver.post({ type: 'review' }, { type: 'review' });
    expect(driver.state.use.today.usedMs).toBe(13 * MIN);
  });

  it('loses no use when a step throws', () => {
    const driver = device(perDay(100), { lanes: { main: LIVE } })
      .post({ type: 'review' })
      .pass(MIN);
    driver.see({
      timeZone: () => {
        throw new Error('on purpose');
      },
    });
    driver.become({ main: ended(5 * MIN) });
    expect(() => driver.post({ type: 'review' })).toThrow('on purpose');
    driver.see({ timeZone: () => 'UTC' }).post({ type: 'review' });
    expect(driver.state.use.today.usedMs).toBe(5 * MIN);
  });

  it('is refused when it has been used up since the last look', () => {
    const driver = device(perDay(10)).post({ type: 'review' });
    expect(driver.refusal()).toBeNull();
    driver.become({ main: ended(10 * MIN) });
    expect(driver.refusal(true)).toEqual({
      code: 'budget',
      message:
        'the 10 minutes of the day are used up (budget.minutesPerDay): no session begins until 2026-01-16T00:00:00.000Z',
    });
  });

  it('is reported in whole minutes, and each of them is news', () => {
    const driver = device(perDay(20), { lanes: { main: LIVE } })
      .post({ type: 'review' })
      .pass(3 * MIN);
    expect(budgetReport(driver.state, perDay(20))).toEqual({ used_minutes: 3, minutes_per_day: 20 });
    expect(budgetReport(driver.state, FREE)).toBeNull();
    expect(driver.all('refresh').map(({ at }) => at - NOW)).toEqual([0, MIN, 2 * MIN, 3 * MIN]);
    driver.see({ config: perDay(30) }).post({ type: 'review' });
    expect(driver.all('refresh')).toHaveLength(5);
  });
});

describe('the saved use', () => {
  const kept = (usedMs: number, toldFor: number | null = null): BudgetDay[] => [
    { day: '2026-01-15', usedMs, toldFor },
  ];

  it('counts on, with the warning', () => {
    const driver = device(perDay(10), { lanes: { main: LIVE }, kept: kept(9 * MIN, 10) });
    driver.post({ type: 'review' }).pass(MIN);
    expect(driver.holds()).toEqual([['main', 'budget', MIN]]);
    expect(driver.all('tell')).toEqual([]);
  });

  it('is added when the disk delivers it late, and saved with it', () => {
    const driver = device(perDay(100), { lanes: { main: LIVE } })
      .post({ type: 'review' })
      .pass(MIN);
    driver.fresh();
    driver.post({ type: 'late', days: kept(5 * MIN) });
    expect(driver.fresh()).toEqual([{ type: 'keep' }]);
    expect(driver.state.use.today.usedMs).toBe(6 * MIN);
  });

  it('is at most two minutes old, and written no more often', () => {
    const driver = device(perDay(1000), { lanes: { main: LIVE } })
      .post({ type: 'review' })
      .pass(20 * MIN);
    expect(driver.all('keep').map(({ at }) => (at - NOW) / MIN)).toEqual([
      2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
    ]);
  });

  it('is complete at the end, and written only if it has changed', () => {
    const driver = device(perDay(100), { lanes: { main: LIVE } })
      .post({ type: 'review' })
      .pass(3 * MIN);
    expect(driver.post({ type: 'end' }).all('keep')).toHaveLength(2);
    expect(driver.post({ type: 'end' }).all('keep')).toHaveLength(2);
  });

  it('is not written without a limit', () => {
    const driver = device(FREE, { lanes: { main: LIVE } })
      .post({ type: 'review' })
      .pass(HOUR);
    expect(driver.post({ type: 'end' }).all('keep')).toEqual([]);
  });
});

describe('the time zone of the days', () => {
  it('is UTC when it is unknown, with one warning', () => {
    const driver = device(perDay(10), { timeZone: () => null })
      .post({ type: 'review' })
      .pass(HOUR);
    expect(driver.all('warn_of_zone')).toHaveLength(1);
    expect(driver.refusal()).toBeNull();
  });

  it.each([
    ['there is a schedule', { ...perDay(10), schedule: hours('08:00', '20:00') }, null],
    ['there is no limit', FREE, null],
    ['the machine knows it', perDay(10), 'America/New_York'],
  ])('is not warned of when %s', (_, config, zone) => {
    const driver = device(config, { timeZone: () => zone }).post({ type: 'review' });
    expect(driver.all('warn_of_zone')).toEqual([]);
  });

  it("is not asked for without a limit, when the machine's own day counts", () => {
    const asked: string[] = [];
    const timeZone = (): string => {
      asked.push('zone');
      return 'America/New_York';
    };
    const machineDay = (wall: number): number => Math.floor((wall - 5 * HOUR) / DAY);
    const driver = device(FREE, { lanes: { main: LIVE }, timeZone, machineDay });
    driver.post({ type: 'review' }).pass(12 * MIN);
    expect(asked).toEqual([]);
    driver.see({ config: perDay(10) }).post({ type: 'review' });
    expect(driver.holds()).toEqual([['main', 'budget', 12 * MIN]]);
    expect(driver.state.admissions['main']?.until).toBe(NINE + 20 * HOUR);
  });
});
