import type { Phase } from '../../../src/core/lane/phases.ts';
import { World } from './world.ts';

/** A world in each phase, as if by the shortest way there. */
export const WORLD_IN: Readonly<Record<Phase, () => World>> = {
  idle: () => new World(),
  acquiring: () => new World().goAcquiring(),
  connecting: () => new World().goConnecting(),
  configuring: () => new World().goConfiguring(),
  live: () => new World().goLive(),
  rolling: () => new World().goRolling(),
  standby: () => new World().goStandby(),
  draining: () => new World().goDraining(),
  waiting: () => new World().goWaiting(),
  parked: () => new World().goParked(),
  restarting: () => new World().goRestarting(),
  closed: () => new World().goClosed(),
};

/** The phases, and the situations in them that differ by what else is going on. */
export const SITUATIONS: Readonly<Record<string, () => World>> = {
  ...WORLD_IN,
  'rolling, connecting': () => {
    const world = new World().goRolling();
    world.grant();
    return world;
  },
  'rolling, configuring': () => {
    const world = new World().goRolling();
    world.grant();
    world.open();
    return world;
  },
  'rolling, ready': () => new World().goReady(),
  'live, retiring': () => new World().goRetiring(),
  'waiting, retiring': () => new World().goMakingRoom(),
  'live, changing its task': () => {
    const world = new World().goLive();
    world.pass(3000);
    world.orders({ targets: ['fr'] });
    return world;
  },
};

/** A world in that situation. */
export function situation(name: string): World {
  const build = SITUATIONS[name];
  if (build === undefined) throw new Error(`no situation is called ${name}`);
  return build();
}
