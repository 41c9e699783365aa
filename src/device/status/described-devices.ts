import type { LaneConfig } from '../../protocol/config.ts';

/** The configured sound devices of a lane, for its state. */
export function describeDevices(lane: LaneConfig | undefined): {
  capture: string;
  playback: string;
} {
  if (lane === undefined) return { capture: 'none', playback: 'none' };
  const name = (device: LaneConfig['capture'] | LaneConfig['playback']): string => {
    switch (device.driver) {
      case 'file':
        return `file:${device.path}`;
      case 'command':
        // Arguments may be confidential.
        return `command:${device.command[0] ?? ''}`;
      case 'addon':
        return `addon:${device.device}`;
      case 'alsa':
        return device.device;
    }
  };
  return { capture: name(lane.capture), playback: name(lane.playback) };
}
