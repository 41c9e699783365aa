/** The setup that a device granted: `arecord -v` and `aplay -v` print it on standard error after opening. */
export interface Setup {
  readonly rateHz: number;
  readonly channels: number;
  readonly periodFrames: number;
  readonly bufferFrames: number;
}

export interface SetupReader {
  /** @returns the setup when this line completes it, but only once */
  read(line: string): Setup | null;
  /** Whether the lines so far name a sound server as the device. */
  readonly isServer: boolean;
}

/** ALSA's name for a device of a sound server, preceded by `Slave: ` when ALSA converts. */
const SERVER = /^(?:Slave: )?ALSA <-> (?:PulseAudio|PipeWire|JACK)\b/;

const FIELD = /^(rate|channels|period_size|buffer_size)\s*:\s*(\d+)/;

/** Reads the first setup of a dump, which is the device's own; the setups of its slaves follow. */
export function createSetupReader(): SetupReader {
  const fields = new Map<string, number>();
  let done = false;
  let isServer = false;
  return {
    get isServer() {
      return isServer;
    },
    read(line) {
      isServer ||= SERVER.test(line);
      const match = FIELD.exec(line);
      if (done || match === null) return null;
      const [, name = '', value = ''] = match;
      fields.set(name, Number(value));
      const rateHz = fields.get('rate');
      const channels = fields.get('channels');
      const periodFrames = fields.get('period_size');
      const bufferFrames = fields.get('buffer_size');
      if (!rateHz || !channels || !periodFrames || !bufferFrames) return null;
      done = true;
      return { rateHz, channels, periodFrames, bufferFrames };
    },
  };
}
