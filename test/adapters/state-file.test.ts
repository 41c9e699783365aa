import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStateFile, stateDirectory } from '../../src/adapters/state-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-state-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a state file', () => {
  it('is made with its directory, for its owner alone, and read again', async () => {
    const path = join(folder, 'a', 'b', 'commands.json');
    const file = createStateFile(path);
    expect(file.read()).toBeNull();
    expect(await file.write('one')).toEqual({ ok: true });
    expect(await file.write('two')).toEqual({ ok: true });
    expect(file.read()).toBe('two');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'a', 'b'))).toEqual(['commands.json']);
  });

  it('keeps what it held when it cannot be written, and says why', async () => {
    const path = join(folder, 'commands.json');
    const file = createStateFile(path);
    await file.write('old');
    // A directory stands where the draft would be: works for root, too.
    mkdirSync(`${path}.tmp`);
    const failed = await file.write('new');
    expect(failed).toEqual({ ok: false, message: expect.stringContaining('EISDIR') });
    expect(readFileSync(path, 'utf8')).toBe('old');
    rmSync(`${path}.tmp`, { recursive: true, force: true });
    expect(await file.write('new')).toEqual({ ok: true });
  });

  it('replaces what a power cut left of a draft', async () => {
    const path = join(folder, 'commands.json');
    writeFileSync(`${path}.tmp`, 'half of a lin');
    expect(createStateFile(path).read()).toBeNull();
    expect(await createStateFile(path).write('whole')).toEqual({ ok: true });
    expect(existsSync(`${path}.tmp`)).toBe(false);
  });

  it.runIf(process.getuid?.() !== 0)('says so where it may not write', async () => {
    chmodSync(folder, 0o500);
    expect(await createStateFile(join(folder, 'x')).write('a')).toMatchObject({ ok: false });
    chmodSync(folder, 0o700);
  });

  it('is no state file when it is far too large or a directory', () => {
    const path = join(folder, 'commands.json');
    writeFileSync(path, 'x'.repeat(5_000_000));
    expect(createStateFile(path).read()).toBeNull();
    expect(createStateFile(folder).read()).toBeNull();
  });
});

describe('the state directory', () => {
  it.each([
    [{ STATE_DIRECTORY: '/var/lib/dragoman:/var/lib/other', HOME: '/x' }, '/var/lib/dragoman'],
    [{ XDG_STATE_HOME: '/s', HOME: '/x' }, '/s/dragoman'],
    [{ XDG_STATE_HOME: 'relative', HOME: '/x' }, '/x/.local/state/dragoman'],
    [{ STATE_DIRECTORY: '' }, null],
    [{}, null],
  ])('of %j is %s', (env, expected) => {
    expect(stateDirectory(env)).toBe(expected);
  });
});
