import type { LaneConfig } from '../../../protocol/config.ts';
import type { LaneOptions } from '../state/lane-options.ts';

/** The keys of a lane's configuration that can change while it runs. */
export function liveKeys({
  source,
  targets,
  voice,
  echo,
  start,
  standbyAfter,
  earcons,
  bargeIn,
  twoWay,
  pushToTalk,
}: LaneConfig) {
  return { source, targets, voice, echo, start, standbyAfter, earcons, bargeIn, twoWay, pushToTalk };
}

/** The live keys as options of the lane's core. */
export function optionsOf(lane: LaneConfig): Omit<LaneOptions, 'muted' | 'volume'> {
  const { standbyAfter, earcons, ...same } = liveKeys(lane);
  return {
    ...same,
    standbyAfterMs: standbyAfter * 1000,
    // A recording must contain only the service's speech.
    earcons: earcons ?? lane.playback.driver !== 'file',
  };
}

/**
 * The options that a configuration changes when it is read again: only keys with a new value. A value set by command
 * stays until its own key changes.
 */
export function optionsAgain(running: LaneConfig | undefined, next: LaneConfig): Partial<LaneOptions> {
  const after = configured(next);
  if (running === undefined) return after;
  const before: Readonly<Record<string, unknown>> = configured(running);
  const changed = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]),
  );
  return Object.fromEntries(changed);
}

function configured(lane: LaneConfig): Omit<LaneOptions, 'muted'> {
  return { ...optionsOf(lane), volume: lane.playback.volume };
}
