import { describe, expect, it } from 'vitest';
import {
  cpuSecondsOf,
  parsePeak,
  parseRollup,
  parseSleeps,
  parseStat,
  treeOf,
} from '../../../scripts/bench/process-tree.ts';
import { quantile, slope, spreadOf } from '../../../scripts/bench/quantiles.ts';
import { forDevice, readUnit } from '../../../scripts/bench/subjects.ts';

describe('a process of /proc', () => {
  const line = (pid: number, name: string, parent: number): string =>
    `${pid} (${name}) S ${parent} 1 1 0 -1 4194304 99 0 0 0 30 12 5 3 20 0 1 0 184339 3133440 414\n`;

  it('has its own CPU time and that of its ended children', () => {
    const of = { pid: 22, parent: 7, name: 'node' };
    expect(parseStat(line(22, 'node', 7))).toEqual({ ...of, ticks: 50, endedTicks: 8 });
  });

  it('has the CPU time of the scheduler, or of clock ticks when there is none', () => {
    const stat = { parent: 1, name: 'node', ticks: 50, endedTicks: 8 };
    expect(cpuSecondsOf({ ...stat, pid: 0 }, 100)).toBe(0.5);
    const { user, system } = process.cpuUsage();
    const own = cpuSecondsOf({ ...stat, pid: process.pid }, 100) - 0.08;
    expect(own).toBeGreaterThan((user + system) / 1e6 - 0.5);
    expect(own).toBeLessThan((user + system) / 1e6 + 5);
  });

  it('may have any name', () => {
    expect(parseStat(line(22, 'a) S 1 (b', 7))).toMatchObject({ name: 'a) S 1 (b', parent: 7 });
    expect(parseStat('')).toBeNull();
  });

  it('has exactly its descendants in its tree', () => {
    const all = [line(5, 'x', 1), line(9, 'c', 8), line(8, 'b', 7), line(7, 'a', 1), line(6, 'y', 5)];
    const tree = treeOf(
      all.flatMap((text) => parseStat(text) ?? []),
      7,
    );
    expect(tree.map(({ pid }) => pid)).toEqual([7, 8, 9]);
  });

  it('has its memory in MB', () => {
    expect(parsePeak('VmPeak:\t 9216 kB\nVmHWM:\t    3072 kB\nVmRSS:\t 2048 kB\n')).toBe(3);
    expect(parseRollup('5561-7ffd ---p [rollup]\nRss:  2048 kB\nPss:  512 kB\nPss_Dirty: 9 kB\n')).toEqual({
      rss: 2,
      pss: 0.5,
    });
  });

  it('has slept as often as it gave its core up by itself', () => {
    const text = 'Threads:\t7\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t7\n';
    expect(parseSleeps(text)).toBe(42);
  });
});

describe('many measurements', () => {
  it('have a median, a 99th percentile and a maximum', () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index);
    expect(spreadOf(values)).toEqual({ p50: 100, p99: 198, max: 200, count: 200 });
    expect(quantile([3], 0.99)).toBe(3);
    expect(spreadOf([])).toBeNull();
  });

  it('have the slope of their regression line', () => {
    expect(
      slope([
        [1, 10],
        [2, 12],
        [4, 16],
      ]),
    ).toBeCloseTo(2);
  });
});

describe('a measured program', () => {
  it('starts with the flags of its unit', () => {
    const unit =
      '[Service]\nExecStart=/usr/bin/node --a=1 --b /opt/x.mjs run --config c\nEnvironment=A_B=1\n#Environment=C=2\n';
    expect(readUnit(unit)).toEqual({ flags: ['--a=1', '--b'], env: { A_B: '1' } });
    expect(readUnit('ExecStart=/usr/bin/node /opt/x.mjs run\n')).toEqual({ flags: [], env: {} });
  });

  it('keeps its periods on another device', () => {
    expect(forDevice(['aplay', '-D', 'one', '-R', '1'], 'two')).toEqual(['aplay', '-D', 'two', '-R', '1']);
  });
});
