/** Follows the lines of the front page and of docs/backend.md, up to a kiosk that interprets. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectAsync } from 'mqtt';
import { afterEach, describe, expect, it } from 'vitest';
import { findMosquitto, startMosquitto } from '../adapters/mqtt/mosquitto.ts';
import { placeBundles } from '../bundles.ts';
import { freePort } from '../free-port.ts';
import { needs } from '../needs.ts';
import { commandsOf } from '../tidy/page-commands.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const STATE = 'dragoman/v1/museum/kiosk-01/state';
/** Parts of a checkout that the lines use. */
const PARTS = ['config', 'examples', 'src/cli/demo/visitor.wav'];

const linesOf = (page: string, heading: string): string[] =>
  commandsOf(page, readFileSync(join(ROOT, page), 'utf8'))
    .filter((one) => one.heading === heading && one.words === null)
    // CI installs and builds; the lines for an installed package have tests of their own.
    .flatMap(({ line }) => (/^(?:npm|dragoman|scripts|sudo)/.test(line) ? [] : [line]));

const mosquitto = findMosquitto();
const title = `the lines of a page${mosquitto === null ? ': skipped, mosquitto is not installed' : ''}`;

describe(title, needs(mosquitto === null && 'needs mosquitto'), () => {
  const closing: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  it('try the parts one by one', async () => {
    const lines = linesOf('README.md', 'Install on a kiosk');
    expect(lines).toHaveLength(4);
    await follow(lines);
  });

  it('try the example of a backend', async () => {
    const lines = linesOf('docs/backend.md', 'Write your own');
    expect(lines).toHaveLength(3);
    await follow(lines);
  });

  it('run the backend, and sign its answers', async () => {
    const lines = [
      'node dist/emulator.mjs run --port 8080 --api-key YOUR-API-KEY',
      'cp config/backend.jsonc .',
      ...linesOf('docs/backend.md', 'Run `dragoman-backend`'),
      ...linesOf('docs/backend.md', 'Signed answers'),
      'cp signing.pub.pem /etc/dragoman/owner.pub.pem',
      'cp config/files.jsonc /etc/dragoman/config.json',
    ];
    expect(lines).toHaveLength(10);
    await follow([...lines, 'node dist/dragoman.mjs run --config /etc/dragoman/config.json']);
  });

  /** Runs lines as in a new checkout, each program in the background, until the kiosk is live. */
  async function follow(lines: readonly string[]): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-lines-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    await placeBundles(join(folder, 'dist'));
    const broker = await startMosquitto(mosquitto ?? '');
    closing.push(broker.close);
    const emulator = String(await freePort());
    const here = (text: string): string =>
      text
        .replaceAll('8080', emulator)
        .replaceAll('1883', String(broker.port))
        .replaceAll('/etc/dragoman', join(folder, 'device'));
    for (const part of PARTS) {
      mkdirSync(dirname(join(folder, part)), { recursive: true });
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    }
    for (const file of ['config/files.jsonc', 'config/backend.jsonc', 'examples/backend.mjs'])
      writeFileSync(join(folder, file), here(readFileSync(join(folder, file), 'utf8')));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));

    const running = new Map<string, ChildProcess>();
    const shell = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } };
    let said = '';
    closing.push(async () => {
      await Promise.all([...running.values()].map(end));
    });
    for (const line of lines) {
      const program = /(\w+\.mjs) run\b|(examples\/\S+)/.exec(line)?.[0];
      if (program === undefined) {
        execFileSync('bash', ['-euc', here(line)], { ...shell, stdio: 'pipe' });
        continue;
      }
      // Run again, it replaces the one before.
      const before = running.get(program);
      if (before !== undefined) await end(before);
      const child = spawn('bash', ['-c', `exec env ${here(line)}`], {
        ...shell,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running.set(program, child);
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text) => {
          said += String(text);
        });
    }
    const client = await connectAsync(broker.url);
    closing.push(() => client.endAsync());
    let state = '';
    client.on('message', (_topic, payload) => {
      state = payload.toString();
    });
    await client.subscribeAsync(STATE);
    // What the programs said explains a failure.
    const seen = () =>
      state.includes('"phase":"live"')
        ? 'live'
        : `${state}
${said.slice(-3000)}`;
    await expect.poll(seen).toBe('live');
  }
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
