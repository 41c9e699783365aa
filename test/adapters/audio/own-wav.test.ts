import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFilePlayback } from '../../../src/adapters/audio/file-playback.ts';
import { OWN_HEADER_BYTES, ownHeader } from '../../../src/adapters/audio/own-wav.ts';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import { makeHeader } from '../../../src/adapters/audio/wav.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { makeFolder, makePcm, readSamples } from './wav-files.ts';

const RATE_HZ = 24_000;
const SOUND = Buffer.from([1, 0, 2, 0]);
const foreign = Buffer.concat([makeHeader({ rateHz: RATE_HZ, dataBytes: 4 }), SOUND]);
const earlier = Buffer.concat([ownHeader({ rateHz: RATE_HZ, dataBytes: 4 }), SOUND]);

/** Plays three samples into a file that exists already. */
async function playInto(before: Uint8Array, overwrite?: boolean) {
  const clock = createVirtualClock();
  const path = join(makeFolder(), 'out.wav');
  writeFileSync(path, before);
  const faults: string[] = [];
  const options = {
    path,
    rateHz: RATE_HZ,
    clock,
    maxMs: 60_000,
    ...(overwrite !== undefined && { overwrite }),
  };
  const playback = await createFilePlayback(options)({
    fault: ({ message }) => faults.push(message),
    back: () => {},
    missed: () => {},
    measured: () => {},
  });
  playback.write(makePcm([7, 8, 9]));
  clock.advance(500);
  await playback.close();
  return { faults, content: readFileSync(path) };
}

describe('an older file', () => {
  it('of another program is left as it is, and reported once', async () => {
    const { content, faults } = await playInto(foreign);
    expect(content.equals(foreign)).toBe(true);
    expect(faults).toEqual([
      expect.stringMatching(/has not written it: name another file, .*"overwrite": true/),
    ]);
  });

  it.each([
    ['of another program, if the configuration allows it', foreign, true],
    ['of this program', earlier, false],
    ['without content', Buffer.alloc(0), false],
  ])('%s is replaced', async (_, before, overwrite) => {
    const { content, faults } = await playInto(before, overwrite);
    expect(faults).toEqual([]);
    expect(readSamples(content.subarray(OWN_HEADER_BYTES)).slice(0, 3)).toEqual([7, 8, 9]);
  });
});

describe('the mark in the header', () => {
  it('does not disturb a program that reads the sound', async () => {
    const path = join(makeFolder(), 'own.wav');
    writeFileSync(path, earlier);
    expect((await loadWav(path)).pcm.byteLength).toBe(SOUND.length);
  });
});
