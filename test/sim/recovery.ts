/** How long the lane takes to stream again when a fault is over. */
import type { Happening } from './swarm.ts';
import type { World } from './world.ts';

/** Faults that began longer ago than this before the stream ended had nothing to do with it. */
const BLAMED_MS = 60_000;

/**
 * From the end of what ended the stream to the next time that the lane streams. It is counted only in seeds with one kind
 * of fault, so that each kind answers for itself.
 */
export function followRecovery(world: World, happenings: Happening[], worst: Record<string, number>): void {
  let lostAt = 0;
  /** It sleeps, or nobody wants it: that is no failure. */
  let atRest = false;
  world.onTurn((now, streams) => {
    if (!streams) {
      lostAt = now;
      const phase = world.device.lane?.phase;
      atRest = phase === 'standby' || phase === 'draining' || phase === 'idle';
      return;
    }
    if (atRest) return;
    const about = happenings.filter(({ begun, over }) => begun <= now && over > lostAt - BLAMED_MS);
    happenings.splice(0, happenings.length, ...happenings.filter(({ over }) => over > now - BLAMED_MS));
    const [first] = about;
    if (first === undefined || about.some(({ kind }) => kind !== first.kind)) return;
    const overAt = about.reduce((latest, { over }) => Math.max(latest, over), 0);
    if (overAt > now || overAt < lostAt - BLAMED_MS) return;
    const tookS = Math.round((now - Math.max(overAt, lostAt)) / 100) / 10;
    worst[first.kind] = Math.max(worst[first.kind] ?? 0, tookS);
  });
}
