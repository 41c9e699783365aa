import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { START_HEAD } from '../../src/installer/core/start-text.ts';
import { clearDraft, writeSettingsText, writeStartLines } from '../../src/installer/status-file.ts';

const SETTINGS = 'Dragoman: result of dragoman.json\r\nTime:   2026-01-01\r\nResult: applied. x\r\n';
const lines = (time: string, state: string): string[] => [START_HEAD, `Time:   ${time}`, `State:  ${state}`];
let boot = '';
const file = (): string => join(boot, 'dragoman-status.txt');
const read = (): string => readFileSync(file(), 'utf8');

beforeEach(() => {
  boot = mkdtempSync(join(tmpdir(), 'dragoman-boot-'));
});
afterEach(() => rmSync(boot, { recursive: true }));

describe('the status file', () => {
  it('has the kiosk’s state after the result of the settings, with Windows line ends', () => {
    writeFileSync(file(), SETTINGS);
    expect(writeStartLines(boot, lines('1', 'ready'), boot)).toBeNull();
    expect(read()).toBe(`${SETTINGS}\r\n${START_HEAD}\r\nTime:   1\r\nState:  ready\r\n`);
    expect(readdirSync(boot)).toEqual(['dragoman-status.txt']);
  });

  it('has only the last report', () => {
    writeFileSync(file(), SETTINGS);
    for (const state of ['starting', 'no_network', 'ready']) writeStartLines(boot, lines('1', state), boot);
    expect(read()).toBe(`${SETTINGS}\r\n${START_HEAD}\r\nTime:   1\r\nState:  ready\r\n`);
  });

  it('is created when there is none', () => {
    expect(writeStartLines(boot, lines('1', 'ready'), boot)).toBeNull();
    expect(read()).toBe(`${START_HEAD}\r\nTime:   1\r\nState:  ready\r\n`);
    writeStartLines(boot, lines('1', 'no_network'), boot);
    expect(read()).toBe(`${START_HEAD}\r\nTime:   1\r\nState:  no_network\r\n`);
  });

  it('is not written when only the time has changed', () => {
    writeStartLines(boot, lines('1', 'ready'), boot);
    const { ino } = statSync(file());
    writeStartLines(boot, lines('2', 'ready'), boot);
    expect([statSync(file()).ino, read()]).toEqual([ino, expect.stringContaining('Time:   1')]);
    writeStartLines(boot, lines('2', 'no_network'), boot);
    expect(read()).toContain('Time:   2');
  });

  it('is replaced when it is something else', () => {
    mkdirSync(join(boot, 'DRAGOSTA.NEW'));
    writeFileSync(file(), 'x'.repeat(300_000));
    rmSync(join(boot, 'DRAGOSTA.NEW'), { recursive: true });
    expect(writeStartLines(boot, lines('1', 'ready'), boot)).toBeNull();
    expect(read()).toBe(`${START_HEAD}\r\nTime:   1\r\nState:  ready\r\n`);
    rmSync(file());
    spawnSync('mkfifo', [file()]);
    expect(writeStartLines(boot, lines('1', 'ready'), boot)).toBeNull();
    expect(read()).toContain('ready');
  });

  it('copies nothing from a link’s target', () => {
    const secret = join(boot, 'shadow');
    writeFileSync(secret, 'root:s3cret\n', { mode: 0o600 });
    symlinkSync(secret, file());
    expect(writeStartLines(boot, lines('1', 'ready'), boot)).toBeNull();
    expect(read()).toBe(`${START_HEAD}\r\nTime:   1\r\nState:  ready\r\n`);
    expect(readFileSync(secret, 'utf8')).toBe('root:s3cret\n');
  });

  it('is readable by all and leaves no draft, for both writers', () => {
    const draft = join(boot, 'DRAGOSTA.NEW');
    const others = join(boot, 'other');
    writeFileSync(others, 'other');
    for (const write of [
      () => writeSettingsText(boot, SETTINGS, boot),
      () => writeStartLines(boot, lines('1', 'ready'), boot),
    ]) {
      symlinkSync(others, draft);
      expect(write()).toBeNull();
      expect([statSync(file()).mode & 0o777, readdirSync(boot).sort()]).toEqual([
        0o644,
        ['dragoman-status.txt', 'other'],
      ]);
    }
    expect(readFileSync(others, 'utf8')).toBe('other');
    writeFileSync(draft, 'half');
    clearDraft(boot, boot);
    expect(readdirSync(boot)).not.toContain('DRAGOSTA.NEW');
    // A new result of the settings removes the report on an earlier start.
    expect(writeSettingsText(boot, SETTINGS, boot)).toBeNull();
    expect(read()).toBe(SETTINGS);
    expect(writeSettingsText(join(boot, 'none'), SETTINGS, boot)).toBe('there is no such file or folder');
  });

  it('keeps its content when it cannot be written, and the error code is returned', () => {
    expect(writeStartLines(join(boot, 'none'), lines('1', 'ready'), boot)).toBe(
      'there is no such file or folder',
    );
    writeFileSync(file(), SETTINGS);
    mkdirSync(join(boot, 'DRAGOSTA.NEW'));
    expect(writeStartLines(boot, lines('1', 'ready'), boot)).not.toBeNull();
    expect(read()).toBe(SETTINGS);
  });
});
