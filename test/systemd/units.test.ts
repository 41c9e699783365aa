import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MOST_MEMORY_BYTES } from '../../src/agent/service/memory-watch.ts';

const UNITS = fileURLToPath(new URL('../../systemd/', import.meta.url));
const SYSTEM_UNITS = '/usr/lib/systemd/system';
const SERVICES = ['dragoman.service', 'dragoman-backend.service'] as const;

/** All that a unit sets for its program. */
const ENVIRONMENT = {
  'dragoman.service': ['Environment=MALLOC_ARENA_MAX=1'],
  'dragoman-backend.service': [],
};

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0 && existsSync(SYSTEM_UNITS);
if (!hasSystemd) process.stderr.write('skipped: systemd-analyze verify (no systemd on this machine)\n');

let root: string;

/** A root folder with this machine's own units and stand-ins for the programs that ours start. */
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-root-'));
  if (!hasSystemd) return;
  cpSync(SYSTEM_UNITS, join(root, SYSTEM_UNITS), { recursive: true, verbatimSymlinks: true });
  for (const program of ['/usr/bin/node', '/bin/sh', '/usr/bin/rm', '/usr/bin/systemctl']) {
    mkdirSync(join(root, dirname(program)), { recursive: true });
    writeFileSync(join(root, program), '#!/bin/sh\n');
    chmodSync(join(root, program), 0o755);
  }
});
afterAll(() => rmSync(root, { recursive: true }));

/** What systemd has to say about a unit's text: it exits with 0 in spite of keys that it does not know. */
function verify(name: string, text: string): string {
  const file = join(root, 'etc/systemd/system', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const { stdout, stderr, status } = spawnSync(
    'systemd-analyze',
    ['verify', '--man=no', `--root=${root}`, name],
    {
      encoding: 'utf8',
    },
  );
  return `${stdout}${stderr}${status === 0 ? '' : `exit ${status}`}`;
}

const unit = (name: string): string => readFileSync(join(UNITS, name), 'utf8');

describe.each(SERVICES)('%s', (name) => {
  it.skipIf(!hasSystemd)('passes systemd-analyze verify', () => {
    expect(verify(name, unit(name))).toBe('');
  });

  it.skipIf(!hasSystemd)('would not pass with a misspelt key or a missing program', () => {
    expect(verify(name, unit(name).replace('NoNewPrivileges', 'NoNewPriviledges'))).toContain('Unknown key');
    expect(verify(name, unit(name).replace('/usr/bin/node', '/usr/bin/nodejs'))).toContain('not executable');
  });

  it.skipIf(!hasSystemd)('is sandboxed at 1.6 or better', () => {
    const { stdout } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', '--threshold=16', join(UNITS, name)],
      { encoding: 'utf8' },
    );
    const score = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThanOrEqual(1.6);
  });

  it('never gives up, and is not sandboxed to death', () => {
    const text = unit(name);
    expect(text).toMatch(/^Restart=always$/m);
    expect(text).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(text).toMatch(/^RestrictAddressFamilies=.*AF_NETLINK/m);
    expect(text).not.toMatch(/^(MemoryDenyWriteExecute|ProcSubset)=/m);
  });

  it('keeps secrets out of core files, its environment and its command line', () => {
    expect(unit(name)).toMatch(/^LimitCORE=0$/m);
    // What is not listed here can't come in unseen.
    expect(unit(name).match(/^Environment.*$/gm) ?? []).toEqual(ENVIRONMENT[name]);
    expect(unit(name)).not.toMatch(/^ExecStart=.*(key|token|password)/im);
  });

  it('runs as a user of its own, which its sysusers file makes', () => {
    const user = /^User=(.*)$/m.exec(unit(name))?.[1] ?? 'none';
    expect(unit(name.replace('.service', '.sysusers.conf'))).toMatch(new RegExp(`^u ${user} `, 'm'));
  });
});

/** As glob(7) has it, of sets, stars and plain letters. */
function matchesGlob(path: string, glob: string): boolean {
  const pattern = glob.replaceAll(/[.()+^$|{}\\]/g, '\\$&').replaceAll('*', '[^/]*');
  return new RegExp(`^${pattern}$`).test(path);
}

