import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { speechTask } from '../../src/adapters/stream/task.ts';
import type { Options } from './bench-options.ts';
import { program, type Setting } from './setting.ts';
import { RATE_HZ } from './speech.ts';
import type { Subject, SubjectName } from './subject.ts';

declare const BENCH_ROOT: string;

const run = promisify(execFile);
const CHUNK_BYTES = ((RATE_HZ * 320) / 1000) * 2;
/** Echo path from the loudspeaker to the microphone, for an agent that cancels its echo. */
const ECHO_PATH = { delayMs: 80, gainDb: -12 };
const INSTALL_LIMIT_MS = 180_000;
/** The packages of the loop in one process. They are not part of the project; a run installs them on request. */
const ADDONS = ['alsa-capture@0.3.0', 'speaker@0.5.5'];

/** A built agent. */
export interface AgentBuild {
  readonly name: SubjectName;
  /** Folder of the agent's programs. */
  readonly folder: string;
  readonly unitFile: string;
}

export function thisBuild(): AgentBuild {
  return {
    name: 'agent',
    folder: dirname(program('dragoman.mjs')),
    unitFile: join(BENCH_ROOT, 'systemd/dragoman.service'),
  };
}

/** The agent of another commit, where `scripts/bench.mjs` has built it. */
export function otherBuild(): AgentBuild {
  const path = (name: string): string => fileURLToPath(new URL(`./other/${name}`, import.meta.url));
  return {
    name: 'other',
    folder: path('dist'),
    unitFile: path('source/systemd/dragoman.service'),
  };
}

/** Command lines of arecord and aplay, without the device. */
export interface Periods {
  readonly capture: readonly string[];
  readonly playback: readonly string[];
}

/** The arguments of a running arecord or aplay, with another device. */
export function forDevice(words: readonly string[], device: string): string[] {
  const at = words.indexOf('-D');
  return at < 0 ? [...words] : words.with(at + 1, device);
}

/** Node flags and environment from the unit file, so that the measurement matches the installation. */
export function readUnit(unit: string): { flags: string[]; env: Record<string, string> } {
  const words = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(/\s+/) ?? [];
  const script = words.findIndex((word) => word.endsWith('.mjs'));
  const env = [...unit.matchAll(/^Environment=(\w+)=(\S*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  return { flags: words.slice(1, Math.max(1, script)), env: Object.fromEntries(env) };
}

/** An agent as it is shipped, one lane. */
export async function agentSubject(
  setting: Setting,
  sound: Int16Array,
  { nodeFlags, echo }: Pick<Options, 'nodeFlags' | 'echo'>,
  { name, folder, unitFile }: AgentBuild,
): Promise<Subject> {
  const acoustic = echo === 'cancel' ? { acoustic: ECHO_PATH } : {};
  const card = await setting.rack.insert({ id: name, capture: { sound, loop: true }, ...acoustic });
  const unit = readUnit(await readFile(unitFile, 'utf8'));
  const flags = nodeFlags ?? unit.flags;
  const file = join(setting.folder, `${name}.json`);
  await writeFile(
    file,
    JSON.stringify({
      device: { id: 'kiosk-01', tenant: 'bench' },
      mqtt: { url: setting.brokers.get(name)?.url },
      lanes: [
        {
          capture: { driver: 'alsa', device: card.device, sampleRate: RATE_HZ },
          playback: { driver: 'alsa', device: card.device },
          source: 'en',
          targets: ['es'],
          echo,
          standbyAfter: 0,
        },
      ],
    }),
  );
  const words = [...flags, join(folder, 'dragoman.mjs'), 'run', '--config', file];
  // Another commit would otherwise begin with what this one has kept in the home of whoever measures.
  const env = { ...unit.env, XDG_STATE_HOME: join(setting.folder, `${name}-state`) };
  return { name, card, env, arguments: async () => words };
}

/** The bare loop, with the agent's arguments for arecord and aplay. */
export async function bareSubject(
  setting: Setting,
  sound: Int16Array,
  periods: () => Periods,
): Promise<Subject> {
  const name: SubjectName = 'bare';
  const card = await setting.rack.insert({ id: name, capture: { sound, loop: true } });
  const script = fileURLToPath(new URL('./bare-loop.mjs', import.meta.url));
  return {
    name,
    card,
    env: {},
    arguments: async () => [
      script,
      JSON.stringify({
        ...loopTask(setting, name),
        capture: forDevice(periods().capture, card.device),
        playback: forDevice(periods().playback, card.device),
      }),
    ],
  };
}

/** Capture and playback by packages, in one process. */
export async function addonsSubject(setting: Setting, sound: Int16Array, packages: string): Promise<Subject> {
  const name: SubjectName = 'addons';
  const card = await setting.rack.insert({ id: name, capture: { sound, loop: true } });
  const script = fileURLToPath(new URL('./addon-loop.mjs', import.meta.url));
  const given = JSON.stringify({
    ...loopTask(setting, name),
    packages,
    device: card.device,
    rateHz: RATE_HZ,
  });
  // Without a default device, loading the playback package ends the process.
  const config = join(setting.folder, 'addons.conf');
  const inner = setting.rack.env['ALSA_CONFIG_PATH'] ?? '';
  await writeFile(config, `<${inner}>\npcm.!default { type plug slave.pcm "vcard_${name}" }\n`);
  return { name, card, env: { ALSA_CONFIG_PATH: config }, arguments: async () => [script, given] };
}

/** @returns the folder of the installed packages */
export async function installAddons(folder: string): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', ...ADDONS], {
    cwd: folder,
    timeout: INSTALL_LIMIT_MS,
  });
  return folder;
}

function loopTask(setting: Setting, name: SubjectName): Record<string, unknown> {
  return {
    service: setting.serviceUrl,
    key: setting.apiKey,
    stream: setting.streamUrl(name).replace('{random_hash}', name),
    task: speechTask({ source: 'en', targets: ['es'], voice: null, inputRateHz: RATE_HZ }),
    chunkBytes: CHUNK_BYTES,
  };
}
