/**
 * Cuts the power while state is written. Data that the kernel has not written to the disk is lost; the disk is memory that survives
 * the reset. The broker's state is lost, too. Knowledge from before a cut is reported to the host: writing it to the disk would also
 * flush the agent's data.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { until } from '../../../nspawn/kiosk.ts';
import {
  DAMAGED,
  EACH_MS,
  LONGEST_WAIT_MS,
  percentOf,
  RECORD,
  readCommands,
  SOFTEST,
} from '../../command-flood.ts';
import type { AfterCut } from '../report.ts';
import { must, sh } from './commands.ts';
import { answers, type Device, live, type Outcome, type Scenario, SERVICE, wait } from './device.ts';

const LAST_CUT = '/srv/last-cut.json';
const ANSWERED_WITHIN_MS = 90_000;
/** Makes the kernel load the cards at boot, like those of a device. */
const CARDS = `echo snd-aloop >/etc/modules-load.d/cards.conf
echo 'options snd-aloop enable=1,1 index=-1,-1 id=Mic,Speaker pcm_substreams=1,1' >/etc/modprobe.d/cards.conf`;

/** The power cut before this start; null if there was none. */
export interface LastCut {
  /** Number of the cut; the first is 1. */
  readonly number: number;
  /** Time of the first power-on, by the clock that runs through all cuts. */
  readonly switchedOnS: number;
  /** Commands on the disk. */
  readonly remembered: AfterCut['remembered'];
}

const upS = (): number => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
const bootedAtS = (): number => Number(readFileSync('/sys/class/rtc/rtc0/since_epoch', 'utf8')) - upS();

/** Reads the last cut. Call it before the agent can write again. */
export function lastCut(): LastCut | null {
  if (!existsSync(LAST_CUT)) return null;
  const { number, switchedOnS } = JSON.parse(readFileSync(LAST_CUT, 'utf8'));
  const remembered = existsSync(RECORD) ? [...readCommands(readFileSync(RECORD, 'utf8'))] : [];
  return { number, switchedOnS, remembered };
}

/** Seconds since the machine was first switched on. */
export const sinceSwitchedOn = (cut: LastCut | null): number =>
  upS() + (cut === null ? 0 : bootedAtS() - cut.switchedOnS);

export const power: Scenario = async (device) => {
  await sh(CARDS);
  return cutOrEnd(device, 0, bootedAtS());
};

/** The checks after a cut. */
export async function afterCut(
  device: Device,
  { number, switchedOnS, remembered }: LastCut,
): Promise<Outcome> {
  const { owner } = device;
  await live(device);
  await answers(device);
  const liveS = upS();
  const again = idOf(number, 0);
  await owner.publish('cmd/volume', { id: again, args: { percent: SOFTEST } });
  await until('the answer again', async () => answered(device).includes(again), ANSWERED_WITHIN_MS);
  const journal = await sh('journalctl -b -o cat --no-pager -u dragoman');
  device.tell({
    kind: 'survived',
    remembered,
    liveS,
    isDoneTwice: (await volumeOf(device)) === SOFTEST,
    damage: journal.split('\n').filter((line) => DAMAGED.test(line)),
    restarts: Number(await must(['systemctl', 'show', '--value', '-p', 'NRestarts', SERVICE])),
  });
  return cutOrEnd(device, number, switchedOnS);
}

async function cutOrEnd(device: Device, done: number, switchedOnS: number): Promise<Outcome> {
  if (done === device.order.cuts) return { found: { cuts: done } };
  const number = done + 1;
  writeFileSync(LAST_CUT, JSON.stringify({ number, switchedOnS }));
  await must(['sync']);
  return cutWhileWriting(device, number);
}

const idOf = (cut: number, place: number): string => `${cut}-${place}`;

/** Never returns: the power is cut. */
async function cutWhileWriting(device: Device, number: number): Promise<never> {
  const { owner, tell } = device;
  owner.forget();
  const sent: string[] = [];
  let problem: unknown = null;
  const flood = async (): Promise<void> => {
    for (;;) {
      const id = idOf(number, sent.length);
      sent.push(id);
      await owner.publish('cmd/volume', { id, args: { percent: percentOf(sent.length - 1) } });
      await wait(EACH_MS);
    }
  };
  flood().catch((error) => {
    problem = error;
  });
  await until('state is written', async () => answered(device).length > 0, ANSWERED_WITHIN_MS);
  await wait(Math.random() * LONGEST_WAIT_MS);
  if (problem !== null) throw problem;
  tell({ kind: 'cut', sent, answered: answered(device) });
  writeFileSync('/proc/sysrq-trigger', 'b');
  throw new Error('the power is still on');
}

/** Ids of the commands that were answered with success. */
const answered = ({ owner }: Device): string[] =>
  owner.messages
    .filter(({ topic }) => topic === 'cmd/volume/res')
    .map(({ text }) => JSON.parse(text) as { id: string; status: string })
    .filter(({ status }) => status === 'ok')
    .map(({ id }) => id);

async function volumeOf({ owner }: Device): Promise<number | undefined> {
  const answer = await owner.command('status', {}, ANSWERED_WITHIN_MS);
  return (answer?.['data'] as { lanes?: { volume: number }[] } | undefined)?.lanes?.[0]?.volume;
}
