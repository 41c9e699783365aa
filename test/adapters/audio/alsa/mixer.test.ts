import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCardMixer } from '../../../../src/adapters/audio/alsa/mixer.ts';
import type { Log } from '../../../../src/ports/log.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

const SCONTENTS = `Simple mixer control 'Speaker',0
  Capabilities: pvolume pswitch
`;
const QUIET: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const within = { timeout: 60_000, interval: 10 };

let folder = '';
const path = process.env['PATH'];

/** An amixer that records its arguments, and fails while there is a file named `stuck`. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-mixer-'));
  const script = `#!/bin/sh
case "$*" in
  *scontents) cat ${folder}/contents ;;
  *) echo "$8" >> ${folder}/reported; ! [ -e ${folder}/stuck ] ;;
esac
`;
  writeFileSync(join(folder, 'amixer'), script);
  writeFileSync(join(folder, 'contents'), SCONTENTS);
  chmodSync(join(folder, 'amixer'), 0o755);
  process.env['PATH'] = `${folder}:${path}`;
});
afterEach(() => {
  process.env['PATH'] = path;
  rmSync(folder, { recursive: true, force: true });
});

const reported = (): string[] => {
  const file = join(folder, 'reported');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};
const isStuck = (stuck: boolean): void => {
  if (stuck) writeFileSync(join(folder, 'stuck'), '');
  else rmSync(join(folder, 'stuck'));
};

async function open() {
  const clock = createVirtualClock();
  const card = createCardMixer('plughw:CARD=Speaker', { clock, log: QUIET });
  await card.look();
  return { card, clock };
}

describe('a volume that amixer could not set', () => {
  it('retries with growing waits, and gives up in the end', async () => {
    const { card, clock } = await open();
    isStuck(true);
    card.mixer?.setVolume(40);
    for (const [index, waitMs] of [1000, 5000, 30_000].entries()) {
      await expect.poll(() => clock.armed, within).toBe(1);
      expect(reported()).toHaveLength(index + 1);
      clock.advance(waitMs - 1);
      expect(clock.armed).toBe(1);
      clock.advance(1);
    }
    await expect.poll(() => reported(), within).toEqual(['40%', '40%', '40%', '40%']);
    expect(clock.armed).toBe(0);
  });

  it('sets the volume as soon as amixer works again', async () => {
    const { card, clock } = await open();
    isStuck(true);
    card.mixer?.setVolume(40);
    await expect.poll(() => clock.armed, within).toBe(1);
    isStuck(false);
    clock.advance(1000);
    await expect.poll(() => reported(), within).toEqual(['40%', '40%']);
    expect(clock.armed).toBe(0);
  });

  it('drops the retry when a newer volume is set', async () => {
    const { card, clock } = await open();
    isStuck(true);
    card.mixer?.setVolume(40);
    await expect.poll(() => clock.armed, within).toBe(1);
    isStuck(false);
    card.mixer?.setVolume(70);
    expect(clock.armed).toBe(0);
    await expect.poll(() => reported(), within).toEqual(['40%', '70%']);
    clock.advance(60_000);
    expect(clock.armed).toBe(0);
  });

  it('stops the retries when the loudspeaker is closed', async () => {
    const { card, clock } = await open();
    isStuck(true);
    card.mixer?.setVolume(40);
    await expect.poll(() => clock.armed, within).toBe(1);
    card.close();
    expect(clock.armed).toBe(0);
  });
});
