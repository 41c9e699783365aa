import { spawn } from 'node:child_process';
import { samplesOf } from '../sound/pcm.ts';
import { bytesOf, upmix } from './core/pcm.ts';
import type { RenderJob } from './core/render.ts';
import { resampleBy, toFloat, toSamples } from './core/resample.ts';

/** Speaks the text of a job; fails if the engine does not know the language or does not answer. */
export type Speak = (job: RenderJob) => Promise<Uint8Array>;

const ENGINE = 'espeak-ng';
const ENGINE_TIMEOUT_MS = 10_000;
const MOST_BYTES = 20_000_000;
const WAV_HEADER_BYTES = 44;
/** The engine's default speed, to which the tempo is relative. */
const WORDS_PER_MINUTE = 175;
const PITCH = { low: 30, contrast: 50, high: 75 } as const;

function runEngine(args: readonly string[], input: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(ENGINE, args, { stdio: ['pipe', 'pipe', 'ignore'], timeout: ENGINE_TIMEOUT_MS });
    const parts: Buffer[] = [];
    let bytes = 0;
    child.once('error', reject);
    child.stdin.on('error', () => {});
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.byteLength;
      if (bytes <= MOST_BYTES) parts.push(part);
      else child.kill('SIGKILL');
    });
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(parts));
      else reject(new Error(`${ENGINE} ended with ${code}`));
    });
    child.stdin.end(input);
  });
}

async function speak(job: RenderJob): Promise<Uint8Array> {
  const pitch = Math.min(99, PITCH[job.voice] + 8 * (job.variant % 3));
  const args = [
    '-v',
    job.language.toLowerCase(),
    '-p',
    String(pitch),
    '-s',
    String(Math.round(WORDS_PER_MINUTE * job.tempo)),
    '--stdout',
    '--stdin',
  ];
  const wav = await runEngine(args, job.text);
  if (wav.byteLength <= WAV_HEADER_BYTES) throw new Error(`${ENGINE} produced no sound`);
  const rateHz = wav.readUInt32LE(24);
  const sound = toFloat(samplesOf(wav.subarray(WAV_HEADER_BYTES)));
  const voice = toSamples(resampleBy(sound, rateHz / job.outputHz));
  return bytesOf(upmix(voice, job.outputChannels));
}

/** The speech engine of this machine; null if none is installed. */
export async function findSpeechEngine(): Promise<Speak | null> {
  try {
    await runEngine(['--version'], '');
    return speak;
  } catch {
    return null;
  }
}
