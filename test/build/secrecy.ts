/** Tests that signals and environment variables cannot extract secrets from the built programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../src/cli/demo/broker.ts';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { placeBundles } from '../bundles.ts';

const API_KEY = 'account-key-that-nobody-may-see';

export const RUN = {
  dragoman: ['run', '--config', 'agent.json'],
  backend: ['run', '--config', 'backend.json'],
  emulator: ['run'],
} as const;
export type Program = keyof typeof RUN;

export interface Draws {
  /** Programs that get a signal while they run. */
  readonly running: readonly Program[];
  /** Programs that get a signal while they are loaded. */
  readonly loading: readonly Program[];
  /** Values of NODE_DEBUG. */
  readonly sections: readonly string[];
}

export function describeSecrecy({ running, loading, sections: all }: Draws): void {
  describe('the bundles', () => {
    let folder: string;
    let broker: Broker;
    let emulator: Emulator;
    const children = new Set<ChildProcess>();

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'dragoman-secrecy-'));
      await placeBundles(folder);
      broker = await startBroker();
      emulator = await startEmulator({ apiKeys: [API_KEY] });
      writeFileSync(join(folder, 'api-key'), API_KEY, { mode: 0o600 });
      const device = { id: 'kiosk-01', tenant: 'museum' };
      const lane = {
        source: 'en',
        targets: ['es'],
        start: 'command',
        capture: { driver: 'command', command: ['sleep', '60'] },
        playback: { driver: 'file', path: join(folder, 'out.wav') },
      };
      const agent = { device, mqtt: { url: broker.url }, lanes: [lane] };
      writeFileSync(join(folder, 'agent.json'), JSON.stringify(agent));
      const backend = {
        mqtt: { url: broker.url },
        service: {
          url: emulator.url,
          streamUrl: 'wss://stream.example/{random_hash}/stream',
          apiKeyFile: join(folder, 'api-key'),
        },
        allow: ['museum/*'],
      };
      writeFileSync(join(folder, 'backend.json'), JSON.stringify(backend));
    });
    afterEach(() => {
      for (const child of children) child.kill('SIGKILL');
      children.clear();
    });
    afterAll(async () => {
      await emulator.close();
      await broker.close();
      rmSync(folder, { recursive: true });
    });

    /** A free port, in case a debugger is opened. */
    const ANY_PORT = '--inspect-port=127.0.0.1:0';

    function start(program: Program, words: readonly string[], env: object = {}, options: string[] = []) {
      const script = join(folder, `${program}.mjs`);
      const child = spawn(process.execPath, [ANY_PORT, ...options, script, ...words], {
        cwd: folder,
        env: { PATH: process.env['PATH'], ...env },
      });
      children.add(child);
      const said = { out: '', err: '' };
      child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
      return { child, said };
    }

    it.each(running)('%s opens no debugger when it gets SIGUSR1, and continues', async (program) => {
      const { child, said } = start(program, RUN[program]);
      await expect.poll(() => said.out).not.toBe('');
      child.kill('SIGUSR1');
      child.kill('SIGUSR1');
      // Output at its end comes after all effects of the signal.
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(child.exitCode).toBeNull();
      child.kill('SIGTERM');
      await once(child, 'close');
      expect(said.err).not.toContain('Debugger');
    });

    it.each(loading)('%s closes a debugger that was opened while it was loaded', async (program) => {
      const early =
        "data:text/javascript,process.kill(process.pid,'SIGUSR1');await new Promise((go)=>setTimeout(go,200))";
      const { child, said } = start(program, ['--version'], {}, ['--import', early]);
      await once(child, 'close');
      const { child: asks, said: open } = start(program, RUN[program], {}, ['--import', early]);
      await expect.poll(() => open.out).not.toBe('');
      const [, url] = /listening on ws:\/\/(\S+?)\//.exec(open.err) ?? [];
      expect(said.err).toContain('Debugger listening');
      await expect(fetch(`http://${url}/json/version`)).rejects.toThrow();
      asks.kill('SIGTERM');
      await once(asks, 'exit');
    });

    it.each(all)('do not print the API key with NODE_DEBUG set to %j', async (sections) => {
      const { child, said } = start('backend', ['sessions', 'list', '--config', 'backend.json'], {
        NODE_DEBUG: sections,
      });
      const [code] = (await once(child, 'close')) as [number];
      expect(said.err).not.toContain(API_KEY);
      expect(said.err).not.toMatch(/^(HTTPS?|NET|TLS|STREAM) \d+/m);
      expect({ code, out: said.out }).toEqual({ code: 0, out: 'no sessions\n' });
    });

    it('do not change the program’s own errors with NODE_DEBUG', async () => {
      const { child, said } = start('backend', ['sessions', 'lust'], { NODE_DEBUG: '*' });
      await once(child, 'close');
      expect(said.err).toMatch(/^dragoman-backend: /m);
    });
  });
}
