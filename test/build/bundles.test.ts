import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../src/cli/demo/broker.ts';
import { placeBundles } from '../bundles.ts';
import { BUNDLES, type Bundle, describePrograms, describeStarts, runBundle } from './built-programs.ts';

/** A folder outside of the project, where a bundle finds no packages. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-build-'));
  await placeBundles(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const pathOf = (bundle: Bundle): string => join(folder, `${bundle}.mjs`);
/** The file that is run, and the parts of the program beside it. */
const filesOf = (bundle: Bundle): string[] =>
  readdirSync(folder).filter((file) => file.startsWith(`${bundle}.`) && file.endsWith('.mjs'));
const textOf = (bundle: Bundle): string =>
  filesOf(bundle)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
const run = (bundle: Bundle, ...words: string[]) => runBundle(folder, bundle, ...words);

interface Meta {
  readonly inputs: Record<
    string,
    { readonly imports: readonly { readonly path: string; readonly kind: string }[] }
  >;
  readonly outputs: Record<
    string,
    { inputs: Record<string, { bytesInOutput: number }>; imports: { path: string }[] }
  >;
}

const metaOf = (bundle: Bundle): Meta =>
  JSON.parse(readFileSync(join(folder, `${bundle}.meta.json`), 'utf8')) as Meta;

