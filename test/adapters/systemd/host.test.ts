import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createHost } from '../../../src/adapters/systemd/host.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-host-'));
const unit = join(folder, 'dragoman-reboot.path');
afterEach(() => rmSync(unit, { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a host with systemd', () => {
  it('can restart the agent only when systemd has started it', () => {
    expect(createHost({}, () => {}).restartProblem()).toMatch(/would not be restarted/);
    expect(createHost({ SYSTEMD_EXEC_PID: String(process.pid) }, () => {}).restartProblem()).toBeNull();
  });

  it('tells the updater which process ends when an operator restarts the agent', () => {
    const asked: string[] = [];
    const end = () => void asked.push(readFileSync(join(folder, 'restart-asked'), 'utf8'));
    createHost({ RUNTIME_DIRECTORY: folder }, end).restart();
    expect(asked).toEqual([String(process.pid)]);
    let ends = 0;
    for (const RUNTIME_DIRECTORY of ['', '/nowhere/at/all'])
      createHost({ RUNTIME_DIRECTORY }, () => {
        ends += 1;
      }).restart();
    expect(ends).toBe(2);
  });

  it('requests a reboot by a file that a unit watches', () => {
    const env = { RUNTIME_DIRECTORY: folder };
    expect(createHost({}, () => {}, unit).reboot()).toMatch(/runtime directory/);
    expect(createHost(env, () => {}, unit).reboot()).toMatch(/systemctl enable --now dragoman-reboot.path/);
    writeFileSync(unit, '');
    expect(existsSync(join(folder, 'reboot'))).toBe(false);
    expect(createHost(env, () => {}, unit).reboot()).toBeNull();
    expect(existsSync(join(folder, 'reboot'))).toBe(true);
    expect(createHost({ RUNTIME_DIRECTORY: '/nowhere/at/all' }, () => {}, unit).reboot()).toContain(
      'cannot be written: there is no such file or folder',
    );
  });
});
