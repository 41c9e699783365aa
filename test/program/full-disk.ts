import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBundles } from '../bundles.ts';

export const CUT = 'the output is incomplete: writing failed';

export function writeConfigIn(folder: string, url: string): void {
  const lane = {
    source: 'en',
    targets: ['es'],
    start: 'command',
    capture: { driver: 'command', command: ['sleep', '600'] },
    playback: { driver: 'file', path: join(folder, 'out.wav') },
  };
  const config = { device: { id: 'kiosk-01', tenant: 'museum' }, mqtt: { url }, lanes: [lane] };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
}

/** Runs a shell command in a folder; `$RUN` starts one of our programs. */
export function shellIn(folder: string, line: string) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], RUN: process.execPath, HOME: folder },
  });
  return { status, stdout, stderr };
}

/** Tests that these programs fail when no output can be written. */
export function describeFullDisk(programs: readonly (readonly [bundle: string, words: string])[]): void {
  describe('on a full disk', () => {
    let folder = '';
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'dragoman-output-'));
      await placeBundles(folder);
      writeConfigIn(folder, 'mqtts://broker.example');
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it.each(programs)('%s %s fails with one line that names the cause', (bundle, words) => {
      const name = bundle === 'dragoman' ? bundle : `dragoman-${bundle}`;
      const { status, stderr } = shellIn(folder, `"$RUN" ${bundle}.mjs ${words} >/dev/full`);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: `${name}: ${CUT} (the disk is full). Write it to another place.\n`,
      });
    });
  });
}
