import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWN_HEADER_BYTES } from '../../../src/adapters/audio/own-wav.ts';
import { samplesOf } from '../../../src/sound/pcm.ts';
import { makeWav } from '../../adapters/audio/wav-files.ts';
import { needs } from '../../needs.ts';
import { until } from '../../nspawn/kiosk.ts';
import { judgeSound, watchStalls } from '../../stalls.ts';
import { type Owner, startOwner, whatOwnerLacks } from '../owner.ts';
import { excuse, turnsOf } from '../slowness.ts';
import { judge, makeTones, secondsOfSound } from '../tones.ts';
import { fetchRuntime, PROCESSORS, type Runtime, whatRuntimeLacks } from './runtime.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOUND_S = 30;
/** Wait for the health figures (ms): they come once a minute, and Node takes seconds to start here. */
const HEALTH_LIMIT_MS = 240_000;
const START_LIMIT_MS = 180_000;
/** Longest time from SIGTERM to the end (ms). */
const STOP_LIMIT_MS = 10_000;
/** Most silence in the output (ms); two idle cores have none, so this is for busy ones. */
const MOST_SILENCE_MS = 3000;
const MOST_DELAY_MS = 1000;
/** Longest stall of the test process that does not affect the sound (ms). */
const MOST_STALL_MS = 500;

interface LaneFigures {
  readonly speech_lost_ms: number;
  readonly xruns: number;
  readonly capture_to_wire_ms: { readonly p50: number; readonly p99: number } | null;
}

