import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runDeviceProgram } from '../../src/cli/program.ts';
import { gather } from '../gathered.ts';
import { createSystem, FULL, type System } from '../installer/system-folder.ts';
import { needs } from '../needs.ts';

const isRoot = process.getuid?.() === 0;

let system: System;
const mask = process.umask();
beforeEach(() => {
  system = createSystem();
});
afterEach(() => {
  process.umask(mask);
  system.remove();
});

async function provision() {
  const { said, print, complain } = gather();
  const code = await runDeviceProgram(['provision', '--root', system.root, '--boot', system.boot], {
    env: {},
    print,
    complain,
    output: process.stdout as never,
    signals: process,
    onCrash() {},
    onClosed() {},
  });
  return { code, printed: said.out, complained: said.err };
}

describe('dragoman provision', () => {
  it(
    'sets up the device and writes the status to the card when /run is not writable',
    needs(!isRoot && 'needs root'),
    async () => {
      rmSync(join(system.root, 'run'), { recursive: true, force: true });
      writeFileSync(join(system.root, 'run'), 'no folder');
      system.write('dragoman.json', FULL);
      const { code, printed, complained } = await provision();
      expect([code, printed]).toEqual([0, expect.stringContaining('applied: ')]);
      expect(complained).toMatch(
        /provisioning\.json\s+cannot\s+be\s+written\s+\((a\s+part\s+of\s+its\s+path\s+is\s+a\s+file|it\s+exists\s+already)/,
      );
      expect(system.read('dragoman-status.txt')).toContain('Result: applied.');
      system.write('dragoman.json', '{');
      expect((await provision()).code).toBe(2);
      expect(system.read('dragoman-status.txt')).toContain('Result: file_invalid.');
    },
  );

  it('fails at once when another run is active', async () => {
    system.write('dragoman.json', FULL);
    expect((await provision()).code).toBe(0);
    writeFileSync(join(system.root, 'run/dragoman-provision.lock'), String(process.pid));
    expect(await provision()).toMatchObject({
      code: 1,
      complained: expect.stringContaining('another "dragoman provision" is running'),
    });
  });
});
