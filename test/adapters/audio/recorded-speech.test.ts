import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMenuSounds } from '../../../src/adapters/audio/recorded-speech.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-menu-sounds-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** One block of IMA ADPCM at 12 kHz: 505 silent samples. */
function recording(): Buffer {
  const file = Buffer.alloc(44 + 4 + 256);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(20, 16);
  file.writeUInt16LE(0x11, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(12_000, 24);
  file.writeUInt16LE(256, 32);
  file.writeUInt16LE(4, 34);
  file.write('data', 40);
  file.writeUInt32LE(256, 44);
  return file;
}

describe('the recordings of the spoken menu', () => {
  it('are samples at the rate of the loudspeaker', async () => {
    const place = join(folder, 'menu/vi');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'louder.wav'), recording());
    const pcm = await openMenuSounds(24_000, folder)?.('vi', 'louder');
    const samples = (pcm?.byteLength ?? 0) / 2;
    // The filter keeps the last few milliseconds.
    expect(samples).toBeGreaterThan(900);
    expect(samples).toBeLessThanOrEqual(1010);
  });

  it('are missing one by one, damaged or as a whole', async () => {
    expect(openMenuSounds(24_000, folder)).toBeNull();
    mkdirSync(join(folder, 'menu/vi'), { recursive: true });
    writeFileSync(join(folder, 'menu/vi/louder.wav'), 'RIFF and more');
    const load = openMenuSounds(24_000, folder);
    expect(await load?.('vi', 'louder')).toBeNull();
    expect(await load?.('vi', 'quieter')).toBeNull();
  });
});
