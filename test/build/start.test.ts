/** Tests what the agent loads at its start: all of it stays in the memory of a kiosk for months. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBundles } from '../bundles.ts';

/** Code that a kiosk with a plain configuration does not need. */
const NOT_AT_START = [
  /\/(aedes|hono|music-metadata|file-type|string-width)\//,
  // For a terminal.
  /\/(pino-pretty|colorette|dateformat|fast-copy)\//,
  // For browsers, proxies and threads of their packages.
  /\/(worker-timers[\w-]*|@babel|socks|smart-buffer|ip-address|thread-stream|readable-stream)\//,
  // Unused parts of zod.
  /\/zod\/.*\/(from-json-schema|compile)\.js$/,
  /^src\/cli\/(ctl\/run-ctl|demo\/(demo|broker)|devices\/meter|doctor\/perform-doctor)\.ts$/,
  /^src\/(installer\/(core\/(phrases|plan)|provision)|cli\/perform-provision)\.ts$/,
  /^src\/(backend|emulator)\//,
];
/**
 * Most code at the start (bytes): what the agent had with calls for staff, repeat and the question before an end, and 2 % more.
 * Each MB costs 1 MB of memory and 15 ms.
 */
const MOST_BYTES = 1_680_000;

let folder: string;
/** The files of the program that the daemon has loaded when its lane runs and looks for its broker. */
let loaded: string[];
let inputs: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-start-'));
  await placeBundles(folder);
  loaded = await loadedByRun();
  const { outputs } = JSON.parse(readFileSync(join(folder, 'dragoman.meta.json'), 'utf8')) as {
    outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
  };
  inputs = Object.entries(outputs)
    .filter(([path]) => loaded.includes(basename(path)))
    .flatMap(([, output]) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function loadedByRun(): Promise<string[]> {
  const config = join(folder, 'config.json');
  const coverage = join(folder, 'coverage');
  const capture = { driver: 'file', path: join(folder, 'visitor.wav'), loop: true };
  const playback = { driver: 'file', path: join(folder, 'out.wav') };
  const device = { id: 'kiosk-01', tenant: 'museum' };
  const mqtt = { url: 'mqtt://127.0.0.1:1' };
  writeFileSync(
    config,
    JSON.stringify({ device, mqtt, lanes: [{ source: 'en', targets: ['es'], capture, playback }] }),
  );
  const words = [join(folder, 'dragoman.mjs'), 'run', '--config', config];
  const env = { PATH: process.env['PATH'], NODE_V8_COVERAGE: coverage };
  const agent = spawn(process.execPath, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let log = '';
    await new Promise<void>((resolve, reject) => {
      agent.on('exit', () => reject(new Error(`it ended: ${log}`)));
      agent.stdout.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        if (log.includes('cannot reach')) resolve();
      });
    });
    agent.kill('SIGTERM');
    await once(agent, 'exit');
  } finally {
    agent.kill('SIGKILL');
  }
  const [report = ''] = readdirSync(coverage);
  const { result } = JSON.parse(readFileSync(join(coverage, report), 'utf8')) as {
    result: { url: string }[];
  };
  return result.flatMap(({ url }) => (url.startsWith('file:') ? [basename(fileURLToPath(url))] : []));
}

describe('dragoman run with a plain configuration', () => {
  it('loads the agent', () => {
    expect(loaded).toContain('dragoman.mjs');
    expect(inputs).toContain('src/device/lane/machine.ts');
  });

  it.each(NOT_AT_START)('loads no code of %s', (part) => {
    expect(inputs.filter((path) => part.test(path))).toEqual([]);
  });

  it('loads no more code than before', () => {
    const bytes = loaded.map((file) => statSync(join(folder, file)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
  });
});
