import { describe, expect, it } from 'vitest';
import { examineSample } from '../../../src/adapters/voice/voice-sample.ts';
import {
  changed,
  flacOf,
  MPEG,
  mp3Of,
  mp4Of,
  noise,
  OGG,
  PAGE,
  spokenWav,
  WEBM,
  wavOf,
} from '../../voice-recordings.ts';
import { makeTone } from '../audio/wav-files.ts';

const kindAndType = async (bytes: Buffer) => {
  const { kind, faults } = await examineSample(bytes);
  return [kind?.name, kind?.types[0], faults];
};

describe('a recording for a voice', () => {
  it.each([
    ['WAV', 'audio/wav', () => spokenWav(32)],
    ['MP3', 'audio/mpeg', () => mp3Of(31)],
    [
      'MP3',
      'audio/mpeg',
      () => Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x0a'), Buffer.alloc(10), mp3Of(31)]),
    ],
    ['M4A', 'audio/x-m4a', () => mp4Of('M4A ', 31)],
    ['FLAC', 'audio/flac', () => flacOf(31)],
    ['WebM', 'video/webm', () => WEBM],
    ['MP4', 'video/mp4', () => mp4Of('isom', 31)],
    ['MPEG', 'video/mpeg', () => MPEG],
  ])('is known by its content: %s as %s (%#)', async (name, type, bytes) => {
    expect(await kindAndType(bytes())).toEqual([name, type, []]);
    expect((await examineSample(bytes())).warnings).toEqual([]);
  });

  it.each([
    ['nothing', () => Buffer.alloc(0), /^is empty$/],
    ['a web page', () => PAGE, /^is a web page, not a recording: give one of WAV, MP3/],
    ['random bytes', () => Buffer.alloc(5000, 'xyz'), /^is not a recording: /],
    ['zeros', () => Buffer.alloc(5000), /^is not a recording: /],
    ['Ogg', () => OGG, /^is not a recording of a known kind \(opus, audio\/ogg/],
    ['a picture', () => Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /\(png, image\/png\)/],
    ['a header alone', () => wavOf(Buffer.alloc(0)), /^is only 0\.0 s long/],
    ['half a header', () => spokenWav(20).subarray(0, 30), /^is a damaged WAV file/],
    ['A-law', () => aLaw(), /^is compressed \(A-law\)/],
    ['one second', () => spokenWav(1), /^is only 1\.0 s long: record at least 10 s, better 30 s$/],
    ['one second of MP3', () => mp3Of(1), /^is only 1\.0 s long/],
    ['one second of FLAC', () => flacOf(1), /^is only 1\.0 s long/],
    ['one second of M4A', () => mp4Of('M4A ', 1), /^is only 1\.0 s long/],
    [
      'digital silence',
      () => wavOf(Buffer.alloc(48_000 * 31)),
      /^holds digital silence: check the microphone$/,
    ],
    ['a tone', () => wavOf(makeTone(440, 31, 24_000)), /^holds a steady tone or noise, no speech$/],
    ['noise', () => changed(wavOf(Buffer.alloc(48_000 * 31)), noise(8000)), /^holds a steady tone or noise/],
    [
      'a header that promises 0 bytes',
      () => wavOf(spokenWav(31).subarray(44), 0),
      /^has a header that promises no sound: write it again/,
    ],
    ['more than 10 MB', () => wavOf(Buffer.alloc(10_000_000)), /^is larger than 10 MB: cut it$/],
  ])('is refused when it is %s', async (_, bytes, fault) => {
    const { faults } = await examineSample(bytes());
    expect(faults).toEqual([expect.stringMatching(fault) as string]);
  });

  it.each([
    ['short', () => spokenWav(16), /^is 16\.0 s long: voices are better from 30 s$/],
    ['clipped', () => changed(spokenWav(32), (sample) => sample * 40), /^is clipped \(\d+\.\d % of it\)/],
    [
      'full of hiss',
      () => {
        const next = noise(400);
        return changed(spokenWav(32), (sample) => sample + next());
      },
      /^hisses in its pauses \(-4\d dBFS\)/,
    ],
    ['cut off', () => wavOf(spokenWav(31).subarray(44), 48_000 * 60), /^is cut off/],
  ])('has a warning when it is %s', async (_, bytes, warning) => {
    const { faults, warnings } = await examineSample(bytes());
    expect([faults, warnings]).toEqual([[], [expect.stringMatching(warning) as string]]);
  });

  it('is judged without a failure wherever it is cut off or damaged', async () => {
    const files = [spokenWav(1), mp3Of(1), mp4Of('M4A ', 31), flacOf(31), WEBM, MPEG, OGG];
    for (const file of files)
      for (let at = 1; at < Math.min(file.length, 300); at += 7) {
        const damaged = Buffer.from(file);
        damaged[at] = 0xff;
        for (const bytes of [file.subarray(0, at), damaged])
          expect(await examineSample(bytes)).toHaveProperty('faults');
      }
  });

  it('has no warning for a hum in its pauses', async () => {
    let at = 0;
    const hum = (sample: number): number => sample + 300 * Math.sin((2 * Math.PI * 100 * at++) / 24_000);
    expect((await examineSample(changed(spokenWav(32), hum))).warnings).toEqual([]);
  });
});

function aLaw(): Buffer {
  const wav = spokenWav(31);
  wav.writeUInt16LE(6, 20);
  return wav;
}
