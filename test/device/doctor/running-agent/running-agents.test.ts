import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findRunningAgents, runsWith } from '../../../../src/device/doctor/running-agent/running-agents.ts';
import { createMachines } from '../machine-folders.ts';

const { machine, remove } = createMachines();
afterAll(remove);

describe('the running agents', () => {
  it('are found among the processes, and no other program', () => {
    const line = (...words: string[]): string => `${words.join('\0')}\0`;
    const { proc } = machine({
      'proc/1/cmdline': line('/sbin/init'),
      'proc/20/cmdline': line('grep', 'dragoman', 'run'),
      'proc/21/cmdline': line('vi', '/opt/dragoman/dragoman.mjs'),
      'proc/22/cmdline': line('node', '/opt/dragoman/dragoman.mjs', 'doctor', '--config', 'c.json'),
      'proc/self/cmdline': line('node', '/opt/dragoman/dragoman.mjs', 'run'),
      'proc/meminfo': '',
    });
    expect(findRunningAgents(proc, 22)).toEqual([]);
    const words = ['/usr/bin/node', '--no-warnings', '/opt/dragoman/dragoman.mjs', 'run'];
    const running = line(...words, '--config', 'c.json');
    const more = machine({
      'proc/1/cmdline': line('init'),
      'proc/333/cmdline': running,
      // Exits at once, because it names no configuration.
      'proc/334/cmdline': line(...words),
      'proc/335/cmdline': line(...words, '--config'),
    });
    expect(findRunningAgents(more.proc, 22)).toEqual([{ pid: 333, config: null }]);
    expect(findRunningAgents(more.proc, 333)).toEqual([]);
    expect(findRunningAgents(machine({}).proc, 22)).toBeUndefined();
  });

  it('are known with their configuration', () => {
    const line = (...words: string[]): string => `${words.join('\0')}\0`;
    const { proc } = machine({
      'proc/7/cmdline': line('/usr/bin/dragoman', 'run', '--config', '/etc/dragoman/config.json'),
      'proc/8/cmdline': line('/usr/bin/dragoman', 'run', '--config=c.json'),
      'proc/9/cmdline': line('/usr/bin/dragoman', 'run', '--config', 'c.json'),
    });
    symlinkSync('/srv/kiosk', join(proc, '8', 'cwd'));
    const agents = findRunningAgents(proc, 1) ?? [];
    expect(agents).toEqual([
      { pid: 7, config: '/etc/dragoman/config.json' },
      { pid: 8, config: '/srv/kiosk/c.json' },
      { pid: 9, config: null },
    ]);
    // An unknown configuration may be this one.
    expect(agents.map((agent) => runsWith(agent, '/etc/dragoman/config.json'))).toEqual([true, false, true]);
  });
});
