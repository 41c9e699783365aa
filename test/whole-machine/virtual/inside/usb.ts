/** A USB loudspeaker. The host plugs and unplugs it, and records its sound. */
import { until } from '../../../nspawn/kiosk.ts';
import { must, sh } from './commands.ts';
import {
  type Device,
  eventsOf,
  handOver,
  live,
  ready,
  type Scenario,
  SERVICE,
  seconds,
  speak,
  statusOf,
  TOLD_WITHIN_MS,
  wait,
} from './device.ts';

/** Time from its return until 30 s of sound are played (ms). */
const ALL_SAID_MS = 26_000;
/** Limit for the host's actions (ms of the machine's time, which passes faster than real time when idle). */
const OUTSIDE_LIMIT_MS = 600_000;
const FIND = 'for id in /proc/asound/card*/usbid; do test ! -e "$id" || cat "$(dirname "$id")/id"; done';

export const usbLoudspeaker: Scenario = async (device) => {
  const card = await plugIn(device);
  await use(device, `plughw:CARD=${card}`);
  try {
    await speak(30);
    await wait(12_000);
    const pulledAt = performance.now();
    device.tell({ kind: 'asked', usb: 'pull' });
    await until('it is gone', async () => (await find()) === '', OUTSIDE_LIMIT_MS);
    const goneAt = performance.now();
    await until(
      'the missing device is reported',
      async () => statusOf(device) === 'degraded',
      TOLD_WITHIN_MS,
    );
    const missedS = seconds(performance.now() - goneAt);
    const reasons = device.owner.newest('status')?.['reasons'];
    await wait(4000);
    const isSame = (await plugIn(device)) === card;
    const readyS = seconds(await ready(device));
    const told = ['audio_lost', 'audio_back'].map((kind) =>
      eventsOf(device, kind, pulledAt).map((event) => event['device']),
    );
    await wait(ALL_SAID_MS);
    device.tell({ kind: 'asked', usb: 'keep' });
    await wait(2000);
    await speak(12);
    await wait(20_000);
    device.tell({ kind: 'asked', usb: 'pull' });
    await until('it is gone', async () => (await find()) === '', OUTSIDE_LIMIT_MS);
    return { found: { missedS, reasons, isSame, readyS, told } };
  } finally {
    await use(device);
  }
};

async function find(): Promise<string> {
  return (await sh(FIND)).trim();
}

/** Asks for the loudspeaker. @returns its name in the kernel */
async function plugIn({ tell }: Device): Promise<string> {
  tell({ kind: 'asked', usb: 'plug' });
  await until('the kernel knows it', async () => (await find()) !== '', OUTSIDE_LIMIT_MS);
  return find();
}

/** @param loudspeaker default: the original one */
async function use(device: Device, loudspeaker?: string): Promise<void> {
  const config = JSON.parse(device.order.configuration);
  if (loudspeaker !== undefined) config.lanes[0].playback.device = loudspeaker;
  await handOver(device, JSON.stringify(config));
  device.owner.forget();
  await must(['systemctl', 'restart', SERVICE]);
  await live(device);
}
