import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteFolder, noteName, openNote } from '../../src/adapters/running-note.ts';
import { readAgentNote } from '../../src/device/doctor/running-agent/agent-note.ts';
import type { RunningNote } from '../../src/protocol/running-note.ts';

const NOTE: Omit<RunningNote, 'pid'> = {
  version: '1',
  status: 'ready',
  reasons: [],
  broker: true,
  connectedSince: 5,
  problem: null,
  config: {},
};
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-note-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the note of a running agent', () => {
  it('can be read by every user while the agent runs, and is removed at its end', async () => {
    const env = { RUNTIME_DIRECTORY: folder };
    const before = process.umask(0o077);
    const file = openNote(env);
    file.write(NOTE);
    await expect
      .poll(() => readAgentNote('/nowhere', process.pid, env))
      .toEqual({ pid: process.pid, ...NOTE });
    process.umask(before);
    expect(statSync(join(folder, noteName(process.pid))).mode & 0o777).toBe(0o644);
    await file.remove();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('replaces the notes of killed agents only', async () => {
    const { pid: dead } = spawnSync('true');
    for (const name of [noteName(dead), noteName(process.ppid), 'agent-x.json'])
      writeFileSync(join(folder, name), '{}');
    await openNote({ RUNTIME_DIRECTORY: folder }).remove();
    expect(readdirSync(folder).sort()).toEqual([noteName(process.ppid), 'agent-x.json'].sort());
  });

  it('lies in memory when there is such a folder, else with the state', () => {
    expect(noteFolder({ RUNTIME_DIRECTORY: '/run/a:/run/b', HOME: '/srv/x' })).toBe('/run/a');
    expect(noteFolder({ XDG_RUNTIME_DIR: '/run/user/7', HOME: '/srv/x' })).toBe('/run/user/7/dragoman');
    expect(noteFolder({ HOME: '/srv/x' })).toBe('/srv/x/.local/state/dragoman');
    expect(noteFolder({})).toBeNull();
  });

  it('changes nothing when it cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    const file = openNote({ RUNTIME_DIRECTORY: join(folder, 'file') });
    file.write(NOTE);
    await file.remove();
    expect(readAgentNote('/nowhere', process.pid, { RUNTIME_DIRECTORY: join(folder, 'file') })).toBeNull();
  });

  it.each<[string, (path: string) => void]>([
    ['is a link', (path) => symlinkSync('/etc/passwd', path)],
    ['is a folder', (path) => mkdirSync(path)],
    ['belongs to another process', (path) => writeFileSync(path, JSON.stringify({ pid: 1, ...NOTE }))],
    ['has another shape', (path) => writeFileSync(path, JSON.stringify({ pid: 7, ...NOTE, status: 5 }))],
    [
      'is too large',
      (path) => writeFileSync(path, JSON.stringify({ pid: 7, ...NOTE, x: 'x'.repeat(200_000) })),
    ],
  ])('is ignored when it %s', (_, make) => {
    make(join(folder, noteName(7)));
    expect(readAgentNote('/nowhere', 7, { RUNTIME_DIRECTORY: folder })).toBeNull();
  });
});
