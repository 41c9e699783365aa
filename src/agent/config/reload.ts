import type { LaneOptions } from '../../core/lane/lane-options.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';

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

/** The top-level keys whose change needs a restart. */
export function restartKeys(running: Config, next: Config): string[] {
  const keys: string[] = (['device', 'screen', 'metrics', 'keys', 'service', 'audio'] as const).filter(
    (key) => JSON.stringify(running[key]) !== JSON.stringify(next[key]),
  );
  if (running.mqtt.prefix !== next.mqtt.prefix) keys.push('mqtt.prefix');
  if (running.log.journal !== next.log.journal) keys.push('log.journal');
  return keys;
}

/** The configuration in force after all live changes, apart from lanes and devices that change one by one. */
export function mergeRunning(running: Config, next: Config): Config {
  const lanes = running.lanes.map((lane) => {
    const newer = next.lanes.find(({ id }) => id === lane.id);
    if (newer === undefined) return lane;
    const playback = { ...lane.playback, volume: newer.playback.volume };
    return { ...lane, ...liveKeys(newer), offer: newer.offer, playback };
  });
  const { owner, conversation, schedule, budget, update, log } = next;
  // The topics stay the same until a restart.
  const mqtt = { ...next.mqtt, prefix: running.mqtt.prefix };
  return {
    ...running,
    lanes,
    mqtt,
    owner,
    conversation,
    schedule,
    budget,
    update,
    log: { ...log, journal: running.log.journal },
  };
}
