import type { LaneOrders } from '../core/lane/settings.ts';
import type { Config, LaneConfig } from '../protocol/config.ts';

/** The part of a lane's configuration that can change while it runs. */
export function liveKeys({ source, targets, voice, echo, start, standbyAfter }: LaneConfig) {
  return { source, targets, voice, echo, start, standbyAfter };
}

/** The same as orders to the lane's core. */
export function ordersOf({
  source,
  targets,
  voice,
  echo,
  start,
  standbyAfter,
}: LaneConfig): Omit<LaneOrders, 'muted'> {
  return { source, targets, voice, echo, start, standbyAfterMs: standbyAfter * 1000 };
}

/** The top-level keys whose change needs a restart. */
export function restartKeys(running: Config, next: Config): string[] {
  const keys: string[] = (['device', 'mqtt', 'service'] as const).filter(
    (key) => JSON.stringify(running[key]) !== JSON.stringify(next[key]),
  );
  const frozen = (lanes: Config['lanes']): string =>
    JSON.stringify(lanes.map(({ id, capture, playback }) => ({ id, capture, playback })));
  if (frozen(running.lanes) !== frozen(next.lanes)) keys.push('lanes');
  return keys;
}

/** The configuration that is in force after what can change has changed. */
export function mergeRunning(running: Config, next: Config): Config {
  const lanes = running.lanes.map((lane) => {
    const newer = next.lanes.find(({ id }) => id === lane.id);
    return newer === undefined ? lane : { ...lane, ...liveKeys(newer) };
  });
  return { ...running, lanes, log: next.log };
}
