/** The bundled programs when their output cannot be written. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mqtt from 'mqtt';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startBroker } from '../../src/cli/demo/broker.ts';
import { placeBundles } from '../bundles.ts';
import { CUT, describeFullDisk, shellIn, writeConfigIn } from './full-disk.ts';

let folder: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-output-'));
  await placeBundles(folder);
  writeFileSync(join(folder, 'wrong.json'), '{}');
  writeConfig('mqtts://broker.example');
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => rmSync(folder, { recursive: true }));

const writeConfig = (url: string): void => writeConfigIn(folder, url);

const shell = (line: string) => shellIn(folder, line);

/** The long test runs the others. */
describeFullDisk([
  ['dragoman', 'check-config --config config.json --json'],
  ['dragoman', '--help'],
  ['backend', '--version'],
]);

describe('on a full disk', () => {
  it('fails when only a part fits', () => {
    // A file may not grow beyond this many blocks of 512 bytes.
    const { status, stderr } = shell(
      'ulimit -f 1; "$RUN" dragoman.mjs check-config --config config.json >part',
    );
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining(`dragoman: ${CUT} (EFBIG). Write it to another place.\n`),
    });
    expect(readFileSync(join(folder, 'part'), 'utf8').length).toBeGreaterThan(0);
  });

  it('keeps the exit code of a verb that has failed', () => {
    const { status, stderr } = shell(
      '"$RUN" dragoman.mjs check-config --config wrong.json --json >/dev/full',
    );
    expect(status).toBe(2);
    expect(stderr).toContain(CUT);
  });

  it('keeps the agent running without its log, and ends it cleanly', async () => {
    const broker = await startBroker();
    const owner = mqtt.connect(broker.url);
    try {
      const heard: string[] = [];
      owner.on('message', (_topic, payload) => heard.push(String(payload)));
      await owner.subscribeAsync('dragoman/v1/museum/kiosk-01/#');
      writeConfig(broker.url);
      const words = [join(folder, 'dragoman.mjs'), 'run', '--config', 'config.json'];
      const full = openSync('/dev/full', 'w');
      const child = spawn(process.execPath, words, {
        cwd: folder,
        env: { PATH: process.env['PATH'], STATE_DIRECTORY: folder },
        stdio: ['ignore', full, 'pipe'],
      });
      children.add(child);
      closeSync(full);
      let complained = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (complained += text));
      await expect.poll(() => heard.join()).toContain('"status":"idle"');
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      expect([await ended, complained]).toEqual([[0, null], '']);
    } finally {
      await owner.endAsync(true);
      await broker.close();
    }
  });
});

it('succeeds when the reader closes the pipe early', () => {
  const line = '{ "$RUN" dragoman.mjs check-config --config config.json --json; echo "code $?" >&2; } | true';
  expect(shell(line).stderr).toMatch(/^(warning: .*\n( {2}.*\n)*)*code 0\n$/);
});

it('prints everything when there is room', () => {
  const { status, stdout } = shell(
    '"$RUN" dragoman.mjs check-config --config config.json --json >whole && cat whole',
  );
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
});
