import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPTS = fileURLToPath(new URL('../../scripts/deb/maintainer/', import.meta.url));

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-maintainer-'));
  for (const folder of ['run/systemd/system', 'usr/lib/systemd/system', 'etc/systemd/system', 'bin'])
    mkdirSync(join(root, folder), { recursive: true });
  const tool = join(root, 'bin/deb-systemd-invoke');
  writeFileSync(tool, '#!/bin/sh\necho "$@" >&2\n', { mode: 0o755 });
});
afterEach(() => rmSync(root, { recursive: true }));

/** Runs a script as if the folder were the system. @returns the calls of deb-systemd-invoke */
function run(name: string, action: string): string[] {
  const text = readFileSync(join(SCRIPTS, name), 'utf8');
  const script = text.replaceAll(/ (\[ -d )?("?)\/(run|usr|etc)\//g, ` $1$2${root}/$3/`);
  const { status, stderr } = spawnSync('sh', ['-c', script, name, action], {
    env: { PATH: `${join(root, 'bin')}:${process.env['PATH']}` },
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stderr.split('\n').filter((line) => line !== '');
}

describe.each([
  ['dragoman-node.postinst', 'configure'],
  ['dragoman-node.postrm', 'remove'],
])('%s', (name, action) => {
  it('restarts only services that are installed', () => {
    expect(run(name, action)).toEqual([]);
    writeFileSync(join(root, 'usr/lib/systemd/system/dragoman.service'), '');
    expect(run(name, action)).toEqual(['try-restart dragoman.service']);
    writeFileSync(join(root, 'etc/systemd/system/dragoman-backend.service'), '');
    expect(run(name, action)).toEqual([
      'try-restart dragoman.service',
      'try-restart dragoman-backend.service',
    ]);
  });

  it('does nothing for another action', () => {
    writeFileSync(join(root, 'usr/lib/systemd/system/dragoman.service'), '');
    expect(run(name, 'abort-upgrade')).toEqual([]);
  });
});
