import { readFileSync } from 'node:fs';
import { USB_LOUDSPEAKER } from '../machine.ts';
import { samplesOfUsb } from '../usb-sound.ts';
import type { Report, UsbRequest } from './report.ts';

const LOOK_EACH_MS = 20;
/** Time until its sound is in the file (ms). */
const WRITTEN_WITHIN_MS = 200;

export interface UsbRequests {
  /** Sound of the loudspeaker, one piece for each `keep` and `pull`. */
  pieces(): readonly Int16Array[];
  stop(): void;
}

/**
 * Carries out the USB requests of the program inside, one after the other.
 * @param monitor QEMU's monitor
 * @param sound path of QEMU's recording, which starts again each time it is plugged in
 */
export function obeyUsbRequests(
  reports: () => readonly Report[],
  monitor: (command: string) => Promise<string>,
  sound: string,
): UsbRequests {
  const pieces: Int16Array[] = [];
  let [done, from]: [number, number | undefined] = [0, undefined];
  let doing = Promise.resolve();
  const order = async (command: string): Promise<void> => {
    const said = await monitor(command);
    if (/error/i.test(said)) process.stderr.write(`QEMU, ${command}: ${said}\n`);
  };
  const keep = (): void => {
    const { samples, end } = samplesOfUsb(readFileSync(sound), from);
    pieces.push(samples);
    from = end;
  };
  const acts: Readonly<Record<UsbRequest, () => Promise<void>>> = {
    async plug() {
      from = undefined;
      await order(`device_add ${USB_LOUDSPEAKER}`);
    },
    async pull() {
      await order('device_del horn');
      await new Promise((resolve) => setTimeout(resolve, WRITTEN_WITHIN_MS));
      keep();
    },
    keep: async () => keep(),
  };
  const look = (): void => {
    const asked = reports().flatMap((report) => (report.kind === 'asked' ? [report.usb] : []));
    for (const usb of asked.slice(done))
      doing = doing
        .then(acts[usb])
        .catch((error) => void process.stderr.write(`USB, ${usb}: ${String(error)}\n`));
    done = asked.length;
  };
  const timer = setInterval(look, LOOK_EACH_MS);
  return { pieces: () => pieces, stop: () => clearInterval(timer) };
}
