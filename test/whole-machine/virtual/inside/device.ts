/** The device from its owner's view, inside its machine and in the machine's time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { until } from '../../../nspawn/kiosk.ts';
import type { OwnerClient } from '../../owner-client.ts';
import type { Order, Report, ScenarioName } from '../report.ts';
import { must, run, sh } from './commands.ts';

export const SERVICE = 'dragoman.service';
const LIVE_LIMIT_MS = 120_000;
/** Limits in virtual time (ms), where nothing is late: for reports of the agent or kernel, and for the answer to a command. */
export const [TOLD_WITHIN_MS, ANSWERED_WITHIN_MS] = [60_000, 10_000];
/** Delay of a lane from microphone to loudspeaker (ms). */
const ON_ITS_WAY_MS = 5000;
const RAW = ['-q', '-t', 'raw', '-f', 'S16_LE', '-r', '24000', '-c', '1', '--buffer-size=48000'];
const SAID = '/run/said.raw';

export interface Device {
  readonly owner: OwnerClient;
  readonly order: Order;
  /** Sends a report to the host. A request in it is carried out a moment later. */
  tell(report: Report): void;
}

export interface Outcome {
  readonly found: Readonly<Record<string, unknown>>;
  /** Recorded sound in base64. */
  readonly sound?: string;
}
export type Scenario = (device: Device) => Promise<Outcome>;
export type Scenarios = Readonly<Record<ScenarioName, Scenario>>;

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
export const seconds = (ms: number): number => Number((ms / 1000).toFixed(1));

export const phaseOf = ({ owner }: Device): string | undefined =>
  (owner.newest('state')?.['lanes'] as { phase: string }[] | undefined)?.[0]?.phase;
export const statusOf = ({ owner }: Device): string => String(owner.newest('status')?.['status']);
/** Waits until the lane is live. @returns the milliseconds */
export const live = (device: Device, limitMs = LIVE_LIMIT_MS): Promise<number> =>
  until('it is live', async () => phaseOf(device) === 'live', limitMs);
/** Waits until the status is `ready`. @returns the milliseconds */
export const ready = (device: Device, limitMs = LIVE_LIMIT_MS): Promise<number> =>
  until('it is ready', async () => statusOf(device) === 'ready', limitMs);
/** Waits until it answers a command. @returns the milliseconds */
export const answers = ({ owner }: Device, limitMs = LIVE_LIMIT_MS): Promise<number> =>
  until('it answers', async () => (await owner.command('status', {}, 3000))?.['status'] === 'ok', limitMs);

export const eventsOf = ({ owner }: Device, kind: string, sinceMs = 0): Record<string, unknown>[] =>
  owner.messages
    .filter(({ topic, atMs }) => topic === `event/${kind}` && atMs >= sinceMs)
    .map(({ text }) => JSON.parse(text));

/** Process id of the agent; 0 for none. */
export const pidOf = async (): Promise<number> =>
  Number(await must(['systemctl', 'show', '--value', '-p', 'MainPID', SERVICE]));

/** Waits until the agent has another process id. @returns the milliseconds */
export const untilAnother = (before: number, limitMs: number): Promise<number> =>
  until('another process', async () => ![0, before].includes(await pidOf()), limitMs);

/** Starts to record the loudspeaker. @returns a function that ends the recording and returns it in base64 */
export async function listen(): Promise<() => Promise<string>> {
  writeFileSync(SAID, '');
  const recorder = spawn('arecord', ['-D', 'hw:CARD=Speaker,DEV=1', ...RAW, SAID], { stdio: 'ignore' });
  const gone = once(recorder, 'exit');
  await wait(500);
  return async () => {
    recorder.kill('SIGINT');
    await gone;
    const sound = readFileSync(SAID).toString('base64');
    rmSync(SAID);
    return sound;
  };
}

/**
 * Plays tones into the microphone, at most the recording's minute. Silence after them fills the player's ring buffer of 2 s: the card
 * plays on for a moment after the last period, and would otherwise repeat sound from 2 s before.
 */
export async function speak(lengthS: number): Promise<void> {
  const bytes = Math.round(lengthS * 24_000) * 2;
  const play = `aplay -D hw:CARD=Mic,DEV=0 ${RAW.join(' ')}`;
  const unit = ['systemd-run', '--quiet', '--collect', '--unit=speaker'];
  await must([
    ...unit,
    'sh',
    '-c',
    `(head -c ${bytes} /srv/goods/tones.raw; head -c 144000 /dev/zero) | ${play}`,
  ]);
}

export const isSpeaking = async (): Promise<boolean> =>
  (await run(['systemctl', 'is-active', 'speaker'])).code === 0;
export const silence = async (): Promise<void> => void (await run(['systemctl', 'stop', 'speaker']));

/** Speaks and records the answer, while `meanwhile` runs. @returns the recording in base64 */
export async function interpret(
  lengthS: number,
  meanwhile: () => Promise<void> = async () => {},
): Promise<string> {
  const end = await listen();
  const startedAt = performance.now();
  await speak(lengthS);
  await meanwhile();
  await wait(Math.max(0, lengthS * 1000 - (performance.now() - startedAt)));
  await until('the end of the recording', async () => !(await isSpeaking()), TOLD_WITHIN_MS);
  await wait(ON_ITS_WAY_MS);
  return end();
}

const WRITE = 'umask 077; cat >"$1.draft"; chmod "$2" "$1.draft"; mv "$1.draft" "$1"';
const write = (path: string, text: string | Buffer, mode = '0644'): Promise<string> =>
  must(['sh', '-euc', WRITE, 'sh', path, mode], text.toString());

/** Copies the device's login and configuration to it. */
export async function handOver({ order }: Device, configuration = order.configuration): Promise<void> {
  const handed = (name: string) => readFileSync(`${order.folder}/logins/museum.kiosk-01/${name}`);
  await write('/etc/dragoman/broker-ca.crt', handed('broker-ca.crt'));
  await write('/etc/dragoman/secrets/mqtt-password', handed('mqtt-password'), '0640');
  await must(['chgrp', 'dragoman', '/etc/dragoman/secrets/mqtt-password']);
  await write('/etc/dragoman/config.json', configuration);
}

/** Adds two loop cards: the test plays into Mic, and records the sound played to Speaker. */
export const plugCards = (): Promise<string> =>
  sh('modprobe snd-aloop enable=1,1 index=-1,-1 id=Mic,Speaker pcm_substreams=1,1; udevadm settle');
