import type { Config } from '../../protocol/config.ts';
import { liveKeys } from '../lane/runner/configured-options.ts';

/** The top-level keys whose change needs a restart. */
export function restartKeys(running: Config, next: Config): string[] {
  const keys: string[] = (['device', 'metrics', 'keys', 'service', 'audio'] as const).filter(
    (key) => JSON.stringify(running[key]) !== JSON.stringify(next[key]),
  );
  const { operator } = running.screen;
  if (JSON.stringify(running.screen) !== JSON.stringify({ ...next.screen, operator })) keys.push('screen');
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
  const { owner, conversation, help, phrases, schedule, budget, update, log } = next;
  // The topics stay the same until a restart.
  const mqtt = { ...next.mqtt, prefix: running.mqtt.prefix };
  return {
    ...running,
    lanes,
    mqtt,
    owner,
    conversation,
    help,
    phrases,
    schedule,
    budget,
    update,
    log: { ...log, journal: running.log.journal },
    screen: { ...running.screen, operator: next.screen.operator },
  };
}