describe.each(BUNDLES)('the bundle %s', (bundle) => {
  it('can be run as a program', () => {
    expect(readFileSync(pathOf(bundle), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(pathOf(bundle)).mode & 0o111).toBe(0o111);
  });

  it('needs only one byte per character in memory', () => {
    expect(textOf(bundle).search(/[\u0080-\uffff]/)).toBe(-1);
  });

  it('needs no package beside it', () => {
    const imported = Object.values(metaOf(bundle).outputs).flatMap(({ imports }) =>
      imports.map(({ path }) => path),
    );
    // ws works without the first two, pg without the last.
    const optional = ['bufferutil', 'utf-8-validate', 'pg-native'];
    // WebAssembly and native code that lie beside the bundle.
    const beside = ['./libsamplerate.cjs', './sqlite/lib/index.cjs'];
    const foreign = imported.filter((name) => !builtinModules.includes(name.replace(/^node:/, '')));
    const parts = filesOf(bundle);
    const others = foreign.filter((name) => ![...optional, ...beside].includes(name));
    expect(others.filter((name) => !parts.includes(basename(name)))).toEqual([]);
    for (const file of beside) expect(existsSync(join(folder, file))).toBe(true);
  });

  it('checks the Node version before it loads anything', () => {
    const text = readFileSync(pathOf(bundle), 'utf8');
    expect(text).not.toMatch(/^import\s*[\w{*'"]/m);
    expect([...text.matchAll(/import\('([^']+)'\)/g)].map(([, path]) => path)).toEqual([
      `./${bundle}.main.mjs`,
    ]);
    expect(text.indexOf('process.exit(2)')).toBeLessThan(text.indexOf('import('));
  });
});

describeStarts(BUNDLES);
/** The long test covers the other two programs. */
describePrograms(['dragoman']);

describe('the device’s bundle', () => {
  /** Paths of the account's interface, which needs a key or a JWT (docs/service.md 4.1 to 4.6). */
  const ACCOUNT_PATHS = ['session-storage', 'saas/voice'];

  it('contains no code of the owner’s side', () => {
    const owners = /^src\/(backend|emulator)\//;
    expect(Object.keys(metaOf('dragoman').inputs).filter((path) => owners.test(path))).toEqual([]);
    expect(Object.keys(metaOf('backend').inputs).filter((path) => owners.test(path))).not.toEqual([]);
  });

  it('contains no path that needs an account’s key', () => {
    for (const path of ACCOUNT_PATHS) {
      expect(textOf('dragoman')).not.toContain(path);
      expect(textOf('backend')).toContain(path);
    }
  });

  it('has all files that it reads beside it', () => {
    expect(statSync(join(folder, 'fvad.wasm')).size).toBeGreaterThan(10_000);
    expect(statSync(join(folder, 'visitor.wav')).size).toBeGreaterThan(10_000);
  });

  it('has the page of the screen beside it: small, and without anything from elsewhere', () => {
    const script = readFileSync(join(folder, 'screen.js'));
    const style = readFileSync(join(folder, 'screen.css'), 'utf8');
    const zipped = gzipSync(script).byteLength + gzipSync(style).byteLength;
    // About 14 KB of it are words in 19 languages.
    expect(zipped).toBeLessThanOrEqual(48 * 1024);
    expect(`${script}`.match(/https?:\/\/(?!www\.w3\.org)[^\s"'`]+/g)).toBeNull();
    expect(style).not.toMatch(/@import|url\(/);
    const { inputs } = JSON.parse(readFileSync(join(folder, 'screen.meta.json'), 'utf8')) as Meta;
    const packages = Object.keys(inputs).flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(packages)].sort()).toEqual(['@preact/signals', '@preact/signals-core', 'preact']);
  });

  it('loads nothing of the screen when the kiosk has none', () => {
    const { inputs } = metaOf('dragoman');
    const seen = new Set<string>();
    const visit = (path: string): void => {
      if (seen.has(path)) return;
      seen.add(path);
      for (const one of inputs[path]?.imports ?? []) if (one.kind !== 'dynamic-import') visit(one.path);
    };
    visit('src/device/daemon.ts');
    expect(seen.size).toBeGreaterThan(200);
    const ofScreen = /(adapters|device)\/screen\/|node_modules\/@?hono/;
    expect([...seen].filter((path) => ofScreen.test(path))).toEqual([]);
    expect(Object.keys(inputs).filter((path) => ofScreen.test(path))).not.toEqual([]);
  });

  it('has the child of the driver "addon" beside it, which needs only Node and the package it wraps', () => {
    const script = join(folder, 'audio-addon.mjs');
    const { inputs } = JSON.parse(readFileSync(join(folder, 'audio-addon.meta.json'), 'utf8')) as Meta;
    expect(Object.keys(inputs).filter((path) => path.includes('node_modules'))).toEqual([]);
    const { stderr, signal } = spawnSync(process.execPath, [script, 'capture', 'default', '24000'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(signal).toBe('SIGKILL');
    expect(stderr).toContain('cannot load the npm package "alsa-capture": it is not installed; ');
    expect(stderr).toContain('npm install --prefix ');
    // The agent itself never loads the packages.
    for (const name of ['alsa-capture', 'speaker']) {
      expect(textOf('dragoman')).not.toMatch(new RegExp(`(require|import)\\(['"]${name}['"]\\)`));
    }
  });

  it('has the echo canceller’s thread beside it', async () => {
    const rates = { heardRateHz: 24_000, playedRateHz: 24_000 };
    const thread = new Worker(join(folder, 'echo-worker.mjs'), { workerData: rates });
    try {
      expect(await once(thread, 'message')).toEqual([{ type: 'ready' }]);
      const pcm = new Uint8Array(960);
      thread.postMessage({ type: 'captured', pieces: [{ pcm, capturedAt: 100 }] });
      const [answer] = await once(thread, 'message');
      expect(answer).toEqual({
        type: 'frames',
        pieces: [{ pcm, capturedAt: expect.any(Number) }],
        rests: true,
        found: false,
      });
    } finally {
      await thread.terminate();
    }
    const beside = ['worker_threads'];
    const { outputs } = JSON.parse(readFileSync(join(folder, 'echo-worker.meta.json'), 'utf8')) as Meta;
    const imported = Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
    expect(imported.filter((name) => !beside.includes(name.replace(/^node:/, '')))).toEqual([]);
  });

  it('includes the licences of its packages', () => {
    const licenses = readFileSync(join(folder, 'LICENSES.txt'), 'utf8');
    for (const name of ['mqtt', 'ws', 'zod', 'pino', 'commander', 'hono']) {
      expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.`, 'm'));
    }
  });
});

describe('dragoman demo', () => {
  it('interprets with only the other bundles beside it', () => {
    const output = join(folder, 'heard.wav');
    const { status, stdout, stderr } = run(
      'dragoman',
      'demo',
      '--seconds',
      '3',
      '--output',
      output,
      '--json',
    );
    const { summary } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as {
      summary: Record<string, number>;
    };
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(summary).toMatchObject({ sessions: 1, dropped_chunks: 0, lost_audio_ms: 0 });
    expect(summary['played_ms']).toBeGreaterThan(500);
  });

  it('fails and names the fault when a fault was not injected', () => {
    const output = join(folder, 'short.wav');
    const words = ['--seconds', '3', '--output', output, '--fault', 'revoke', '--json'];
    const { status, stdout, stderr } = run('dragoman', 'demo', ...words);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}')).toMatchObject({
      summary: { faults: [], missed_faults: ['revoke'] },
    });
    expect(stderr).toBe(
      'dragoman: this fault was not injected: revoke. Each fault needs 30 s with speech: give --seconds 30 or more, or an input with more speech\n',
    );
    expect(status).toBe(1);
  });

  it('refuses to overwrite its input', () => {
    const input = join(folder, 'heard.wav');
    writeFileSync(input, silence(1));
    const { status, stderr } = run('dragoman', 'demo', '--input', input, '--output', input);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('would overwrite it'),
    });
    expect(readFileSync(input).equals(silence(1))).toBe(true);
  });
});

describe('dragoman run', () => {
  let broker: Broker;
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    broker = await startBroker();
    writeFileSync(join(folder, 'in.wav'), silence(1));
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
  });
  afterAll(() => broker.close());

  const configuration = (part: object = {}) => ({
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: broker.url },
    lanes: [
      {
        source: 'en',
        targets: ['es'],
        capture: { driver: 'file', path: join(folder, 'in.wav'), loop: true },
        playback: { driver: 'file', path: join(folder, 'out.wav') },
        start: 'command',
      },
    ],
    ...part,
  });

  /** Starts the daemon; its log is parsed line by line. */
  function start() {
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify(configuration()));
    const child = spawn(process.execPath, [pathOf('dragoman'), 'run', '--config', file], {
      env: { PATH: process.env['PATH'] },
    });
    children.add(child);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const records = () =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { level: string; msg: string; problems?: string[] });
    return { child, file, records };
  }

  it('logs one JSON line per record, survives a bad reload, and exits with 0 within 10 s of SIGTERM', async () => {
    const { child, file, records } = start();
    await expect.poll(() => records().length).toBeGreaterThan(0);
    const count = records().length;

    writeFileSync(file, JSON.stringify(configuration({ log: { level: 'loud' } })));
    child.kill('SIGHUP');
    await expect
      .poll(() =>
        records()
          .slice(count)
          .map(({ level }) => level),
      )
      .toContain('error');
    expect(child.exitCode).toBeNull();
    const refusal = records().find(({ level }) => level === 'error');
    expect(refusal?.problems).toEqual([expect.stringMatching(/^\S+\.json:1:\d+: log\.level: is "loud"/)]);

    const asked = performance.now();
    child.kill('SIGTERM');
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(performance.now() - asked).toBeLessThan(10_000);
  });

  it('does not start with an invalid configuration', () => {
    const file = join(folder, 'bad.json');
    writeFileSync(file, JSON.stringify(configuration({ mqtt: { url: 'http://x' }, extra: 1 })));
    const { status, stdout, stderr } = run('dragoman', 'run', '--config', file);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('2 problems');
    expect(stderr).toContain('mqtt.url');
  });

  it('does not start when the certificate file is missing', () => {
    const file = join(folder, 'bad.json');
    writeFileSync(file, JSON.stringify(configuration({ service: { caFile: join(folder, 'ca.pem') } })));
    const { status, stderr } = run('dragoman', 'run', '--config', file);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^dragoman: service\.caFile: [^\n]*ca\.pem[^\n]*\n$/);
  });
});

/** A silent mono WAV file at 24 kHz. */
function silence(seconds: number): Buffer {
  const bytes = seconds * 24_000 * 2;
  const wav = Buffer.alloc(44 + bytes);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(36 + bytes, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(24_000, 24);
  wav.writeUInt32LE(48_000, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(bytes, 40);
  return wav;
}
