import { parseDeviceName } from '../../../adapters/audio/cards/device-name.ts';
import type { Config } from '../../../protocol/config.ts';
import type { HeadsetConfig } from '../../../protocol/config-sound.ts';

/** An ALSA device of a lane; `card` is null if the device's name does not give one. */
export interface WantedDevice {
  readonly key: string;
  readonly device: string;
  readonly card: string | number | null;
  readonly direction: 'capture' | 'playback';
}

/** The ALSA devices of the lanes. */
export function wantedDevices(config: Config): WantedDevice[] {
  const seconds = config.lanes.flatMap(({ playback }, index) => {
    const device = 'also' in playback ? playback.also : null;
    if (device === null) return [];
    const card = parseDeviceName(device)?.card ?? null;
    return [{ key: `lanes[${index}].playback.also`, device, card, direction: 'playback' as const }];
  });
  const main = config.lanes.flatMap((lane, index) =>
    (['capture', 'playback', 'headset'] as const).flatMap((end): WantedDevice[] => {
      const part = lane[end];
      if (part === null || !('device' in part)) return [];
      const { device } = part;
      const card = parseDeviceName(device)?.card ?? null;
      const direction = end === 'capture' ? 'capture' : 'playback';
      return [{ key: `lanes[${index}].${end}.device`, device, card, direction }];
    }),
  );
  return [...main, ...seconds];
}

/** The headsets of the lanes. */
export function headsetsOf({ lanes }: Config): HeadsetConfig[] {
  return lanes.flatMap(({ headset }) => headset ?? []);
}
