import { describe, expect, it } from 'vitest';
import {
  judgeConfiguration,
  judgeInvalid,
} from '../../../../../src/device/doctor/checks/configuration/configuration-rules.ts';
import {
  type DiskFacts,
  judgeDisk,
  judgeMemory,
  judgePower,
  judgeTemperature,
} from '../../../../../src/device/doctor/checks/disk/disk-rules.ts';
import {
  judgePermissions,
  type WantedDevice,
} from '../../../../../src/device/doctor/checks/permissions/permissions-rules.ts';
import {
  judgeUnit,
  parseProperties,
  type UnitProperties,
} from '../../../../../src/device/doctor/checks/service/service-rules.ts';
import {
  combine,
  diagnosisOf,
  ok,
  problem,
  skipped,
  warning,
  worstOf,
} from '../../../../../src/device/doctor/report/finding.ts';
import type { SoundAccess } from '../../../../../src/ports/machine.ts';

const GB = 1e9;
const MB = 1e6;

describe('findings', () => {
  it('show the worst of several steps, with all figures', () => {
    const steps = [ok('a', { a: 1 }), warning('b', 'B.', { b: 2 }), warning('c', 'C.'), skipped('d')];
    expect(combine(steps)).toEqual({
      verdict: 'warning',
      finding: 'b; c',
      fix: 'B. C.',
      data: { a: 1, b: 2 },
    });
    expect(combine([...steps, problem('e', 'E.')])).toMatchObject({
      verdict: 'problem',
      finding: 'e',
      fix: 'E.',
    });
    const twice = [problem('c', 'Fix it.'), problem('d', 'Fix it.')];
    expect(combine(twice)).toMatchObject({ finding: 'c; d', fix: 'Fix it.' });
    expect(combine([ok('a'), ok('b')])).toMatchObject({ verdict: 'ok', finding: 'a; b', fix: null });
    expect(worstOf([])).toBe('skipped');
    expect(worstOf(['ok', 'skipped'])).toBe('ok');
  });

  it('are one document in fixed order', () => {
    const finding = { lane: null, ...ok('a') };
    const { verdict, checks } = diagnosisOf('1', [
      { check: 'memory', ...finding },
      { check: 'broker', ...finding },
    ]);
    expect(verdict).toBe('ok');
    expect(checks.map(({ check }) => check)).toEqual(['broker', 'memory']);
  });
});

