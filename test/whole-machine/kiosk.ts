/** A device on an emulated machine with two sound cards, with its owner's programs on this machine's loopback. */
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { samplesOf } from '../../src/sound/pcm.ts';
import { until } from '../nspawn/kiosk.ts';
import { type Machine, switchOn } from './machine.ts';
import { type Owner, type OwnerOptions, startOwner } from './owner.ts';
import type { Testbed } from './setup.ts';
import { timed } from './slowness.ts';
import { type Judgement, judge, TONE_MS } from './tones.ts';

export const SERVICE = 'dragoman.service';
/** Address of broker and service in the machine. */
export const OWNER = '10.0.2.100';
/** Delay of a lane from microphone to loudspeaker (ms), with room for a slow machine. */
const ON_ITS_WAY_MS = 6000;
/** Saved state of a machine with a configured and stopped device. */
export const INSTALLED = 'installed';
export const LIVE_LIMIT_MS = 120_000;

export interface Fixture {
  readonly machine: Machine & { readonly bootMs: number };
  readonly owner: Owner;
  /** Path of the machine's disk. */
  readonly disk: string;
  close(): Promise<void>;
}

/** Opens a machine that has just booted, and the programs of an owner that it can reach. */
export async function openFixture(
  testbed: Extract<Testbed, { missing: null }>,
  more: Partial<OwnerOptions> = {},
): Promise<Fixture> {
  const emulator = [
    '--translate',
    'echo',
    '--setup-ms',
    '300',
    '--set',
    'recordBytes=50000000',
    '--allow-host',
    OWNER,
  ];
  const owner = await startOwner({
    bundles: testbed.bundles,
    names: [OWNER],
    streamHost: OWNER,
    emulator,
    ...more,
  });
  try {
    const { disk } = testbed.hardware;
    const ports = { 8883: owner.brokerPort, 443: owner.servicePort };
    const machine = await switchOn({ ...testbed.hardware, ports }, 'booted');
    await machine.setClock();
    return {
      machine,
      owner,
      disk,
      async close() {
        await machine.stop();
        await owner.close();
      },
    };
  } catch (error) {
    await owner.close();
    throw error;
  }
}

/** Unpacks the owner's files in place of a copy over the network. */
export async function unpack({ machine }: Fixture): Promise<void> {
  await machine.sh('mkdir -p /srv/goods; tar -xf /dev/vdb -C /srv/goods');
}

/** Adds two loop cards: the test plays into Mic, and records the sound played to Speaker. */
export async function plugCards({ machine }: { readonly machine: Machine }): Promise<void> {
  await machine.must([
    'modprobe',
    'snd-aloop',
    'enable=1,1',
    'index=-1,-1',
    'id=Mic,Speaker',
    'pcm_substreams=1,1',
  ]);
}

export const LANE = {
  capture: { driver: 'alsa', device: 'plughw:CARD=Mic,DEV=1' },
  playback: { driver: 'alsa', device: 'plughw:CARD=Speaker,DEV=0', normalize: false },
  source: 'en',
  targets: ['es'],
  echo: 'off',
  standbyAfter: 0,
  earcons: false,
};

/** @param owner address of broker and service */
export function configuration(lane: object = {}, more: object = {}, owner = OWNER): string {
  return JSON.stringify({
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: {
      url: `mqtts://${owner}:8883`,
      username: 'museum.kiosk-01',
      passwordFile: '/etc/dragoman/secrets/mqtt-password',
      caFile: '/etc/dragoman/broker-ca.crt',
    },
    service: { hosts: [owner], caFile: '/etc/dragoman/broker-ca.crt' },
    lanes: [{ ...LANE, ...lane }],
    ...more,
  });
}

export const phaseOf = ({ owner }: Fixture): string | undefined =>
  (owner.newest('state')?.['lanes'] as { phase: string }[] | undefined)?.[0]?.phase;
export const statusOf = ({ owner }: Fixture): string => String(owner.newest('status')?.['status']);

/** Waits until the lane is live. @returns the milliseconds */
export const live = (fixture: Fixture, limitMs = LIVE_LIMIT_MS): Promise<number> =>
  until('it is live', async () => phaseOf(fixture) === 'live', limitMs);
/** Waits until the status is `ready`. @returns the milliseconds */
export const ready = (fixture: Fixture, limitMs = LIVE_LIMIT_MS): Promise<number> =>
  until('it is ready', async () => statusOf(fixture) === 'ready', limitMs);

export interface Listening {
  /** Ends the recording, and judges the sound of the loudspeaker. */
  end(): Promise<Judgement & { readonly samples: Int16Array }>;
}

/** Records the loudspeaker in the machine's memory. */
export async function listen({ machine }: Fixture): Promise<Listening> {
  const file = '/run/said.raw';
  const words = `arecord -q -D hw:CARD=Speaker,DEV=1 -t raw -f S16_LE -r 24000 -c 1 --buffer-size=48000 ${file}`;
  await machine.sh(`systemd-run --quiet --collect --unit=listener --property=KillSignal=SIGINT ${words}`);
  await until('the listener', async () => (await machine.run(['test', '-e', file])).code === 0);
  return {
    async end() {
      await machine.run(['systemctl', 'stop', 'listener']);
      const samples = samplesOf(await machine.read(file));
      await machine.must(['rm', file]);
      return { ...judge(samples), samples };
    },
  };
}

