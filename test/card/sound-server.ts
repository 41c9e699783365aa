import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { samplesOf } from '../../src/sound/pcm.ts';

/**
 * A separate PulseAudio with two null sinks: `spk`, the default loudspeaker, and `micfeed`, which feeds the default microphone unless
 * that captures the loudspeaker. It is not part of this project and therefore an independent check.
 */

const run = promisify(execFile);

const PACKAGES: Readonly<Record<string, string>> = {
  arecord: 'alsa-utils',
  pulseaudio: 'pulseaudio',
  pactl: 'pulseaudio-utils',
  paplay: 'pulseaudio-utils',
  parec: 'pulseaudio-utils',
};
const ALSA_PLUGIN = 'libasound_module_pcm_pulse.so';
const RATE_HZ = 24_000;

/** A recording of a sink since its start. */
export interface Recording {
  /** `performance.now()` of its first sample, as exact as the server reports it. */
  readonly startedAt: number;
  /** The recorded sound so far. */
  sound(): Int16Array;
  stop(): Promise<Int16Array>;
}

export interface SoundServer {
  /** Environment for programs that use the default ALSA devices. */
  readonly env: NodeJS.ProcessEnv;
  /** Plays a file to the microphone. */
  playToMicrophone(wav: string): ChildProcess;
  record(sink: 'spk' | 'micfeed'): Promise<Recording>;
  close(): Promise<void>;
}

export type ServerOrNot =
  | { readonly server: SoundServer; readonly missing: null }
  | { readonly server: null; readonly missing: string };

/**
 * @param heard the sink that the microphone captures
 * @param isDesktop as on a desktop: idle devices are suspended, and its null sinks take sound in blocks of two seconds
 */
export async function openSoundServer(
  heard: 'spk' | 'micfeed' = 'micfeed',
  isDesktop = false,
): Promise<ServerOrNot> {
  const missing = findMissing();
  if (missing !== null) return { server: null, missing };
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-pulse-'));
  const address = `unix:${join(folder, 'socket')}`;
  const alsa = join(folder, 'alsa.conf');
  const pulse = (device: string): string => `{ type pulse server "${address}" device "${device}" }`;
  await writeFile(
    alsa,
    `</usr/share/alsa/alsa.conf>
pcm.!default { type asym playback.pcm ${pulse('spk')} capture.pcm ${pulse('mic')} }
ctl.!default { type pulse server "${address}" sink "spk" source "mic" }
`,
  );
  // Keeps it away from settings, cookies and servers in the user's folders.
  const apart = {
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    XDG_CONFIG_HOME: folder,
    PULSE_RUNTIME_PATH: folder,
  };
  const own = { ...process.env, ...apart, PULSE_SERVER: address, LC_ALL: 'C' };
  const daemon = startDaemon(folder, heard, isDesktop, { ...process.env, ...apart });
  const close = async (): Promise<void> => {
    if (daemon.exitCode === null && daemon.signalCode === null) {
      daemon.kill('SIGKILL');
      await once(daemon, 'close');
    }
    await rm(folder, { recursive: true, force: true });
  };
  if (!(await isReady(daemon, own))) {
    await close();
    throw new Error('pulseaudio does not answer');
  }
  return {
    missing: null,
    server: {
      env: { ...own, ALSA_CONFIG_PATH: alsa },
      playToMicrophone: (wav) =>
        spawn('paplay', ['--device=micfeed', wav], { env: own, stdio: ['ignore', 'ignore', 'ignore'] }),
      record: (sink) => record(sink, own),
      close,
    },
  };
}

function findMissing(): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const [program, name] of Object.entries(PACKAGES)) {
    if (!folders.some((folder) => existsSync(join(folder, program)))) return `no ${program} (${name})`;
  }
  const libraries = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  const hasPlugin = libraries.some((name) => existsSync(join('/usr/lib', name, 'alsa-lib', ALSA_PLUGIN)));
  return hasPlugin ? null : 'no pulse plugin for ALSA (libasound2-plugins)';
}

function startDaemon(
  folder: string,
  heard: string,
  isDesktop: boolean,
  env: NodeJS.ProcessEnv,
): ChildProcess {
  const sink = (name: string): string =>
    `module-null-sink sink_name=${name} rate=${RATE_HZ} channels=1 format=s16le${isDesktop ? '' : ' norewinds=1'}`;
  const modules = [
    `module-native-protocol-unix socket=${join(folder, 'socket')} auth-anonymous=1`,
    sink('spk'),
    sink('micfeed'),
    `module-remap-source source_name=mic master=${heard}.monitor`,
    ...(isDesktop ? ['module-suspend-on-idle timeout=1'] : []),
  ];
  const options = [
    '-n',
    '--daemonize=no',
    '--exit-idle-time=-1',
    '--use-pid-file=no',
    '--realtime=no',
    '--disable-shm=yes',
  ];
  const words = [...options, ...modules.flatMap((module) => ['-L', module])];
  return spawn('pulseaudio', words, { env, stdio: 'ignore' });
}

async function isReady(daemon: ChildProcess, env: NodeJS.ProcessEnv): Promise<boolean> {
  for (let attempt = 0; attempt < 150; attempt++) {
    if (daemon.exitCode !== null) return false;
    try {
      const { stdout } = await run('pactl', ['list', 'short', 'sources'], { env, timeout: 5000 });
      if (/\bmic\b/.test(stdout)) return true;
    } catch {
      // The server is not ready yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

async function record(sink: string, env: NodeJS.ProcessEnv): Promise<Recording> {
  const format = ['--raw', `--rate=${RATE_HZ}`, '--channels=1', '--format=s16le', '--latency-msec=20'];
  const child = spawn('parec', [`--device=${sink}.monitor`, ...format], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const pieces: Uint8Array[] = [];
  child.stdout.on('data', (piece: Uint8Array) => pieces.push(piece));
  await once(child.stdout, 'data');
  const startedAt = performance.now() - (pieces[0]?.byteLength ?? 0) / 2 / (RATE_HZ / 1000);
  const sound = (): Int16Array => {
    const bytes = Buffer.concat(pieces);
    return samplesOf(Uint8Array.from(bytes.subarray(0, bytes.length - (bytes.length % 2))));
  };
  return {
    startedAt,
    sound,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'close');
      return sound();
    },
  };
}
