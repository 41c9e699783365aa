import { parseDeviceName } from '../../../adapters/audio/cards/device-name.ts';
import type { Config } from '../../../protocol/config.ts';

/** An ALSA device of a lane; `card` is null if the device's name does not give one. */
export interface WantedDevice {
  readonly key: string;
  readonly device: string;
  readonly card: string | number | null;
  readonly direction: 'capture' | 'playback';
}

/** The ALSA devices of the lanes. */
export function wantedDevices(config: Config): WantedDevice[] {
  return config.lanes.flatMap((lane, index) =>
    (['capture', 'playback'] as const).flatMap((direction) => {
      const part = lane[direction];
      if (!('device' in part)) return [];
      const { device } = part;
      const card = parseDeviceName(device)?.card ?? null;
      return [{ key: `lanes[${index}].${direction}.device`, device, card, direction }];
    }),
  );
}
