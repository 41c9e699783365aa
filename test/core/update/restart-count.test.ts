import { describe, expect, it } from 'vitest';
import {
  countRestarts,
  expectRestart,
  NO_RESTARTS,
  type RestartCount,
  type RestartFacts,
} from '../../../src/core/update/restart-count.ts';

/** @returns how many ends count against the version, look by look */
function counted(begin: RestartCount, looks: readonly RestartFacts[]): number[] {
  let count = begin;
  return looks.map((facts) => {
    const next = countRestarts(count, facts);
    count = next.count;
    return next.unasked;
  });
}
const look = (restarts: number, pid: number, asked: number | null = null): RestartFacts => ({
  restarts,
  pid,
  asked,
});

describe('ends of the agent', () => {
  it('count when they were not ordered, and the one of the switch does not', () => {
    const switched = expectRestart(look(0, 100));
    expect(counted(switched, [look(0, 0), look(1, 101), look(2, 102), look(3, 103)])).toEqual([0, 0, 1, 2]);
  });

  it('do not count when an operator ordered them, however often they are looked at', () => {
    const switched = expectRestart(look(0, 100));
    const looks = [
      look(1, 101),
      look(1, 101, 101),
      look(1, 0, 101),
      look(2, 102, 101),
      look(2, 102, 101),
      look(3, 103, 102),
      look(4, 104, 102),
    ];
    expect(counted(switched, looks)).toEqual([0, 0, 0, 0, 0, 0, 1]);
  });

  it('count although an operator ordered a restart before the switch', () => {
    const switched = expectRestart(look(4, 100, 99));
    expect(counted(switched, [look(5, 101, 99), look(6, 102, 99)])).toEqual([0, 1]);
  });

  it('do not count when the updater was not there, as after its own restart', () => {
    const looks = [look(1, 101, 100), look(1, 101, 100), look(2, 102, 100), look(3, 103, 102)];
    expect(counted(NO_RESTARTS, looks)).toEqual([0, 0, 1, 1]);
    // An ordered end that is under way.
    expect(counted(NO_RESTARTS, [look(1, 101, 101), look(2, 102, 101)])).toEqual([0, 0]);
  });

  it('begin anew when a person starts the unit', () => {
    expect(counted(expectRestart(look(5, 100)), [look(6, 101), look(0, 102), look(1, 103)])).toEqual([
      0, 0, 1,
    ]);
    expect(counted(NO_RESTARTS, [look(0, 100), look(1, 101)])).toEqual([0, 1]);
  });
});
