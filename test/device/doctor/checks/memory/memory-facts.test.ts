import { afterAll, describe, expect, it } from 'vitest';
import { readMemory } from '../../../../../src/device/doctor/checks/memory/memory-facts.ts';
import { createMachines } from '../../machine-folders.ts';

const { machine, remove } = createMachines();
afterAll(remove);

describe('the facts of memory', () => {
  it('include its limit', () => {
    const folders = machine({
      'proc/meminfo': 'MemTotal:        1000000 kB\nMemFree:  5 kB\nMemAvailable:     400000 kB\n',
      'sys/fs/cgroup/memory.max': '104857600\n',
    });
    expect(readMemory(folders)).toEqual({
      total: 1_024_000_000,
      available: 409_600_000,
      limit: 104_857_600,
      canLimit: null,
    });
    const controllers = (text: string) =>
      readMemory(machine({ 'sys/fs/cgroup/cgroup.controllers': text })).canLimit;
    expect(controllers('cpuset cpu io memory pids\n')).toBe(true);
    // Raspberry Pi OS by default.
    expect(controllers('cpuset cpu io pids\n')).toBe(false);
    expect(
      readMemory(machine({ 'proc/meminfo': 'MemTotal: 9 kB\n', 'sys/fs/cgroup/memory.max': 'max\n' })).limit,
    ).toBeNull();
    expect(readMemory(machine({})).total).toBeGreaterThan(0);
  });
});
