import type { Config, LaneConfig } from '../../protocol/config.ts';
import type { AgentDeps } from '../deps.ts';
import type { Defects } from '../guard/defects.ts';
import type { LaneRunner } from '../lane/lane-runner.ts';

/** Which of a lane's devices a configuration replaces. */
export interface DeviceChange {
  readonly lane: LaneConfig;
  readonly capture: boolean;
  readonly playback: boolean;
}

/**
 * The lanes whose devices can be replaced while they run. The stream has one sample rate, and a recording instead of a
 * loudspeaker another way of playing: those need a restart.
 */
export function deviceChanges(running: Config, next: Config): DeviceChange[] {
  return running.lanes.flatMap((lane): DeviceChange[] => {
    const newer = next.lanes.find(({ id }) => id === lane.id);
    if (newer === undefined) return [];
    const canListen = newer.capture.sampleRate === lane.capture.sampleRate;
    const canPlay =
      (newer.playback.driver === 'file') === (lane.playback.driver === 'file') &&
      newer.playback.normalize === lane.playback.normalize;
    const change = {
      lane: newer,
      capture: canListen && !isSame(lane.capture, newer.capture),
      playback: canPlay && !isSame(lane.playback, { ...newer.playback, volume: lane.playback.volume }),
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

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

interface RenewalParts extends Pick<AgentDeps, 'log' | 'openAudio'> {
  lane(id: string): LaneRunner | undefined;
  readonly defects: Defects;
}

/** Gives a running lane its newly configured devices. */
export function renewDevices({ lane, capture, playback }: DeviceChange, parts: RenewalParts): void {
  parts.log.info({ lane: lane.id, capture, playback }, 'the lane uses its newly configured devices');
  const { openCapture, openPlayback } = parts.openAudio(lane);
  const devices = { ...(capture && { openCapture }), ...(playback && { openPlayback }) };
  void parts
    .lane(lane.id)
    ?.renew(devices)
    .catch((error: unknown) => parts.defects('new devices', error));
}
