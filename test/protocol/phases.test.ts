import { describe, expect, it } from 'vitest';
import { isTransition, PHASE_NAMES, PHASES } from '../../src/protocol/phases.ts';
import { LaneHarness } from '../device/lane/lane-harness.ts';
import { limit, refused } from '../service-events.ts';

/** One story for each transition of the table; each ends with it. */
const STORIES: Readonly<Record<string, (lane: LaneHarness) => void>> = {
  'idle > acquiring': (lane) => lane.start(),
  'idle > standby': (lane) => {
    lane.options({ start: 'voice' });
    lane.start();
  },
  'idle > closed': (lane) => lane.shutdown(),
  'idle > restarting': (lane) => lane.crash({ type: 'start' }),

  'standby > acquiring': (lane) => lane.goStandby().speak(2),
  'standby > idle': (lane) => lane.goStandby().stop(),
  'standby > closed': (lane) => lane.goStandby().shutdown(),

  'acquiring > connecting': (lane) => lane.goConnecting(),
  'acquiring > waiting': (lane) => lane.goAcquiring().deny(),
  'acquiring > parked': (lane) => lane.goAcquiring().deny({ final: true }),
  'acquiring > idle': (lane) => lane.goAcquiring().stop(),
  'acquiring > closed': (lane) => lane.goAcquiring().shutdown(),

  'connecting > configuring': (lane) => lane.goConfiguring(),
  'connecting > waiting': (lane) => lane.goConnecting().unreach(true),
  'connecting > parked': (lane) => lane.goConnecting().refuse('insufficient_balance', { status: 402 }),
  'connecting > idle': (lane) => lane.goConnecting().stop(),
  'connecting > closed': (lane) => lane.goConnecting().shutdown(),

  'configuring > live': (lane) => lane.goLive(),
  'configuring > waiting': (lane) => lane.goConfiguring().end(),
  'configuring > parked': (lane) => lane.goConfiguring().says(refused('insufficient_balance')),
  'configuring > draining': (lane) => {
    lane.goLive().pass(3000);
    lane.options({ targets: ['fr'] });
    lane.stop();
  },
  'configuring > idle': (lane) => lane.goConfiguring().stop(),
  'configuring > closed': (lane) => lane.goConfiguring().shutdown(),

  'live > configuring': (lane) => {
    lane.goLive().pass(3000);
    lane.options({ targets: ['fr'] });
  },
  'live > waiting': (lane) => lane.goLive().says(limit('revoked')),
  'live > parked': (lane) => lane.goLive().says(refused('insufficient_balance')),
  'live > draining': (lane) => lane.goLive().stop(),
  'live > rolling': (lane) => lane.goRolling(),
  'live > standby': (lane) => lane.goStandby(),

  'rolling > live': (lane) => lane.goReady().hush(2),
  'rolling > acquiring': (lane) => lane.goRolling().end('cut', {}, 1),
  'rolling > connecting': (lane) => {
    lane.goRolling().grant();
    lane.end('cut', {}, 1);
  },
  'rolling > configuring': (lane) => {
    lane.goRolling().grant();
    lane.open();
    lane.end('cut', {}, 1);
  },
  'rolling > draining': (lane) => lane.goRolling().stop(),

  'draining > idle': (lane) => lane.goDraining().end(),
  'draining > closed': (lane) => {
    lane.goLive().shutdown();
    lane.end();
  },

  'waiting > acquiring': (lane) => {
    lane.goWaiting();
    lane.until(() => lane.phase !== 'waiting', 2000);
  },
  'waiting > connecting': (lane) => {
    lane.goConnecting().unreach(false);
    lane.until(() => lane.phase !== 'waiting', 2000);
  },
  'waiting > idle': (lane) => lane.goWaiting().stop(),
  'waiting > closed': (lane) => lane.goWaiting().shutdown(),

  'standby > restarting': (lane) => lane.goStandby().crash(),
  'acquiring > restarting': (lane) => lane.goAcquiring().crash(),
  'connecting > restarting': (lane) => lane.goConnecting().crash(),
  'configuring > restarting': (lane) => lane.goConfiguring().crash(),
  'live > restarting': (lane) => lane.goLive().crash(),
  'rolling > restarting': (lane) => lane.goRolling().crash(),
  'draining > restarting': (lane) => lane.goDraining().crash({ type: 'start' }),
  'waiting > restarting': (lane) => lane.goWaiting().crash(),
  'parked > restarting': (lane) => lane.goParked().crash(),
  'restarting > acquiring': (lane) => {
    lane.goRestarting();
    lane.until(() => lane.phase !== 'restarting', 2500);
  },
  'restarting > standby': (lane) => {
    lane.options({ start: 'voice' });
    lane.goAcquiring().crash();
    lane.until(() => lane.phase !== 'restarting', 2500);
  },
  'restarting > idle': (lane) => lane.goRestarting().stop(),
  'restarting > closed': (lane) => lane.goRestarting().shutdown(),

  'parked > acquiring': (lane) => {
    lane.goParked();
    lane.until(() => lane.phase !== 'parked', 400_000);
  },
  'parked > connecting': (lane) => {
    lane.goAcquiring().deny({ final: true });
    lane.grant();
  },
  'parked > idle': (lane) => lane.goParked().stop(),
  'parked > closed': (lane) => lane.goParked().shutdown(),
};

const TABLE = PHASE_NAMES.flatMap((from) => PHASES[from].to.map((to) => `${from} > ${to}`));

describe('the table of phases', () => {
  it('has a story for each transition', () => {
    expect(Object.keys(STORIES).toSorted()).toEqual(TABLE.toSorted());
  });

  it.each(TABLE)('%s happens', (name) => {
    const lane = new LaneHarness();
    STORIES[name]?.(lane);
    const { from, to } = lane.walked.at(-1) ?? {};
    expect(`${from} > ${to}`).toBe(name);
    expect(lane.phase).toBe(to);
  });

  it('allows its own transitions and no others', () => {
    for (const from of PHASE_NAMES) {
      for (const to of PHASE_NAMES) expect(isTransition(from, to)).toBe(TABLE.includes(`${from} > ${to}`));
    }
  });

  it('leads from every phase to `closed`, and from there to none', () => {
    for (const from of PHASE_NAMES) {
      const reached = new Set([from]);
      for (const phase of reached) for (const to of PHASES[phase].to) reached.add(to);
      expect(reached.has('closed')).toBe(true);
      expect(reached.has('live')).toBe(from !== 'closed');
    }
  });

  it('goes through idle from one session to the next when a drained lane was started again', () => {
    const lane = new LaneHarness().goDraining();
    lane.start();
    expect(lane.walked.slice(-2)).toEqual([
      { from: 'draining', to: 'idle' },
      { from: 'idle', to: 'acquiring' },
    ]);
  });
});