describe('dragoman.service', () => {
  it('can reach the sound cards and nothing else', () => {
    const text = unit('dragoman.service');
    expect(text).toMatch(/^DevicePolicy=closed$/m);
    expect(text.match(/^DeviceAllow=.*$/gm)).toEqual(['DeviceAllow=char-alsa rw']);
    // Looked up at the start: a kiosk whose first card is plugged in later would never reach it.
    expect(text).toMatch(/^After=modprobe@snd\.service$/m);
    expect(text).toMatch(/^Wants=modprobe@snd\.service$/m);
    expect(text).toMatch(/^SupplementaryGroups=audio$/m);
    expect(text).not.toMatch(/^PrivateDevices=/m);
    expect(text).toMatch(/^PrivateUsers=yes$/m);
  });

  it('comes before everything else on a small board', () => {
    const text = unit('dragoman.service');
    expect(Number(/^Nice=(-\d+)$/m.exec(text)?.[1])).toBeLessThan(0);
    expect(Number(/^CPUWeight=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(100);
    expect(Number(/^OOMScoreAdjust=(-\d+)$/m.exec(text)?.[1])).toBeLessThan(0);
    expect(Number(/^MemoryMax=(\d+)M$/m.exec(text)?.[1])).toBe(MOST_MEMORY_BYTES / 2 ** 20);
    expect(text).toMatch(/^LogRateLimitBurst=\d+$/m);
  });

  it.skipIf(!hasSystemd)('can have the machine rebooted by a unit of its own', () => {
    expect(verify('dragoman-reboot.service', unit('dragoman-reboot.service'))).toBe('');
    expect(verify('dragoman-reboot.path', unit('dragoman-reboot.path'))).toBe('');
    const [, place = 'none'] = /^PathExists=(.*)$/m.exec(unit('dragoman-reboot.path')) ?? [];
    expect(place).toMatch(/^\/run\/dragoman\//);
    expect(unit('dragoman.service')).toMatch(/^RuntimeDirectory=dragoman$/m);
    expect(readFileSync(join(UNITS, '../config/example.jsonc'), 'utf8')).toContain(`["touch", "${place}"]`);
  });

  it.skipIf(!hasSystemd)('can have the clock set by a unit of its own', () => {
    expect(verify('dragoman-clock.service', unit('dragoman-clock.service'))).toBe('');
    expect(verify('dragoman-clock.path', unit('dragoman-clock.path'))).toBe('');
    expect(unit('dragoman-clock.path')).toMatch(/^PathExists=\/run\/dragoman\/clock$/m);
  });

  it('ends its sentence before its loudspeaker is taken away, and leaves no child behind', () => {
    expect(unit('dragoman.service')).toMatch(/^KillMode=mixed$/m);
  });

  it('is watched: ready by its own word, and its children may speak for it', () => {
    const text = unit('dragoman.service');
    expect(text).toMatch(/^Type=notify$/m);
    expect(text).toMatch(/^NotifyAccess=all$/m);
    // Below 30 s healthy processes on slow boards are killed.
    expect(Number(/^WatchdogSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(30);
    // No number, as "infinity" is none: a start that hangs would hang for good.
    const startSeconds = Number(/^TimeoutStartSec=(\d+)$/m.exec(text)?.[1]);
    expect(startSeconds).toBeGreaterThanOrEqual(180);
    expect(startSeconds).toBeLessThanOrEqual(600);
  });

  it('has no way to the account of the owner', () => {
    expect(unit('dragoman.service')).not.toMatch(/api[-_]?key|jwt|backend/i);
  });
});

describe('dragoman-provision.service', () => {
  const name = 'dragoman-provision.service';

  it.skipIf(!hasSystemd)('passes systemd-analyze verify', () => {
    expect(verify(name, unit(name))).toBe('');
    expect(verify(name, unit(name).replace('ProtectSystem', 'ProtectSystems'))).toContain('Unknown key');
  });

  it('runs before what it configures, and not at all without a file', () => {
    const text = unit(name);
    const before = (/^Before=(.*)$/m.exec(text)?.[1] ?? '').split(' ');
    for (const one of ['network-pre.target', 'dragoman.service']) expect(before).toContain(one);
    expect(text).toMatch(/^After=local-fs\.target$/m);
    expect(text).toMatch(/^RequiresMountsFor=.*\/boot\/firmware/m);
    const conditions = [...text.matchAll(/^Condition\w+=(.*)$/gm)].map(([, value = '']) => value);
    // One that is not "|" would have to hold as well.
    expect(conditions.every((value) => value.startsWith('|'))).toBe(true);
    const holds = (path: string) => conditions.some((value) => matchesGlob(path, value.slice(1)));
    for (const folder of ['/boot/firmware', '/boot']) {
      for (const file of [
        'dragoman.json',
        'Dragoman.JSON',
        'dragoman.json.txt',
        'dragoman.txt',
        'dragoman (1).json',
      ])
        expect([file, holds(`${folder}/${file}`)]).toEqual([file, true]);
      for (const file of ['dragoman-status.txt', 'config.txt', 'DRAGOSTA.NEW'])
        expect([file, holds(`${folder}/${file}`)]).toEqual([file, false]);
    }
  });

  it('writes where its parts go, and nowhere else', () => {
    expect(unit(name)).toMatch(/^ProtectSystem=strict$/m);
    expect(unit(name)).toMatch(
      /^ReadWritePaths=\/etc \/run -\/boot -\/boot\/firmware -\/var\/lib\/NetworkManager$/m,
    );
  });

  it('finds its result untouched when the agent has restarted', () => {
    expect(unit('dragoman.service')).toMatch(/^RuntimeDirectoryPreserve=restart$/m);
  });
});

describe('dragoman-boot-report.service', () => {
  const name = 'dragoman-boot-report.service';

  it.skipIf(!hasSystemd)('passes systemd-analyze verify', () => {
    // It names that one, of which another test has left a bad one.
    verify('dragoman-provision.service', unit('dragoman-provision.service'));
    expect(verify(name, unit(name))).toBe('');
    expect(verify(name, unit(name).replace('KillMode', 'KillModes'))).toContain('Unknown key');
  });

  it('keeps nothing waiting, and runs only where provisioning has left its result', () => {
    const text = unit(name);
    expect(text).toMatch(/^Type=exec$/m);
    expect(text.match(/^ConditionPathExists=.*$/gm)).toEqual([
      'ConditionPathExists=|/run/dragoman/provisioning.json',
      'ConditionPathExists=|/run/dragoman-image',
    ]);
    expect(text).not.toMatch(/^(Before|Restart|Requires|Wants)=/m);
    expect(text).toMatch(/^After=dragoman-provision\.service dragoman\.service /m);
  });

  it('sees whether the agent runs, and reaches the sound cards', () => {
    const text = unit(name);
    expect(text).not.toMatch(/^(ProtectProc|ProcSubset|PrivateDevices|MemoryDenyWriteExecute)=/m);
    expect(text.match(/^DeviceAllow=.*$/gm)).toEqual(['DeviceAllow=char-alsa rw']);
    expect(text).toMatch(/^RestrictAddressFamilies=.*AF_NETLINK/m);
  });
});
