import type { Phase } from '../../../src/protocol/phases.ts';
import { LaneHarness } from './lane-harness.ts';

/** A world in each phase, reached by the shortest way. */
export const LANE_IN: Readonly<Record<Phase, () => LaneHarness>> = {
  idle: () => new LaneHarness(),
  acquiring: () => new LaneHarness().goAcquiring(),
  connecting: () => new LaneHarness().goConnecting(),
  configuring: () => new LaneHarness().goConfiguring(),
  live: () => new LaneHarness().goLive(),
  rolling: () => new LaneHarness().goRolling(),
  standby: () => new LaneHarness().goStandby(),
  draining: () => new LaneHarness().goDraining(),
  waiting: () => new LaneHarness().goWaiting(),
  parked: () => new LaneHarness().goParked(),
  restarting: () => new LaneHarness().goRestarting(),
  closed: () => new LaneHarness().goClosed(),
};

/** The phases, and situations within them that differ by other activities. */
export const SITUATIONS: Readonly<Record<string, () => LaneHarness>> = {
  ...LANE_IN,
  'rolling, connecting': () => {
    const lane = new LaneHarness().goRolling();
    lane.grant();
    return lane;
  },
  'rolling, configuring': () => {
    const lane = new LaneHarness().goRolling();
    lane.grant();
    lane.open();
    return lane;
  },
  'rolling, ready': () => new LaneHarness().goReady(),
  'live, old session': () => new LaneHarness().goOldSession(),
  'waiting, old session': () => new LaneHarness().goMakingRoom(),
  'live, changing its task': () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    lane.options({ targets: ['fr'] });
    return lane;
  },
};

/** A world in that situation. */
export function situation(name: string): LaneHarness {
  const build = SITUATIONS[name];
  if (build === undefined) throw new Error(`no situation is called ${name}`);
  return build();
}
