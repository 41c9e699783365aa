import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../../../../src/adapters/audio/child/find-program.ts';
import { prefix } from '../../../../src/adapters/audio/child/parent-death.ts';
import { needs } from '../../../needs.ts';
import { makeFolder } from '../wav-files.ts';
import { buildAgent } from './agent-program.ts';
import { makeProgram } from './fake-programs.ts';

const within = { timeout: 60_000, interval: 20 };

/** Compiles the filter; returns a sentence when it cannot be used here. */
function makeFilter(): { path: string } | { missing: string } {
  if (findProgram('gcc') === null) return { missing: 'no gcc' };
  const path = join(makeFolder(), 'forbid-capset');
  const source = fileURLToPath(new URL('forbid-capset.c', import.meta.url));
  const { status, stderr } = spawnSync('gcc', ['-O1', '-Wall', '-Werror', '-o', path, source], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return spawnSync(path, ['true']).status === 0 ? { path } : { missing: 'no seccomp' };
}

const missing =
  findProgram('gcc') === null || findProgram('setpriv') === null
    ? 'no gcc, or no setpriv (util-linux)'
    : null;

describe(
  `under a system call filter${missing === null ? '' : `: skipped, ${missing}`}`,
  needs(missing),
  () => {
    it('setpriv exits with 127, which proves that the filter works', (context) => {
      const filter = makeFilter();
      if ('missing' in filter) return context.skip(filter.missing);
      const { status, stderr } = spawnSync(filter.path, ['setpriv', '--pdeathsig', 'KILL', 'true'], {
        encoding: 'utf8',
      });
      expect(status).toBe(127);
      expect(stderr).toContain('Operation not permitted');
    });

    it.for([
      { where: 'in a container', mark: '' },
      // `exec` keeps the process number, which systemd passes in the variable.
      { where: 'started by systemd', mark: 'export SYSTEMD_EXEC_PID=$$;' },
    ])('a capture program delivers its sound: $where', async ({ mark }, context) => {
      const filter = makeFilter();
      if ('missing' in filter) return context.skip(filter.missing);
      const folder = makeFolder();
      const [agent, child] = [await buildAgent(folder), makeProgram('deliver();', folder)];
      const words = ['-c', `${mark} exec "$0" "$@"`, filter.path, process.execPath, agent, child];
      const started = spawn('/bin/sh', words, { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void started.kill('SIGKILL'));
      let said = '';
      started.stdout.on('data', (bytes: Buffer) => {
        said += bytes.toString();
      });
      await expect.poll(() => said, within).toBe('heard\n');
    });
  },
);

describe('the means by which a child dies with the daemon', () => {
  it('is systemd when it started the daemon itself', () => {
    expect(prefix({ SYSTEMD_EXEC_PID: String(process.pid) })).toEqual([]);
  });

  it(
    'is setpriv otherwise, also for a program that a service has started',
    needs(findProgram('setpriv') === null && 'needs setpriv'),
    () => {
      expect(prefix({})).toEqual([expect.stringMatching(/setpriv$/), '--pdeathsig', 'KILL', '--']);
      expect(prefix({ SYSTEMD_EXEC_PID: String(process.ppid) })).toHaveLength(4);
    },
  );
});
