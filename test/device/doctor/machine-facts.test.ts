import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readTemperature } from '../../../src/adapters/kernel.ts';
import { createProgramRunner } from '../../../src/adapters/program-runner.ts';
import { isOpenToAll } from '../../../src/device/doctor/checks/configuration/named-files.ts';
import { readDisk, readMemory, readPower } from '../../../src/device/doctor/checks/disk/disk-facts.ts';
import { readSoundAccess } from '../../../src/device/doctor/checks/permissions/sound-access.ts';
import { findRunningAgents, runsWith } from '../../../src/device/doctor/running-agent/running-agents.ts';
import type { RunProgram } from '../../../src/ports/machine.ts';
import { needs } from '../../needs.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-machine-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let machines = 0;
/** A made-up machine's kernel folders. */
function machine(files: Readonly<Record<string, string>>): { proc: string; sys: string } {
  const folder = join(root, String(machines++));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { proc: join(folder, 'proc'), sys: join(folder, 'sys') };
}
const nothing: RunProgram = async () => ({ ok: false, missing: true, text: '' });

describe('the facts of the machine', () => {
  it('include memory and its limit', () => {
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

  it('include the hottest sensor, without sensors that are not connected', () => {
    expect(
      readTemperature(
        machine({
          'sys/class/thermal/thermal_zone0/temp': '48312\n',
          'sys/class/thermal/thermal_zone1/temp': '61500\n',
          'sys/class/thermal/thermal_zone2/temp': '-274000\n',
          'sys/class/thermal/cooling_device0/temp': '99000\n',
        }),
      ),
    ).toBe(61.5);
    expect(readTemperature(machine({}))).toBeNull();
  });

  it('include the power supply on every kind of board', async () => {
    const firmware = machine({ 'sys/devices/platform/soc/soc:firmware/get_throttled': '50005\n' });
    expect(await readPower(firmware, nothing)).toEqual({ throttled: 0x50005, alarm: null });
    const alarm = machine({
      'sys/class/hwmon/hwmon0/name': 'cpu_thermal\n',
      'sys/class/hwmon/hwmon1/name': 'rpi_volt\n',
      'sys/class/hwmon/hwmon1/in0_lcrit_alarm': '1\n',
    });
    expect(await readPower(alarm, nothing)).toEqual({ throttled: null, alarm: true });
    const asked: string[] = [];
    const answering: RunProgram = async (program) => {
      asked.push(program);
      return { ok: true, text: 'throttled=0x0\n' };
    };
    expect(await readPower(machine({}), answering)).toEqual({ throttled: 0, alarm: null });
    expect(asked).toEqual(['vcgencmd']);
    expect(await readPower(machine({}), nothing)).toEqual({ throttled: null, alarm: null });
  });

  it('include a disk', () => {
    const purpose = { purpose: 'things', isNeeded: true };
    expect(readDisk({ folder: root, ...purpose })).toMatchObject({ access: 'writable', ...purpose });
    expect(readDisk({ folder: root, ...purpose }).freeBytes).toBeGreaterThan(0);
    expect(readDisk({ folder: join(root, 'none'), ...purpose })).toMatchObject({ access: 'missing' });
    writeFileSync(join(root, 'file'), '');
    expect(readDisk({ folder: join(root, 'file'), ...purpose })).toMatchObject({ access: 'missing' });
  });

  it(
    'include a folder without write permission (skipped for root)',
    needs(process.getuid?.() === 0 && 'root may do everything'),
    () => {
      const folder = join(root, 'closed');
      mkdirSync(folder, { mode: 0o555 });
      expect(readDisk({ folder, purpose: 'things', isNeeded: true })).toMatchObject({ access: 'forbidden' });
    },
  );

  it('include the agents among the processes, and no other program', () => {
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

  it('include the configuration of a running agent', () => {
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

  it('include who may use the sound cards', () => {
    const { proc, sys } = machine({
      'proc/asound/cards': ' 0 [Mic            ]: USB-Audio - USB Mic\n                      Maker\n',
    });
    const group = (process.getgroups?.() ?? [0])[0] ?? 0;
    writeFileSync(join(root, 'group'), `root:x:0:\naudio:x:${group}:pulse\n`);
    const access = readSoundAccess({ proc, sys, dev: join(root, 'dev') }, join(root, 'group'));
    expect(access).toMatchObject({ hasSound: true, isInAudio: true, cards: [{ id: 'Mic', index: 0 }] });
    expect(access.user).not.toBe('');
    writeFileSync(join(root, 'group'), 'audio:x:54321:\n');
    const other = readSoundAccess({ proc: root, sys, dev: root }, join(root, 'group'));
    expect(other).toMatchObject({ hasSound: false, isInAudio: false, cards: [] });
  });

  it('include a file that everyone may change', () => {
    const file = join(root, 'open.json');
    writeFileSync(file, '{}');
    chmodSync(file, 0o666);
    expect(isOpenToAll(file)).toBe(true);
    chmodSync(file, 0o644);
    expect(isOpenToAll(file)).toBe(false);
    expect(isOpenToAll(join(root, 'none'))).toBe(false);
  });

  it('come from programs, some of which may fail or be missing', async () => {
    const run = createProgramRunner({ PATH: process.env['PATH'] });
    const node = process.execPath;
    expect(await run(node, ['-e', 'process.stdout.write(process.env.LC_ALL)'])).toEqual({
      ok: true,
      text: 'C',
    });
    expect(await run(node, ['-e', 'console.error("no"); process.exit(3)'])).toEqual({
      ok: false,
      missing: false,
      text: 'no',
    });
    expect(await run('no-such-program-here', [])).toMatchObject({ ok: false, missing: true });
  });
});
