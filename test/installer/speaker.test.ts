import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSpeaker } from '../../src/installer/speaker.ts';
import { createVirtualClock } from '../virtual-clock.ts';

/** Plays until the file `over` exists. */
const APLAY = `#!/bin/sh
: >"$0.plays"
until [ -e "$0.over" ]; do sleep 0.05; done
`;
const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-speaker-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('is silent at once when it is closed in the middle of a sentence', async () => {
  const program = join(folder, 'aplay');
  writeFileSync(program, APLAY);
  chmodSync(program, 0o755);
  const clock = createVirtualClock();
  const speaker = createSpeaker({
    env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
    clock,
    log,
    configured: ['kiosk'],
    folders: { proc: folder, sys: folder, dev: folder },
    handOver: async () => false,
  });
  const said = speaker.say({ pcm: new Uint8Array(48_000), rateHz: 24_000 });
  await expect.poll(() => existsSync(`${program}.plays`)).toBe(true);
  speaker.close();
  // Without the end, the sentence goes on to here.
  writeFileSync(`${program}.over`, '');
  expect(await said).toEqual([{ device: 'kiosk', trouble: 'stopped on request' }]);
  expect(clock.armed).toBe(0);
});
