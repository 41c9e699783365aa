/** The shipped agent, whose lanes change at SIGHUP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadWav } from '../../src/adapters/audio/sound-source.ts';
import { type DemoEnvironment, openEnvironment } from '../../src/cli/demo/environment.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { placeBundles } from '../bundles.ts';
import { wavOf } from '../voice-recordings.ts';
import { inProcessPrograms } from './in-process.ts';

const RECORDING = fileURLToPath(new URL('../../src/cli/demo/visitor.wav', import.meta.url));
const CHUNK_BYTES = 0.32 * 24_000 * 2;
/** Chunks with samples beyond this are speech for certain. */
const LOUD = 2000;
const FIRST_SENTENCE_BYTES = 4.5 * 24_000 * 2;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-lanes-'));
const programs = inProcessPrograms({ recordBytes: 16 * 2 ** 20 });
let environment: DemoEnvironment;
let agent: ChildProcess | null = null;
let log = '';

beforeAll(async () => {
  await placeBundles(folder);
  const { pcm } = await loadWav(RECORDING);
  writeFileSync(join(folder, 'sentence.wav'), wavOf(pcm.subarray(0, FIRST_SENTENCE_BYTES)));
  environment = await openEnvironment(programs);
});
afterAll(async () => {
  agent?.kill('SIGKILL');
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

function configure(...lanes: string[]): void {
  const config = {
    device: { id: 'kiosk-01', tenant: 'demo' },
    mqtt: { url: environment.brokerUrl },
    owner: { publicKeyFiles: [environment.ownerKeyFile] },
    service: { hosts: [new URL(environment.serviceUrl).host] },
    log: { level: 'info' },
    lanes: lanes.map((id) => ({
      id,
      source: 'en',
      targets: [id === 'main' ? 'es' : 'fr'],
      echo: 'off',
      capture: { driver: 'file', path: id === 'main' ? RECORDING : join(folder, 'sentence.wav') },
      playback: { driver: 'file', path: join(folder, `${id}.wav`), overwrite: true },
    })),
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
}

function start(): ChildProcess {
  const words = [join(folder, 'dragoman.mjs'), 'run', '--config', join(folder, 'config.json')];
  const env = { PATH: process.env['PATH'], STATE_DIRECTORY: folder, RUNTIME_DIRECTORY: folder };
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  return child;
}

const chunksOf = (pcm: Uint8Array): Buffer[] =>
  Array.from({ length: Math.floor(pcm.byteLength / CHUNK_BYTES) }, (_, at) =>
    Buffer.from(pcm.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES)),
  );
const isLoud = (chunk: Buffer): boolean => samplesOf(chunk).some((sample) => Math.abs(sample) > LOUD);

describe('the shipped agent at SIGHUP', () => {
  it('begins and ends a lane of the file, while another one is heard without a gap', async () => {
    configure('main');
    agent = start();
    const streams = () => programs.emulator().reports();
    /** The sound that the stream of this language got. */
    const heardOf = (target: string): Uint8Array => {
      const stream = streams().find(({ targets }) => targets.includes(target));
      return stream === undefined ? new Uint8Array() : programs.emulator().recording(stream.id).received;
    };
    const hears = async (target: string, chunks: number): Promise<void> => {
      const bytes = heardOf(target).byteLength + chunks * CHUNK_BYTES;
      await expect.poll(() => heardOf(target).byteLength).toBeGreaterThanOrEqual(bytes);
    };
    await hears('es', 5);

    configure('main', 'back');
    agent.kill('SIGHUP');
    await hears('fr', 5);
    await hears('es', 3);

    configure('main');
    agent.kill('SIGHUP');
    await expect.poll(() => log).toContain('the lane ends, as configured');
    await hears('es', 3);
    expect(streams()).toHaveLength(2);
    // Pauses are left out while the stream catches up with its begin; no speech is.
    const heard = chunksOf(heardOf('es')).filter(isLoud);
    const spoken = chunksOf((await loadWav(RECORDING)).pcm).filter(isLoud);
    expect(heard.length).toBeGreaterThan(10);
    expect(heard.every((chunk, at) => spoken[at]?.equals(chunk) === true)).toBe(true);

    const ended = once(agent, 'exit');
    agent.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
