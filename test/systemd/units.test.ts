import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MOST_MEMORY_BYTES } from '../../src/device/process/memory-watch.ts';
import { needs } from '../needs.ts';

const UNITS = fileURLToPath(new URL('../../systemd/', import.meta.url));
const SYSTEM_UNITS = '/usr/lib/systemd/system';
const SERVICES = ['dragoman.service', 'dragoman-backend.service'] as const;

/** All settings of a unit for its program. */
const ENVIRONMENT = {
  'dragoman.service': ['Environment=MALLOC_ARENA_MAX=1', 'Environment=NODE_OPTIONS=--max-semi-space-size=1'],
  'dragoman-backend.service': [],
};

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0 && existsSync(SYSTEM_UNITS);
if (!hasSystemd) process.stderr.write('skipped: systemd-analyze verify (no systemd on this machine)\n');

let root: string;

/** A root folder with this machine's units and dummies of the programs that our units start. */
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

/** The complaints of systemd about a unit; its exit code is 0 even with unknown keys. */
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

const services = readdirSync(UNITS).filter((name) => name.endsWith('.service'));

it.each(services)('%s ends a start that hangs', (name) => {
  const type = /^Type=(.*)$/m.exec(unit(name))?.[1];
  // systemd has no limit for "oneshot", and one that is too short for a slow board for "notify". The others start at once.
  if (type === 'oneshot' || type === 'notify') expect(unit(name)).toMatch(/^TimeoutStartSec=[1-9]\d*$/m);
  else expect(['simple', 'exec']).toContain(type);
});

describe.each(SERVICES)('%s', (name) => {
  it('passes systemd-analyze verify', needs(!hasSystemd && 'needs systemd-analyze'), () => {
    expect(verify(name, unit(name))).toBe('');
  });

  it(
    'does not pass with a misspelt key or a missing program',
    needs(!hasSystemd && 'needs systemd-analyze'),
    () => {
      expect(verify(name, unit(name).replace('NoNewPrivileges', 'NoNewPriviledges'))).toContain(
        'Unknown key',
      );
      expect(verify(name, unit(name).replace('/usr/bin/node', '/usr/bin/nodejs'))).toContain(
        'not executable',
      );
    },
  );

  it('is sandboxed at 1.6 or better', needs(!hasSystemd && 'needs systemd-analyze'), () => {
    const { stdout } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', '--threshold=16', join(UNITS, name)],
      { encoding: 'utf8' },
    );
    const score = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThanOrEqual(1.6);
  });

  it('restarts without a limit, and without sandbox settings that break it', () => {
    const text = unit(name);
    expect(text).toMatch(/^Restart=always$/m);
    expect(text).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(text).toMatch(/^RestrictAddressFamilies=.*AF_NETLINK/m);
    expect(text).not.toMatch(/^(MemoryDenyWriteExecute|ProcSubset)=/m);
  });

  it('keeps secrets out of core files, environment and command line', () => {
    expect(unit(name)).toMatch(/^LimitCORE=0$/m);
    // The list is complete, so a new setting fails this test.
    expect(unit(name).match(/^Environment.*$/gm) ?? []).toEqual(ENVIRONMENT[name]);
    expect(unit(name)).not.toMatch(/^ExecStart=.*(key|token|password)/im);
  });

  it('runs as its own user from its sysusers file', () => {
    const user = /^User=(.*)$/m.exec(unit(name))?.[1] ?? 'none';
    expect(unit(name.replace('.service', '.sysusers.conf'))).toMatch(new RegExp(`^u ${user} `, 'm'));
  });
});

/** Matches glob(7) patterns of sets, stars and plain letters. */
function matchesGlob(path: string, glob: string): boolean {
  const pattern = glob.replaceAll(/[.()+^$|{}\\]/g, '\\$&').replaceAll('*', '[^/]*');
  return new RegExp(`^${pattern}$`).test(path);
}