describe('the machine', () => {
  const disk = (more: Partial<DiskFacts>) =>
    judgeDisk({
      folder: '/var/lib/dragoman',
      purpose: 'things',
      isNeeded: false,
      freeBytes: 4 * GB,
      freeFiles: 0.9,
      access: 'writable' as const,
      ...more,
    });
  it.each<[string, Partial<DiskFacts>, string]>([
    ['half empty', {}, 'ok'],
    ['nearly full', { freeBytes: 100 * MB }, 'warning'],
    ['full', { freeBytes: 5 * MB }, 'problem'],
    ['full of small files', { freeFiles: 0.01 }, 'warning'],
    ['read-only', { access: 'read-only' }, 'warning'],
    ['read-only and needed', { access: 'read-only', isNeeded: true }, 'problem'],
    ['forbidden', { access: 'forbidden' }, 'warning'],
    ['a forbidden recording', { access: 'forbidden', isNeeded: true }, 'problem'],
    ['not there and needed', { access: 'missing', isNeeded: true }, 'problem'],
  ])('is judged by a disk that is %s', (_, facts, verdict) => {
    expect(disk(facts).verdict).toBe(verdict);
  });

  it('never advises to give a folder away when it is forbidden', () => {
    for (const isNeeded of [true, false])
      for (const folder of ['/root', '/home', '/']) {
        const { fix } = disk({ access: 'forbidden', isNeeded, folder });
        expect(fix).toMatch(/agent's user.*\/var\/lib\/dragoman/);
        expect(fix).not.toContain('chown');
      }
  });

  it.each([
    [{ total: 1 * GB, available: 700 * MB, limit: null }, 'ok'],
    [{ total: 1 * GB, available: 100 * MB, limit: null }, 'warning'],
    [{ total: 1 * GB, available: 30 * MB, limit: null }, 'problem'],
    [{ total: 1 * GB, available: 700 * MB, limit: 64 * MB }, 'warning'],
    [{ total: 1 * GB, available: 700 * MB, limit: 300 * MB }, 'ok'],
  ])('is judged by its memory: %j is %s', (facts, verdict) => {
    expect(judgeMemory(facts).verdict).toBe(verdict);
  });

  it('has a warning when the kernel cannot limit memory', () => {
    const facts = { total: 4 * GB, available: 3 * GB, limit: null };
    expect(judgeMemory({ ...facts, canLimit: true }).verdict).toBe('ok');
    const { verdict, finding } = judgeMemory({ ...facts, canLimit: false });
    expect(verdict).toBe('warning');
    expect(finding).toContain('MemoryMax has no effect');
  });

  it.each([
    [null, 'skipped'],
    [48, 'ok'],
    [77, 'warning'],
    [85, 'problem'],
  ])('is judged by its temperature: %s degrees is %s', (celsius, verdict) => {
    expect(judgeTemperature(celsius).verdict).toBe(verdict);
  });

  it.each<[number | null, boolean | null, string, string]>([
    [null, null, 'skipped', 'does not report'],
    [0, null, 'ok', 'no trouble'],
    [null, false, 'ok', 'no trouble'],
    [0x1, null, 'problem', 'too low right now'],
    [0x50005, null, 'problem', 'too low right now'],
    [null, true, 'problem', 'too low right now'],
    [0x2, null, 'warning', 'slowed down right now'],
    [0x8, null, 'warning', 'slowed down right now'],
    [0x10000, null, 'warning', 'too low since the last boot'],
    [0x40000, null, 'warning', 'slowed down since the last boot'],
  ])('is judged by its power supply, which reports %s and %s', (throttled, alarm, verdict, words) => {
    expect(judgePower({ throttled, alarm })).toMatchObject({
      verdict,
      finding: expect.stringContaining(words),
    });
  });
});

describe('the service unit', () => {
  const WELL: UnitProperties = parseProperties(
    [
      'LoadState=loaded',
      'ActiveState=active',
      'SubState=running',
      'UnitFileState=enabled',
      'Result=success',
      'NRestarts=0',
      'User=dragoman',
      'SupplementaryGroups=audio',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'DevicePolicy=closed',
      'PrivateDevices=no',
      'MemoryDenyWriteExecute=no',
      'ProcSubset=all',
      'NeedDaemonReload=no',
      'nonsense',
      '',
    ].join('\n'),
  );
  it.each<[Record<string, string>, string, RegExp]>([
    [{}, 'ok', /installed, active \(running\)/],
    [{ LoadState: 'not-found', ActiveState: 'inactive' }, 'warning', /not installed/],
    [{ LoadState: 'bad-setting' }, 'problem', /cannot be loaded/],
    [{ ActiveState: 'failed', Result: 'exit-code' }, 'problem', /failed \(exit-code\)/],
    [{ ActiveState: 'activating', SubState: 'auto-restart' }, 'problem', /does not stay up/],
    [{ ActiveState: 'inactive', SubState: 'dead' }, 'warning', /not running/],
    [{ UnitFileState: 'disabled' }, 'warning', /not start at boot/],
    [{ NRestarts: '7' }, 'warning', /restarted 7 times/],
    [{ MemoryDenyWriteExecute: 'yes' }, 'problem', /kills Node/],
    [{ PrivateDevices: 'yes' }, 'problem', /hides the sound cards/],
    [{ ProcSubset: 'pid' }, 'problem', /proc\/asound/],
    [{ SupplementaryGroups: '' }, 'warning', /group audio/],
    [{ User: '' }, 'warning', /as root/],
    [{ NoNewPrivileges: 'no', ProtectSystem: 'no' }, 'warning', /NoNewPrivileges is off, ProtectSystem/],
    [{ NeedDaemonReload: 'yes' }, 'warning', /has changed/],
  ])('is judged by its properties: %j', (change, verdict, words) => {
    expect(judgeUnit({ ...WELL, ...change }, true)).toMatchObject({
      verdict,
      finding: expect.stringMatching(words),
    });
  });

  it('needs no sound when no lane does', () => {
    expect(judgeUnit({ ...WELL, PrivateDevices: 'yes', SupplementaryGroups: '' }, false).verdict).toBe('ok');
  });

  it('is skipped without a service manager', () => {
    expect(judgeUnit(null, true).verdict).toBe('skipped');
  });
});

describe('the permissions', () => {
  const MIC: WantedDevice = { key: 'lanes[0].capture.device', device: 'plughw:CARD=Mic', card: 'Mic' };
  const ANY: WantedDevice = { key: 'lanes[0].playback.device', device: 'default', card: null };
  const access = (more: Partial<SoundAccess> = {}): SoundAccess => ({
    hasSound: true,
    user: 'dragoman',
    isInAudio: true,
    cards: [{ id: 'Mic', index: 1, isAllowed: true }],
    ...more,
  });
  it('are ok when the card is present and may be opened', () => {
    expect(judgePermissions(access(), [MIC, ANY])).toMatchObject({
      verdict: 'ok',
      finding: '1 card, dragoman may use it',
    });
    expect(judgePermissions(access(), [{ ...MIC, card: 1 }]).verdict).toBe('ok');
  });
  it('name the missing group', () => {
    const cards = [{ id: 'Mic', index: 1, isAllowed: false }];
    expect(judgePermissions(access({ cards, isInAudio: false }), [MIC])).toMatchObject({
      verdict: 'problem',
      fix: expect.stringContaining('usermod -aG audio dragoman'),
    });
    expect(judgePermissions(access({ cards }), [MIC]).fix).toContain('/dev/snd');
  });
  it('name the missing card and the present ones', () => {
    expect(judgePermissions(access(), [{ ...MIC, card: 'Other' }])).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('there are Mic'),
    });
    expect(judgePermissions(access({ cards: [] }), [MIC]).finding).toContain('no sound card is plugged in');
    expect(judgePermissions(access({ hasSound: false, cards: [] }), [MIC]).verdict).toBe('warning');
  });
  it('are skipped without a card', () => {
    expect(judgePermissions(access(), []).verdict).toBe('skipped');
    expect(judgePermissions(access({ hasSound: false, cards: [] }), [ANY]).verdict).toBe('skipped');
  });
});

