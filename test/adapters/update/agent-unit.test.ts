/** The agent's unit, seen from outside: systemd is a function here, and the kernel a folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAgentUnit } from '../../../src/adapters/update/agent-unit.ts';
import { createVirtualClock, type VirtualClock } from '../../virtual-clock.ts';

const systemd = { ActiveState: 'active', MainPID: 0, NRestarts: 0 };
vi.mock('../../../src/adapters/update/run-program.ts', () => ({
  runProgram: async (program: string, words: readonly string[]) => {
    expect([program, ...words]).toEqual([
      'systemctl',
      'show',
      '-p',
      'ActiveState,MainPID,NRestarts',
      'a.service',
    ]);
    const stdout = Object.entries(systemd).map(([name, value]) => `${name}=${value}\n`);
    return { code: 0, stdout: stdout.join(''), stderr: '' };
  },
}));

let folder: string;
let clock: VirtualClock;
let unit: ReturnType<typeof createAgentUnit>;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-unit-'));
  mkdirSync(join(folder, 'run'));
  clock = createVirtualClock();
  unit = createAgentUnit({ unit: 'a.service', runtime: join(folder, 'run'), kernel: folder }, clock);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const put = (name: string, text: string): void => {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const note = (pid: number, more: object = {}, name = `agent-${pid}.json`): void =>
  put(
    `run/${name}`,
    JSON.stringify({
      pid,
      version: '1.3.0',
      status: 'ready',
      reasons: [],
      broker: true,
      connectedSince: 5,
      problem: null,
      config: {},
      ...more,
    }),
  );
const hasRead = (pid: number, bytes: number): void => put(`proc/${pid}/io`, `rchar: ${bytes}\nwchar: 7\n`);
const runs = (MainPID: number, NRestarts = 0, ActiveState = 'active'): void =>
  void Object.assign(systemd, { MainPID, NRestarts, ActiveState });

describe('what the agent says of itself', () => {
  it('is its note', async () => {
    runs(100);
    note(100, { reasons: ['capture:hall: unplugged', 'no_backend', 'capture:desk: busy'] });
    expect(await unit.look()).toMatchObject({
      reports: true,
      usable: true,
      problem: null,
      broker: true,
      backend: false,
      deaf: ['hall: unplugged', 'desk: busy'],
    });
    note(100, { broker: 'wrong password', problem: 'lanes: unknown key' });
    expect(await unit.look()).toMatchObject({
      usable: false,
      problem: 'lanes: unknown key',
      broker: false,
      backend: false,
    });
  });

  it.each<[string, () => void]>([
    ['there is no note', () => {}],
    ['the note is of another process', () => note(99)],
    ['the note says that it is of another process', () => note(99, {}, 'agent-100.json')],
    ['the note is not a note', () => put('run/agent-100.json', '{"pid":100}')],
  ])('is nothing when %s', async (_, leave) => {
    runs(100);
    leave();
    expect(await unit.look()).toMatchObject({
      reports: false,
      usable: false,
      broker: false,
      backend: false,
    });
  });
});

describe('the bytes that it reads', () => {
  it('are measured over ten seconds and more, and per second', async () => {
    runs(100);
    const looks: (number | null)[] = [];
    for (let second = 0; second <= 20; second += 5) {
      // 1000 in a second, and from the tenth second on 3000.
      hasRead(100, 1000 * second + 2000 * Math.max(0, second - 10));
      looks.push((await unit.look()).readsPerS);
      clock.advance(5000);
    }
    expect(looks).toEqual([null, 1000, 1000, 2000, 3000]);
  });

  it('of the process before do not count', async () => {
    runs(100);
    hasRead(100, 0);
    await unit.look();
    clock.advance(10_000);
    hasRead(100, 480_000);
    expect((await unit.look()).readsPerS).toBe(48_000);
    runs(101, 1);
    hasRead(101, 500_000);
    expect((await unit.look()).readsPerS).toBeNull();
    clock.advance(10_000);
    hasRead(101, 500_900);
    expect((await unit.look()).readsPerS).toBe(90);
  });

  it('are unknown when the kernel does not count, or no process runs', async () => {
    runs(100);
    expect((await unit.look()).readsPerS).toBeNull();
    runs(0);
    hasRead(0, 5);
    expect((await unit.look()).readsPerS).toBeNull();
  });
});

it('the network is there when an interface other than the loopback has a carrier', async () => {
  const has = async (): Promise<boolean> => (await unit.look()).network;
  expect(await has()).toBe(false);
  put('sys/class/net/lo/carrier', '1\n');
  expect(await has()).toBe(false);
  put('sys/class/net/eth0/carrier', '0\n');
  mkdirSync(join(folder, 'sys/class/net/wlan0'));
  expect(await has()).toBe(false);
  put('sys/class/net/wlan1/carrier', '1\n');
  expect(await has()).toBe(true);
});

it('counts as active when systemd says so', async () => {
  const is = async (state: string): Promise<boolean> => {
    runs(100, 0, state);
    return (await unit.look()).active;
  };
  expect([await is('active'), await is('reloading'), await is('activating'), await is('failed')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

describe('a restart by the updater', () => {
  const start = async (script: string): Promise<ChildProcess & { pid: number }> => {
    const child = spawn(process.execPath, [
      '-e',
      `${script}; setInterval(() => {}, 1000); console.log('up')`,
    ]);
    children.push(child);
    await once(child.stdout, 'data');
    return child as ChildProcess & { pid: number };
  };
  /** Time passes until the restart is over. @returns the signal that has ended the process */
  const restart = async (child: ChildProcess, endsItself: boolean): Promise<NodeJS.Signals | null> => {
    const ended = once(child, 'exit');
    let isOver = false;
    const done = unit.restart().finally(() => {
      isOver = true;
    });
    await clock.elapse(0);
    if (endsItself) await ended;
    while (!isOver) await clock.elapse(200);
    await done;
    return (await ended)[1];
  };

  it('ends the process, and does not count against the version, while a further end does', async () => {
    const child = await start('');
    runs(child.pid, 4);
    expect(await restart(child, true)).toBe('SIGTERM');
    runs(101, 5);
    expect((await unit.look()).restarts).toBe(0);
    runs(102, 6);
    expect((await unit.look()).restarts).toBe(1);
  });

  it('kills a process that does not end within 15 s', async () => {
    const child = await start("process.on('SIGTERM', () => {})");
    runs(child.pid);
    expect(await restart(child, false)).toBe('SIGKILL');
    expect(clock.now()).toBeGreaterThan(16_000);
  });

  it('of a unit that does not run expects no start', async () => {
    runs(0, 4, 'inactive');
    await unit.restart();
    runs(101, 5);
    expect((await unit.look()).restarts).toBe(1);
  });

  it('that an operator ordered does not count', async () => {
    runs(100, 0);
    expect((await unit.look()).restarts).toBe(0);
    put('run/restart-asked', '100');
    runs(101, 1);
    expect((await unit.look()).restarts).toBe(0);
    put('run/restart-asked', 'all of them');
    runs(102, 2);
    expect((await unit.look()).restarts).toBe(1);
  });
});