describe('dragoman.service', () => {
  it('can access only the sound cards and, to read, the keys', () => {
    const text = unit('dragoman.service');
    expect(text).toMatch(/^DevicePolicy=closed$/m);
    expect(text.match(/^DeviceAllow=.*$/gm)).toEqual([
      'DeviceAllow=char-alsa rw',
      'DeviceAllow=char-input r',
    ]);
    // systemd resolves it at the start; otherwise a kiosk could not use a first card that is plugged in later.
    expect(text).toMatch(/^After=modprobe@snd\.service$/m);
    expect(text).toMatch(/^Wants=modprobe@snd\.service$/m);
    expect(text).toMatch(/^SupplementaryGroups=audio input$/m);
    expect(unit('dragoman.sysusers.conf')).toMatch(/^m dragoman input$/m);
    expect(text).not.toMatch(/^PrivateDevices=/m);
    expect(text).toMatch(/^PrivateUsers=yes$/m);
  });

  it('has priority over everything else on a small board', () => {
    const text = unit('dragoman.service');
    expect(Number(/^Nice=(-\d+)$/m.exec(text)?.[1])).toBeLessThan(0);
    expect(Number(/^CPUWeight=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(100);
    expect(Number(/^OOMScoreAdjust=(-\d+)$/m.exec(text)?.[1])).toBeLessThan(0);
    expect(Number(/^MemoryMax=(\d+)M$/m.exec(text)?.[1])).toBe(MOST_MEMORY_BYTES / 2 ** 20);
    expect(text).toMatch(/^LogRateLimitBurst=\d+$/m);
  });

  it('can request a reboot through a separate unit', needs(!hasSystemd && 'needs systemd-analyze'), () => {
    expect(verify('dragoman-reboot.service', unit('dragoman-reboot.service'))).toBe('');
    expect(verify('dragoman-reboot.path', unit('dragoman-reboot.path'))).toBe('');
    const [, place = 'none'] = /^PathExists=(.*)$/m.exec(unit('dragoman-reboot.path')) ?? [];
    expect(place).toMatch(/^\/run\/dragoman\//);
    expect(unit('dragoman.service')).toMatch(/^RuntimeDirectory=dragoman$/m);
    expect(readFileSync(join(UNITS, '../config/example.jsonc'), 'utf8')).toContain(`["touch", "${place}"]`);
  });

  it('can have the clock set through a separate unit', needs(!hasSystemd && 'needs systemd-analyze'), () => {
    expect(verify('dragoman-clock.service', unit('dragoman-clock.service'))).toBe('');
    expect(verify('dragoman-clock.path', unit('dragoman-clock.path'))).toBe('');
    expect(unit('dragoman-clock.path')).toMatch(/^PathExists=\/run\/dragoman\/clock$/m);
  });

  it('finishes its sentence before aplay ends, and leaves no child process', () => {
    expect(unit('dragoman.service')).toMatch(/^KillMode=mixed$/m);
  });

  it('has a watchdog, reports ready itself, and lets its child processes notify', () => {
    const text = unit('dragoman.service');
    expect(text).toMatch(/^Type=notify$/m);
    expect(text).toMatch(/^NotifyAccess=all$/m);
    // Below 30 s the watchdog would kill healthy processes on slow boards.
    expect(Number(/^WatchdogSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(30);
    // "infinity" is not a number: a start that hangs would hang forever.
    const startSeconds = Number(/^TimeoutStartSec=(\d+)$/m.exec(text)?.[1]);
    expect(startSeconds).toBeGreaterThanOrEqual(180);
    expect(startSeconds).toBeLessThanOrEqual(600);
  });

  it('has no access to the owner’s account', () => {
    expect(unit('dragoman.service')).not.toMatch(/api[-_]?key|jwt|backend/i);
  });
});

describe('dragoman-provision.service', () => {
  const name = 'dragoman-provision.service';

  it('passes systemd-analyze verify', needs(!hasSystemd && 'needs systemd-analyze'), () => {
    expect(verify(name, unit(name))).toBe('');
    expect(verify(name, unit(name).replace('ProtectSystem', 'ProtectSystems'))).toContain('Unknown key');
  });

  it('runs before the units that it configures, and only with a file', () => {
    const text = unit(name);
    const before = (/^Before=(.*)$/m.exec(text)?.[1] ?? '').split(' ');
    for (const one of ['network-pre.target', 'dragoman.service']) expect(before).toContain(one);
    expect(text).toMatch(/^After=local-fs\.target$/m);
    expect(text).toMatch(/^RequiresMountsFor=.*\/boot\/firmware/m);
    const conditions = [...text.matchAll(/^Condition\w+=(.*)$/gm)].map(([, value = '']) => value);
    // A condition without "|" would also have to be true.
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

  it('can write only to the places of its files', () => {
    expect(unit(name)).toMatch(/^ProtectSystem=strict$/m);
    expect(unit(name)).toMatch(
      /^ReadWritePaths=\/etc \/run -\/boot -\/boot\/firmware -\/var\/lib\/NetworkManager$/m,
    );
  });

  it('keeps its result across a restart of the agent', () => {
    expect(unit('dragoman.service')).toMatch(/^RuntimeDirectoryPreserve=restart$/m);
  });
});

describe('dragoman-boot-report.service', () => {
  const name = 'dragoman-boot-report.service';

  it('passes systemd-analyze verify', needs(!hasSystemd && 'needs systemd-analyze'), () => {
    // It refers to dragoman-provision.service, and another test has left a broken copy of that.
    verify('dragoman-provision.service', unit('dragoman-provision.service'));
    expect(verify(name, unit(name))).toBe('');
    expect(verify(name, unit(name).replace('KillMode', 'KillModes'))).toContain('Unknown key');
  });

  it('blocks no other unit, and runs only after provisioning', () => {
    const text = unit(name);
    expect(text).toMatch(/^Type=exec$/m);
    expect(text.match(/^ConditionPathExists=.*$/gm)).toEqual([
      'ConditionPathExists=|/run/dragoman/provisioning.json',
      'ConditionPathExists=|/run/dragoman-image',
    ]);
    expect(text).not.toMatch(/^(Before|Restart|Requires|Wants)=/m);
    expect(text).toMatch(/^After=dragoman-provision\.service dragoman\.service /m);
  });

  it('can see a running agent and access the sound cards', () => {
    const text = unit(name);
    expect(text).not.toMatch(/^(ProtectProc|ProcSubset|PrivateDevices|MemoryDenyWriteExecute)=/m);
    expect(text.match(/^DeviceAllow=.*$/gm)).toEqual(['DeviceAllow=char-alsa rw']);
    expect(text).toMatch(/^RestrictAddressFamilies=.*AF_NETLINK/m);
  });
});

describe('dragoman-screen.service', () => {
  const name = 'dragoman-screen.service';
  const text = unit(name);

  it('passes systemd-analyze verify', needs(!hasSystemd && 'needs systemd-analyze'), () => {
    expect(verify(name, text)).toBe('');
    expect(verify(name, text.replace('TTYReset', 'TTYResets'))).toContain('Unknown key');
  });

  it('starts again without a limit, and touches no other unit', () => {
    expect(text).toMatch(/^Restart=always$/m);
    expect(text).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(text).not.toMatch(/^(Requires|BindsTo|PartOf|Upholds|OnFailure|Before)=/m);
    for (const line of text.match(/^(Wants|After|Conflicts)=.*$/gm) ?? [])
      expect(line).not.toContain('dragoman');
  });

  it('ends before the agent where memory is short, and leaves the processor to the sound', () => {
    expect(Number(/^OOMScoreAdjust=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
    expect(Number(/^Nice=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  });

  it('has its own user without access to the agent’s files, and writes to memory only', () => {
    expect(text).toMatch(/^User=dragoman-screen$/m);
    expect(unit('dragoman-screen.sysusers.conf')).not.toMatch(/^m \S+ (dragoman|audio|sudo)$/m);
    expect(text).toMatch(/^RuntimeDirectory=dragoman-screen$/m);
    expect(text).toMatch(/^RuntimeDirectoryMode=0700$/m);
    expect(text).toMatch(/^ProtectSystem=strict$/m);
    expect(text).toMatch(/^PrivateTmp=yes$/m);
    expect(text).toMatch(/^LimitCORE=0$/m);
    expect(text).not.toMatch(
      /^(ReadWritePaths|StateDirectory|CacheDirectory|LogsDirectory|LoadCredential)=/m,
    );
  });

  it('can use the display, and leaves chromium its own sandbox', () => {
    // ProtectClock, too, closes all devices but the clock.
    expect(text).not.toMatch(/^(PrivateDevices|DevicePolicy|DeviceAllow|ProtectClock)=/m);
    expect(text).not.toMatch(/^(RestrictNamespaces|PrivateUsers|SystemCallFilter|MemoryDenyWriteExecute)=/m);
    expect(text).toMatch(/^PAMName=login$/m);
    expect(text).toMatch(/^TTYPath=\/dev\/tty7$/m);
  });
});
