/** A machine or a program without files, ports or memory for another connection. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { describeUnreached } from '../../../src/adapters/stream/connect-error.ts';

const SOURCE = fileURLToPath(new URL('../../../src/', import.meta.url));

function failed(code: string, syscall?: string): Error {
  return Object.assign(new Error(`${syscall} ${code} wss://stream.example/?token=open-sesame`), {
    code,
    syscall,
  });
}

describe('a connection without a free file, port or memory', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])('does not spend its token: %s', (code) => {
    const why = [false, expect.stringContaining(code), true];
    expect(describeUnreached(failed(code, 'connect'))).toEqual(why);
    expect(
      describeUnreached(new AggregateError([failed('ENETUNREACH', 'connect'), failed(code, 'connect')])),
    ).toEqual(why);
  });

  it('is distinguished from one that failed during the request, and from an unknown host', () => {
    expect(describeUnreached(failed('ENOBUFS', 'write'))).toEqual([
      true,
      'the connection failed (ENOBUFS)',
      false,
    ]);
    expect(describeUnreached(failed('ENOTFOUND', 'getaddrinfo'))).toEqual([
      false,
      "the service's name is unknown",
      false,
    ]);
    expect(describeUnreached(failed('ECONNREFUSED', 'connect'))[2]).toBe(false);
    expect(describeUnreached(new Error('open-sesame'))).toEqual([true, 'the connection failed', false]);
  });

  it('does not spend its token when no address of the service answers', () => {
    const late = failed('ETIMEDOUT', 'connect');
    const why = [false, 'the service does not answer', false];
    expect(describeUnreached(late)).toEqual(why);
    const all = new AggregateError([late, failed('ENETUNREACH', 'connect')]);
    expect(describeUnreached(Object.assign(all, { code: 'ETIMEDOUT' }))).toEqual(why);
    expect(describeUnreached(failed('ETIMEDOUT', 'read'))[0]).toBe(true);
  });

  it('is recognised in a program without free files, for an address and for a name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-room-'));
    const outfile = join(folder, 'program.mjs');
    const contents = `
      import { openSync } from 'node:fs';
      import { createSystemClock } from '${SOURCE}adapters/clock.ts';
      import { createWebSocketStreams } from '${SOURCE}adapters/stream/websocket-stream.ts';
      const open = createWebSocketStreams({ clock: createSystemClock() });
      // Lazily loaded code is loaded by now.
      await new Promise((resolve) => setTimeout(resolve, 300));
      try {
        for (;;) openSync('/dev/null');
      } catch {}
      for (const host of ['127.0.0.1', 'localhost'])
        open({ address: 'ws://' + host + ':9/', token: 'open-sesame' }, {
          unreached: (...why) => process.stdout.write(JSON.stringify(why) + '\\n'),
        });
    `;
    const banner =
      "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
    await build({
      stdin: { contents, resolveDir: SOURCE, loader: 'ts' },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: { js: banner },
    });
    const limited = 'ulimit -n 80 && exec "$0" "$1"';
    const said = execFileSync('bash', ['-c', limited, process.execPath, outfile], { encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true });
    const lines = said.trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(JSON.parse(line)).toEqual([false, expect.stringContaining('(EMFILE): restart it'), true]);
      expect(line).not.toContain('open-sesame');
    }
  });
});
