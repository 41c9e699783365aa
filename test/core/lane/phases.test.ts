import { describe, expect, it } from 'vitest';
import { isTransition, PHASE_NAMES, PHASES } from '../../../src/core/lane/phases.ts';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { World } from './world.ts';

/** One story for each step of the table; each ends with that step. */
const STORIES: Readonly<Record<string, (world: World) => void>> = {
  'idle > acquiring': (world) => world.start(),
  'idle > standby': (world) => {
    world.orders({ start: 'voice' });
    world.start();
  },
  'idle > closed': (world) => world.shutdown(),
  'idle > restarting': (world) => world.crash({ type: 'start' }),

  'standby > acquiring': (world) => world.goStandby().speak(2),
  'standby > idle': (world) => world.goStandby().stop(),
  'standby > closed': (world) => world.goStandby().shutdown(),

  'acquiring > connecting': (world) => world.goConnecting(),
  'acquiring > waiting': (world) => world.goAcquiring().deny(),
  'acquiring > parked': (world) => world.goAcquiring().deny({ final: true }),
  'acquiring > idle': (world) => world.goAcquiring().stop(),
  'acquiring > closed': (world) => world.goAcquiring().shutdown(),

  'connecting > configuring': (world) => world.goConfiguring(),
  'connecting > waiting': (world) => world.goConnecting().unreach(true),
  'connecting > parked': (world) => world.goConnecting().refuse({ status: 402 }),
  'connecting > idle': (world) => world.goConnecting().stop(),
  'connecting > closed': (world) => world.goConnecting().shutdown(),

  'configuring > live': (world) => world.goLive(),
  'configuring > waiting': (world) => world.goConfiguring().end(),
  'configuring > parked': (world) => world.goConfiguring().error({ code: 'VALIDATION_ERROR' }),
  'configuring > draining': (world) => {
    world.goLive().pass(3000);
    world.orders({ targets: ['fr'] });
    world.stop();
  },
  'configuring > idle': (world) => world.goConfiguring().stop(),
  'configuring > closed': (world) => world.goConfiguring().shutdown(),

  'live > configuring': (world) => {
    world.goLive().pass(3000);
    world.orders({ targets: ['fr'] });
  },
  'live > waiting': (world) => world.goLive().says({ message_type: 'session_revoked', data: {} }),
  'live > parked': (world) => world.goLive().error({ reason: 'intent_mismatch' }),
  'live > draining': (world) => world.goLive().stop(),
  'live > rolling': (world) => world.goRolling(),
  'live > standby': (world) => world.goStandby(),

  'rolling > live': (world) => world.goReady().hush(2),
  'rolling > acquiring': (world) => world.goRolling().end(1006, '', 1),
  'rolling > connecting': (world) => {
    world.goRolling().grant();
    world.end(1006, '', 1);
  },
  'rolling > configuring': (world) => {
    world.goRolling().grant();
    world.open();
    world.end(1006, '', 1);
  },
  'rolling > draining': (world) => world.goRolling().stop(),

  'draining > idle': (world) => world.goDraining().end(),
  'draining > closed': (world) => {
    world.goLive().shutdown();
    world.end();
  },

  'waiting > acquiring': (world) => {
    world.goWaiting();
    world.until(() => world.phase !== 'waiting', 2000);
  },
  'waiting > connecting': (world) => {
    world.goConnecting().unreach(false);
    world.until(() => world.phase !== 'waiting', 2000);
  },
  'waiting > idle': (world) => world.goWaiting().stop(),
  'waiting > closed': (world) => world.goWaiting().shutdown(),

  'standby > restarting': (world) => world.goStandby().crash(),
  'acquiring > restarting': (world) => world.goAcquiring().crash(),
  'connecting > restarting': (world) => world.goConnecting().crash(),
  'configuring > restarting': (world) => world.goConfiguring().crash(),
  'live > restarting': (world) => world.goLive().crash(),
  'rolling > restarting': (world) => world.goRolling().crash(),
  'draining > restarting': (world) => {
    world.goDraining().start();
    world.crash();
  },
  'waiting > restarting': (world) => world.goWaiting().crash(),
  'parked > restarting': (world) => world.goParked().crash(),
  'restarting > acquiring': (world) => {
    world.goRestarting();
    world.until(() => world.phase !== 'restarting', 2500);
  },
  'restarting > standby': (world) => {
    world.orders({ start: 'voice' });
    world.goAcquiring().crash();
    world.until(() => world.phase !== 'restarting', 2500);
  },
  'restarting > idle': (world) => world.goRestarting().stop(),
  'restarting > closed': (world) => world.goRestarting().shutdown(),

  'parked > acquiring': (world) => {
    world.goParked();
    world.until(() => world.phase !== 'parked', 400_000);
  },
  'parked > idle': (world) => world.goParked().stop(),
  'parked > closed': (world) => world.goParked().shutdown(),
};

const TABLE = PHASE_NAMES.flatMap((from) => PHASES[from].to.map((to) => `${from} > ${to}`));

describe('the table of phases', () => {
  it('has a story for each of its steps', () => {
    expect(Object.keys(STORIES).toSorted()).toEqual(TABLE.toSorted());
  });

  it.each(TABLE)('%s happens', (name) => {
    const world = new World();
    STORIES[name]?.(world);
    const { from, to } = world.walked.at(-1) ?? {};
    expect(`${from} > ${to}`).toBe(name);
    expect(world.phase).toBe(to);
  });

  it('allows its own steps and no other', () => {
    for (const from of PHASE_NAMES) {
      for (const to of PHASE_NAMES) expect(isTransition(from, to)).toBe(TABLE.includes(`${from} > ${to}`));
    }
  });

  it('leads from everywhere to the end, and from nowhere out of it', () => {
    for (const from of PHASE_NAMES) {
      const reached = new Set([from]);
      for (const phase of reached) for (const to of PHASES[phase].to) reached.add(to);
      expect(reached.has('closed')).toBe(true);
      expect(reached.has('live')).toBe(from !== 'closed');
    }
  });

  it('goes through idle from one session to the next, when a drained lane is wanted again', () => {
    const world = new World().goDraining();
    world.start();
    world.pass(LANE_DEFAULTS.drainMs);
    expect(world.walked.slice(-2)).toEqual([
      { from: 'draining', to: 'idle' },
      { from: 'idle', to: 'acquiring' },
    ]);
  });
});
