import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { runEmulatorProgram } from '../../src/emulator/cli.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { gather } from '../gathered.ts';

/** Starts a command line in this process and collects its output. */
function begin(args: readonly string[]) {
  const { said, print, complain } = gather();
  const signals = new EventEmitter();
  const ended = runEmulatorProgram(args, {
    env: {},
    signals,
    print,
    complain,
  });
  return { said, signals, ended };
}

/** Runs a command line to its end; its output and exit code. */
async function type(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { said, ended } = begin(args);
  const code = await ended;
  return { code, ...said };
}

/** Starts `run`, gives its first line to `visit`, and ends it by a signal. */
async function runUntil(
  signal: 'SIGTERM' | 'SIGINT',
  args: string[],
  visit: (url: string) => Promise<void> = async () => {},
): Promise<number> {
  const { said, signals, ended } = begin(['run', ...args]);
  await expect.poll(() => said.out.endsWith('\n')).toBe(true);
  await visit((JSON.parse(said.out) as { listening: string }).listening);
  signals.emit(signal);
  return ended;
}

describe('dragoman-emulator run', () => {
  test('prints its address in the first line, and serves there', async () => {
    const code = await runUntil('SIGTERM', ['--api-key', 'k1', '--api-key', 'k2'], async (url) => {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      for (const key of ['k1', 'k2']) {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const body = JSON.stringify({ intent: 's2s' });
        const answer = await fetch(`${url}/session-storage/v2/sessions`, { method: 'POST', headers, body });
        expect(answer.status).toBe(201);
      }
    });
    expect(code).toBe(0);
  });

  test('accepts every option', async () => {
    const flags =
      '--host 127.0.0.1 --port 0 --profile live --translate silence --jwt j --setup-ms 10 --heartbeat-ms 500 --concurrent 3 --pending 4 --set endEvent=eos --client me:secret';
    const code = await runUntil('SIGINT', flags.split(' '), async (url) => {
      const settings = await (await fetch(`${url}/emulator/settings`)).json();
      expect(settings).toMatchObject({
        translate: 'silence',
        setup_ms: 10,
        heartbeat_ms: 500,
        concurrent: 3,
        pending: 4,
        end_event: 'eos',
        output_rate_hz: 24_000,
      });
    });
    expect(code).toBe(0);
  });

  test('prints one sentence and exits with 1 when the address is in use', async () => {
    const other = await startEmulator();
    const answer = await type('run', '--port', new URL(other.url).port);
    await other.close();
    expect(answer.code).toBe(1);
    expect(answer.err).toMatch(
      /^dragoman-emulator: --host 127\.0\.0\.1 --port \d+ cannot be used \(another program uses this address and port\): end that program, or name another port\n$/,
    );
  });

  test.each([
    [[], 'no command given. See "dragoman-emulator --help".'],
    [['walk'], 'walk'],
    [['run', '--prot', '1'], '--port'],
    [['run', '--port', 'x'], '--port'],
    [['run', '--host', ''], '0.0.0.0 listens everywhere'],
    [['run', '--host', ' '], '127.0.0.1 on this machine only'],
    [['run', '--allow-host', 'kiosk.example:80'], 'without a port'],
    [['run', '--allow-host', '*'], 'name of a host'],
    [['run', '--profile', 'dead'], 'spec, live'],
    [['run', '--translate', 'x'], 'transform'],
    [['run', '--setup-ms', '-4'], '--setup-ms'],
    [['run', '--setup-ms', 'soon'], 'is invalid. It must be a number.'],
    [['run', '--setup-ms', '-4'], 'It must be at least 0.'],
    [['run', '--set', 'tooFast=x'], 'It must be one of "degrade", "tolerate".'],
    [['run', '--set', 'nonsense=1'], 'There is no option "nonsense"'],
    [['run', '--set', 'seed'], 'NAME=VALUE'],
    [['run', '--api-key', ''], 'It must not be empty.'],
    [['run', '--jwt', ' '], 'It must not be empty.'],
    [['run', '--concurrent', '0'], 'It must be at least 1.'],
    [['run', '--client', 'me'], 'ID:SECRET'],
    [['run', '--tls-cert', 'cert.pem'], '--tls-cert needs --tls-key'],
    [['run', '--tls-key', 'key.pem'], '--tls-key needs --tls-cert'],
    [
      ['run', '--tls-cert', '/nowhere/cert.pem', '--tls-key', 'k'],
      '/nowhere/cert.pem cannot be read: there is no such file or folder',
    ],
    [['run', '--tls-cert', 'package.json', '--tls-key', 'package.json'], 'cannot be used together'],
  ])('prints one sentence with the remedy and exits with 2 for %j', async (args, word) => {
    const answer = await type(...args);
    expect([answer.code, answer.out]).toEqual([2, '']);
    expect(answer.err).toContain(word);
    expect(answer.err.trim().split('\n')).toHaveLength(1);
    expect(answer.err).not.toContain('    at ');
  });

  test.each([[['--help']], [['run', '--help']], [['choices', '--help']]])(
    'prints help for %j',
    async (args) => {
      const answer = await type(...args);
      expect([answer.code, answer.err]).toEqual([0, '']);
      expect(answer.out).toContain('Usage: dragoman-emulator');
    },
  );

  test('lists the choices as text and as JSON', async () => {
    expect((await type('choices')).out).toContain('endEvent (spec none, live end_of_stream)');
    const { choices } = JSON.parse((await type('choices', '--json')).out) as { choices: { name: string }[] };
    expect(choices.map(({ name }) => name)).toContain('refusalDelivery');
  });
});