describe('the configuration', () => {
  const facts = {
    file: '/etc/dragoman/config.json',
    lanes: 2,
    files: [],
    warnings: [],
    agent: null,
    isOpenToAll: false,
    user: 'kim',
  };
  it('is ok in one line when it is good', () => {
    expect(judgeConfiguration(facts)).toMatchObject({
      verdict: 'ok',
      finding: '/etc/dragoman/config.json is valid: 2 lanes',
    });
    expect(judgeConfiguration({ ...facts, agent: 7 }).finding).toContain('an agent runs with it (process 7)');
    const files = [{ key: 'mqtt.caFile', trouble: null }];
    expect(judgeConfiguration({ ...facts, files }).finding).toContain('secrets and certificates readable');
  });
  it.each([
    ['the secret file x does not exist', /CREDENTIALS_DIRECTORY/],
    ['the file x cannot be read: this user has no permission', /as root/],
    ['the file x holds no certificate in PEM', /right file/],
  ])('names an unusable file: %s', (trouble, fix) => {
    const files = [{ key: 'mqtt.passwordFile', trouble }];
    expect(judgeConfiguration({ ...facts, files })).toMatchObject({
      verdict: 'problem',
      finding: `mqtt.passwordFile: ${trouble}`,
      fix: expect.stringMatching(fix),
    });
  });
  it("gives a file to the agent's group when the agent's user itself may not read it", () => {
    const trouble = 'the secret file /etc/x cannot be read: this user has no permission';
    const files = [{ key: 'mqtt.passwordFile', trouble, path: '/etc/x' }];
    expect(judgeConfiguration({ ...facts, files, user: 'dragoman' }).fix).toContain(
      'chgrp dragoman /etc/x && chmod 640 /etc/x',
    );
  });
  it('explains how to protect a secret', () => {
    const trouble = 'the secret file x is readable by everyone: chmod o-rwx x';
    expect(judgeConfiguration({ ...facts, files: [{ key: 'mqtt.keyFile', trouble }] })).toMatchObject({
      verdict: 'problem',
      finding: 'mqtt.keyFile: the secret file x is readable by everyone',
      fix: 'chmod o-rwx x',
    });
  });
  it('has a warning for each open setting', () => {
    const warnings = [{ key: 'service.hosts', message: 'is empty', fix: 'List them.' }];
    expect(judgeConfiguration({ ...facts, warnings })).toMatchObject({
      verdict: 'warning',
      finding: 'service.hosts is empty',
      fix: 'List them.',
    });
  });
  it('has a warning when every user may change it', () => {
    expect(judgeConfiguration({ ...facts, isOpenToAll: true })).toMatchObject({
      verdict: 'warning',
      fix: 'chmod o-w /etc/dragoman/config.json.',
    });
  });
  it('shows its first problem when it is invalid', () => {
    expect(judgeInvalid('c.json', ['c.json:1:1: device: is missing', 'b', 'c']).finding).toBe(
      'c.json:1:1: device: is missing (and 2 more problems)',
    );
    expect(judgeInvalid('c.json', ['DRAGOMAN_X: unknown']).finding).toBe('c.json: DRAGOMAN_X: unknown');
    expect(judgeInvalid('c.json', []).finding).toBe('c.json: it cannot be read');
  });
});