describe.each(PROCESSORS)('the shipped agent on $name', (processor) => {
  const lacks = whatRuntimeLacks(processor) ?? whatOwnerLacks();
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-arm-'));
  let runtime: Runtime;
  let owner: Owner | undefined;
  let agent: ChildProcess | undefined;

  beforeAll(async () => {
    if (lacks !== null) return;
    const bundles = join(folder, 'dist');
    execFileSync(process.execPath, ['scripts/build.mjs', '--quiet', '--out', bundles], { cwd: ROOT });
    runtime = fetchRuntime(processor);
    owner = await startOwner({ bundles, emulator: ['--translate', 'echo', '--set', 'recordBytes=50000000'] });
  });
  afterAll(async () => {
    agent?.kill('SIGKILL');
    await owner?.close();
    runtime?.forget();
    rmSync(folder, { recursive: true });
  });

  const title = 'interprets 30 s of sound over TLS without a flaw, and ends on SIGTERM';
  it(lacks === null ? title : `${title}: skipped, ${lacks}`, needs(lacks), async ({ annotate, skip }) => {
    if (owner === undefined) throw new Error('there is no owner');
    const { words } = runtime;
    const [program = '', ...before] = words;
    const started = performance.now();
    const bundle = join(folder, 'dist/dragoman.mjs');
    const run = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder, STATE_DIRECTORY: folder } };
    expect(execFileSync(program, [...before, bundle, 'version'], run).toString()).toMatch(/^dragoman \d/);
    expect(execFileSync(program, [...before, '-p', 'process.arch']).toString()).toMatch(/^arm/);
    agent = spawn(program, [...before, bundle, 'run', '--config', configure(folder, owner)], {
      ...run,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stalls = watchStalls();
    let said = '';
    for (const stream of [agent.stdout, agent.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-20_000);
      });
    const { newest } = owner;
    const lane = () => (newest('state')?.['lanes'] as { phase: string }[] | undefined)?.[0]?.phase;
    await until('it is live', async () => lane() === 'live', START_LIMIT_MS).catch((error) => {
      throw new Error(`${String(error)}\n${said}`);
    });
    const liveMs = performance.now() - started;
    const heardAt = performance.now() + (SOUND_S + 10) * 1000;
    const { messages } = owner;
    const isHeard = async () => messages.some(({ topic, atMs }) => topic === 'health' && atMs > heardAt);
    await until('its figures', isHeard, HEALTH_LIMIT_MS);
    const { lanes } = newest('health') as { lanes: LaneFigures[] };
    const { speech_lost_ms, xruns, capture_to_wire_ms } = lanes[0] as LaneFigures;
    expect(speech_lost_ms).toBe(0);
    await expect.poll(() => newest('status')).toMatchObject({ status: 'ready', reasons: [] });
    const { ranMs, waitedMs } = turnsOf(agent.pid ?? 0);
    const calm = { probeMs: 0, ownXruns: 0 };
    // Later computations of the test also stall it, so the value is read here.
    const longestMs = stalls.longestMs();
    /** Checks expectations that a slow machine could break; skips them if the machine was measurably busy. */
    const inTime = (expectations: () => void): void =>
      judgeSound(skip, { ...stalls, longestMs: () => longestMs }, MOST_STALL_MS, () => {
        try {
          expectations();
        } catch (error) {
          const reason = excuse({ ...calm, waitedShare: waitedMs / Math.max(1, ranMs + waitedMs) });
          if (reason === null) throw error;
          skip(reason);
        }
      });

    const ways = [
      await owner.service('/emulator/streams/newest/sound?way=received'),
      readFileSync(join(folder, 'spoken.wav')),
    ].map(samplesIn);
    const [received, spoken] = ways.map(judge);
    expect(received).toMatchObject({ missing: 0, outOfOrder: 0, silentMs: 0, phaseJumps: 0, unclearMs: 0 });
    expect(spoken).toMatchObject({ missing: 0, outOfOrder: 0 });
    for (const samples of ways) expect(Math.abs(secondsOfSound(samples) - SOUND_S)).toBeLessThan(0.2);

    const [asked, keptMs] = [performance.now(), stalls.ms()];
    agent.kill('SIGTERM');
    const [code] = await once(agent, 'close');
    const tookMs = performance.now() - asked - (stalls.ms() - keptMs);
    expect(code).toBe(0);
    expect(said).not.toMatch(/unexpected|ERROR/);
    const { p50, p99 } = capture_to_wire_ms ?? { p50: Number.NaN, p99: Number.NaN };
    await annotate(
      `live after ${liveMs.toFixed(0)} ms, capture to wire ${p50} ms (p50), ${p99} ms (p99), ` +
        `${spoken?.silentMs} ms of silence in the output, ` +
        `ended after ${tookMs.toFixed(0)} ms`,
    );
    inTime(() => {
      // The output is written in real time: a late machine leaves silence in it.
      expect(spoken?.silentMs).toBeLessThan(MOST_SILENCE_MS);
      expect(xruns).toBe(0);
      expect(tookMs).toBeLessThan(STOP_LIMIT_MS);
      expect(p99).toBeLessThan(MOST_DELAY_MS);
    });
  });
});

const samplesIn = (wav: Buffer): Int16Array => samplesOf(wav.subarray(OWN_HEADER_BYTES));

/** Writes the recording and a configuration for this machine's loopback. @returns the configuration's path */
function configure(folder: string, owner: Owner): string {
  const tones = makeTones(SOUND_S);
  const data = new Uint8Array(tones.buffer, tones.byteOffset, tones.byteLength);
  writeFileSync(join(folder, 'heard.wav'), makeWav({ data }));
  const config = {
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: {
      url: `mqtts://127.0.0.1:${owner.brokerPort}`,
      username: 'museum.kiosk-01',
      passwordFile: join(owner.login, 'mqtt-password'),
      caFile: join(owner.login, 'broker-ca.crt'),
    },
    service: { hosts: [`127.0.0.1:${owner.servicePort}`], caFile: join(owner.login, 'broker-ca.crt') },
    lanes: [
      {
        capture: { driver: 'file', path: join(folder, 'heard.wav') },
        playback: { driver: 'file', path: join(folder, 'spoken.wav') },
        source: 'en',
        targets: ['es'],
        echo: 'off',
        standbyAfter: 0,
      },
    ],
  };
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  return file;
}
