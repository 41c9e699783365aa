import type { Config, LaneConfig } from '../../../protocol/config.ts';

/** The devices of a lane that a new configuration replaces. */
export interface DeviceChange {
  readonly lane: LaneConfig;
  readonly capture: boolean;
  readonly playback: boolean;
}

/**
 * Options that cannot change while a lane exists. The stream has one sample rate, a recording plays differently from a
 * loudspeaker, and the lanes of a room are connected to each other. A headset is watched for the life of its lane.
 */
function fixedParts({ lanes, rooms }: Config, id: string): string {
  const room = rooms.find((one) => one.lanes.includes(id));
  const members = lanes.filter((lane) => lane.id === id || room?.lanes.includes(lane.id));
  return JSON.stringify([
    room?.lanes,
    members.map(({ id, capture, playback, headset, rolloverLead }) => ({
      id,
      rolloverLead,
      sampleRate: capture.sampleRate,
      isRecording: playback.driver === 'file',
      normalize: playback.normalize,
      headset,
    })),
  ]);
}

/** The lanes that a configuration removes, or that must be recreated for it. */
export function endingLanes(running: Config, next: Config): string[] {
  const ids = running.lanes.map(({ id }) => id);
  return ids.filter(
    (id) => !next.lanes.some((lane) => lane.id === id) || fixedParts(running, id) !== fixedParts(next, id),
  );
}

/** The lanes that a configuration adds. */
export function newLanes(running: Config, next: Config): LaneConfig[] {
  return next.lanes.filter(({ id }) => !running.lanes.some((lane) => lane.id === id));
}

/** The lanes whose devices can be replaced while they run. */
export function deviceChanges(running: Config, next: Config): DeviceChange[] {
  const ending = endingLanes(running, next);
  return running.lanes.flatMap((lane): DeviceChange[] => {
    const newer = next.lanes.find(({ id }) => id === lane.id);
    if (newer === undefined || ending.includes(lane.id)) return [];
    const change = {
      lane: newer,
      capture: !isSame(lane.capture, newer.capture),
      playback: !isSame(lane.playback, { ...newer.playback, volume: lane.playback.volume }),
    };
    return change.capture || change.playback ? [change] : [];
  });
}

/** The configuration with the new devices of one lane. */
export function withDevices(config: Config, { lane, capture, playback }: DeviceChange): Config {
  const lanes = config.lanes.map((one) =>
    one.id === lane.id
      ? {
          ...one,
          ...(capture && { capture: lane.capture }),
          ...(playback && { playback: { ...lane.playback, volume: one.playback.volume } }),
        }
      : one,
  );
  return { ...config, lanes };
}

export function withoutLane(config: Config, id: string): Config {
  return { ...config, lanes: config.lanes.filter((lane) => lane.id !== id) };
}

/** The configuration with further lanes, in the order of `next`, and with its rooms. */
export function withLanes(config: Config, more: readonly LaneConfig[], next: Config): Config {
  const all = [...config.lanes, ...more];
  const lanes = next.lanes.flatMap(({ id }) => all.find((lane) => lane.id === id) ?? []);
  return { ...config, lanes, rooms: next.rooms };
}

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);