/** Plays tones into the microphone; at most the recording's minute. */
export async function speak({ machine }: Fixture, seconds: number, card = 'Mic'): Promise<void> {
  const bytes = Math.round(seconds * 24_000) * 2;
  const play = `aplay -q -D hw:CARD=${card},DEV=0 -t raw -f S16_LE -r 24000 -c 1 --buffer-size=48000`;
  await machine.sh(
    `systemd-run --quiet --collect --unit=speaker sh -c 'head -c ${bytes} /srv/goods/tones.raw | ${play}'`,
  );
}

/** Speaks and records the answer, while `meanwhile` runs. */
export async function interpret(
  fixture: Fixture,
  seconds: number,
  meanwhile: () => Promise<void> = async () => {},
) {
  const listening = await listen(fixture);
  const startedAt = performance.now();
  await speak(fixture, seconds);
  await meanwhile();
  await until(
    'the end of the recording',
    async () => (await fixture.machine.run(['systemctl', 'is-active', 'speaker'])).code !== 0,
    120_000,
  );
  await wait(ON_ITS_WAY_MS);
  return { ended: await listening.end(), startedAt };
}

export const silence = async ({ machine }: Fixture): Promise<void> =>
  void (await machine.run(['systemctl', 'stop', 'speaker']));

/** Installs and configures the device, and stops it, for scenarios that start with a working device. */
export async function install(fixture: Fixture): Promise<void> {
  const { machine, owner } = fixture;
  await unpack(fixture);
  await plugCards(fixture);
  await machine.must(['dpkg', '-i', ...(await packagesIn(fixture))], '', 300_000);
  await handOver(fixture);
  await machine.must(['systemctl', 'stop', SERVICE]);
  owner.forget();
}

/** Paths of the agent's package, and of a Node for it if Debian's is too old. */
async function packagesIn({ machine }: Fixture): Promise<string[]> {
  const hasNode = (await machine.run(['test', '-e', '/usr/bin/node'])).code === 0;
  const listed = await machine.sh(
    `ls /srv/goods/dragoman_*.deb ${hasNode ? '' : '/srv/goods/dragoman-node_*.deb'}`,
  );
  return listed.trim().split('\n');
}

/** Copies the device's login and configuration to it. */
export async function handOver({ machine, owner }: Fixture, config = configuration()): Promise<void> {
  const handed = (name: string) => readFileSync(join(owner.login, name), 'utf8');
  await machine.write('/etc/dragoman/broker-ca.crt', handed('broker-ca.crt'));
  await machine.write('/etc/dragoman/secrets/mqtt-password', handed('mqtt-password'), '0640');
  await machine.must(['chgrp', 'dragoman', '/etc/dragoman/secrets/mqtt-password']);
  await machine.write('/etc/dragoman/config.json', config);
}

/** Events since the start, or since a time by `performance.now()`. */
export const eventsOf = ({ owner }: Fixture, kind: string, sinceMs = 0): Record<string, unknown>[] =>
  owner.messages
    .filter(({ topic, atMs }) => topic === `event/${kind}` && atMs >= sinceMs)
    .map(({ text }) => JSON.parse(text));

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Process id of the agent; 0 for none. */
export const pidOf = async ({ machine }: Fixture): Promise<number> =>
  Number(await machine.must(['systemctl', 'show', '--value', '-p', 'MainPID', SERVICE]));

export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const MOST_PLACES = 8;
/** A judgement in one line. */
export const inWords = ({
  tones,
  missing,
  outOfOrder,
  disorder,
  silentMs,
  phaseJumps,
  unclearMs,
  levelDbfs,
}: Judgement): string =>
  `load ${(loadavg()[0] ?? 0).toFixed(1)}: ${tones.length} tones, ${missing} missing, ${outOfOrder} out of order${disorder.length === 0 ? '' : ` (${disorder.slice(0, MOST_PLACES).join('; ')})`}, ${silentMs} ms silent, ${unclearMs} ms unclear, ` +
  `${phaseJumps} phase jumps, ${levelDbfs.toFixed(1)} dBFS`;

/** Share of lost, repeated or unclear tones. */
export const flawedShare = ({ tones, missing, outOfOrder, unclearMs }: Judgement): number => {
  const unclear = unclearMs / TONE_MS;
  return tones.length === 0 ? 1 : (missing + outOfOrder + unclear) / (tones.length + unclear);
};

/** Largest accepted share: a single underrun between two other programs is not the agent's fault. */
const MOST_FLAWED = 0.05;

/** Expects almost no lost, repeated or unclear tones. A slow machine could break this. */
export function expectWhole(ended: Judgement): void {
  timed(() => expect(flawedShare(ended), inWords(ended)).toBeLessThan(MOST_FLAWED));
}
