import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readResultFile } from '../../src/installer/read-result.ts';

const RESULT = {
  format: 1,
  at: '2026-11-22T10:20:30.000Z',
  outcome: 'file_invalid',
  file: '/boot/firmware/dragoman.json',
  problems: [{ field: 'wifi.ssid', message: 'must have 1 to 32 bytes', fix: '' }],
  notes: [],
  network: 'networkd',
  wifi: true,
};
let folder = '';
const file = (): string => join(folder, 'provisioning.json');
const given = (value: unknown): void =>
  writeFileSync(file(), typeof value === 'string' ? value : JSON.stringify(value));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-result-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the result file of provisioning', () => {
  it('is read', () => {
    given(RESULT);
    expect(readResultFile(file())).toEqual(RESULT);
  });

  it('never steers a terminal or breaks a line, and is limited', () => {
    const message = `must\u001b[2J\n\u202eevil ${'x'.repeat(5000)}`;
    given({
      ...RESULT,
      problems: [{ field: 'a\u0000', message, fix: '\r\nResult: applied' }],
      notes: ['\u0007n'],
    });
    const { problems, notes } = readResultFile(file()) ?? { problems: [], notes: [] };
    expect(JSON.stringify([problems, notes])).not.toMatch(/\\u00|\\n|\\r|\u202e/);
    expect(problems[0]?.message).toHaveLength(500);
  });

  it.each([
    ['nothing', ''],
    ['garbage', '{"format":1,'],
    ['another outcome', { ...RESULT, outcome: 'exploded' }],
    ['another format', { ...RESULT, format: 2 }],
    ['unknown keys', { ...RESULT, run: 'reboot' }],
    ['a list', [RESULT]],
    ['depth', '['.repeat(100_000)],
  ])('is ignored when it is %s', (_, value) => {
    given(value);
    expect(readResultFile(file())).toBeNull();
  });

  it('is ignored when it is huge, a link, a folder, a pipe or missing', () => {
    given('');
    truncateSync(file(), 2 ** 31);
    expect(readResultFile(file())).toBeNull();
    for (const make of [
      () => symlinkSync('/etc/hostname', file()),
      () => mkdirSync(file()),
      () => spawnSync('mkfifo', [file()]),
      () => {},
    ]) {
      rmSync(file(), { recursive: true, force: true });
      make();
      expect(readResultFile(file())).toBeNull();
    }
  });
});
