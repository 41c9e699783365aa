/**
 * The child of the driver `addon`: connects an npm package of the operator's to a pipe with raw PCM. Usage:
 * audio-addon.mjs capture|playback DEVICE RATE
 *
 * It never shuts down cleanly: these packages hang or crash in their own cleanup, so the process exits at once.
 */
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemCode } from '../../system-error.ts';
import { explainLoadFailure, type LoadFailure, readLoadFailure } from './load-failure.ts';
import { PACKAGES, READY_LINE } from './wire.ts';

// Node would open a debugger port on this signal.
process.on('SIGUSR1', () => {});

const STDERR = 2;
const STDOUT = 1;
/** Atomics.wait sleeps on this array while a pipe is full. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** The part of `alsa-capture` that is used here. */
interface CaptureAddon {
  on(event: 'audio', listener: (pcm: Buffer) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
}
type CaptureConstructor = new (options: {
  channels: number;
  device: string;
  format: string;
  periodSize: number;
  rate: number;
}) => CaptureAddon;

/** The part of `speaker` that is used here. */
interface SpeakerAddon {
  write(pcm: Buffer): boolean;
  once(event: 'drain', listener: () => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
}
type SpeakerConstructor = new (options: {
  channels: number;
  bitDepth: number;
  sampleRate: number;
  signed: boolean;
  device: string;
  samplesPerFrame: number;
}) => SpeakerAddon;

function say(line: string): void {
  try {
    writeSync(STDERR, `${line}\n`);
  } catch {
    // The reader of standard error is gone.
  }
}

/** Exits at once, without the packages' cleanup. */
function end(line: string | null): never {
  if (line !== null) say(line);
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
}

/** Loads the package from the folder of this program, or from the working directory. */
function load(name: string): unknown {
  const folder = dirname(fileURLToPath(import.meta.url));
  const failures: LoadFailure[] = [];
  for (const place of [import.meta.url, join(process.cwd(), 'package.json')]) {
    const require = createRequire(place);
    try {
      return require(name);
    } catch (error) {
      failures.push(readLoadFailure(error, name));
    }
  }
  // The load error of an installed package explains more than its absence from the other folder.
  const failure = failures.find(({ kind }) => kind !== 'absent') ?? { kind: 'absent' };
  const major = Number.parseInt(process.versions.node, 10);
  return end(explainLoadFailure(failure, name, { folder, node: process.execPath, major }));
}

function record(device: string, rateHz: number): void {
  const Capture = load(PACKAGES.capture) as CaptureConstructor;
  const periodSize = Math.round(rateHz * 0.32);
  const capture = new Capture({ channels: 1, device, format: 'S16_LE', periodSize, rate: rateHz });
  let isOpen = false;
  // An error before the first sound means that the device is absent; a later one, that it was removed.
  capture.on('error', (error) => end(`${isOpen ? 'read' : 'open'} error: ${error.message}`));
  capture.on('audio', (pcm) => {
    isOpen = true;
    // The reader sets the pace: a full pipe blocks here, and a closed pipe ends the process.
    for (let at = 0; at < pcm.byteLength; ) {
      try {
        at += writeSync(STDOUT, pcm, at);
      } catch (error) {
        if (systemCode(error) !== 'EAGAIN') end(null);
        Atomics.wait(PAUSE, 0, 0, 5);
      }
    }
  });
}

function play(device: string, rateHz: number): void {
  const Speaker = load(PACKAGES.playback) as SpeakerConstructor;
  const format = { channels: 1, bitDepth: 16, sampleRate: rateHz, signed: true };
  const speaker = new Speaker({ ...format, device, samplesPerFrame: Math.round(rateHz * 0.02) });
  speaker.on('error', (error) => end(`write error: ${error.message}`));
  process.stdin.on('data', (pcm: Buffer) => {
    if (speaker.write(pcm)) return;
    process.stdin.pause();
    speaker.once('drain', () => process.stdin.resume());
  });
  process.stdin.on('end', () => end(null));
  say(READY_LINE);
}

const [part, device = 'default', rate = ''] = process.argv.slice(2);
const rateHz = Number(rate);
process.on('uncaughtException', (error) => end(`failed: ${error.message}`));
if (!(rateHz > 0)) end('usage: audio-addon.mjs capture|playback DEVICE RATE');
if (part === 'capture') record(device, rateHz);
else if (part === 'playback') play(device, rateHz);
else end('usage: audio-addon.mjs capture|playback DEVICE RATE');
