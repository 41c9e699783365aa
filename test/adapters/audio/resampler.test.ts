import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { createPcmResampler, createResampler } from '../../../src/adapters/audio/resampler.ts';
import { fc } from '../../properties.ts';
import { makeFolder, makeNumbered, makeTone, measureTone, readSamples } from './wav-files.ts';

const MODULE = fileURLToPath(new URL('../../../src/adapters/audio/resampler.ts', import.meta.url));

async function convertBytes(
  pcm: Uint8Array,
  fromHz: number,
  toHz: number,
  pieceSamples: number,
): Promise<Buffer> {
  const resampler = await createPcmResampler({ fromHz, toHz });
  const parts: Uint8Array[] = [];
  for (let at = 0; at < pcm.length; at += pieceSamples * 2) {
    parts.push(resampler.convert(pcm.subarray(at, at + pieceSamples * 2)));
  }
  parts.push(resampler.flush());
  resampler.close();
  return Buffer.concat(parts);
}
const convertAll = async (...given: Parameters<typeof convertBytes>): Promise<number[]> =>
  readSamples(await convertBytes(...given));

describe('resampler', () => {
  it('passes equal rates through without a copy', async () => {
    const pcm = makeNumbered(100);
    const resampler = await createPcmResampler({ fromHz: 24_000, toHz: 24_000 });
    expect(resampler.convert(pcm)).toBe(pcm);
    expect(resampler.flush()).toHaveLength(0);
    const floats = await createResampler({ fromHz: 24_000, toHz: 24_000 });
    const samples = new Float32Array(3);
    expect(floats.convert(samples)).toBe(samples);
    expect(floats.flush()).toHaveLength(0);
  });

  it.each([
    [44_100, 24_000],
    [48_000, 24_000],
    [16_000, 24_000],
    [8000, 24_000],
    [11_025, 24_000],
    [24_000, 48_000],
    [24_000, 44_100],
    [192_000, 16_000],
    [1000, 192_000],
    [192_000, 1000],
  ])('keeps length and beginning from %i to %i Hz', async (fromHz, toHz) => {
    const silent = Math.round(fromHz / 4);
    const pcm = Buffer.concat([Buffer.alloc(silent * 2), makeTone(200, 0.25, fromHz)]);
    const samples = await convertAll(pcm, fromHz, toHz, Math.ceil(fromHz / 50));
    expect(samples).toHaveLength(Math.round((pcm.length / 2 / fromHz) * toHz));
    const onset = samples.findIndex((sample) => Math.abs(sample) > 3000);
    expect(Math.abs(onset / toHz - silent / fromHz)).toBeLessThan(0.002);
    expect(measureTone(samples.slice(Math.round(0.26 * toHz)), 200, toHz)).toBeCloseTo(0.5, 1);
  });

  it('keeps a tone clean and removes all above the new band', async () => {
    const tone = await convertAll(makeTone(1000, 1, 44_100), 44_100, 24_000, 441);
    const inside = tone.slice(2400, 21_600);
    expect(measureTone(inside, 1000, 24_000)).toBeCloseTo(0.5, 3);
    for (const other of [500, 2000, 3000, 5100, 9000]) {
      expect(measureTone(inside, other, 24_000)).toBeLessThan(0.0001); // -80 dBFS
    }
    const above = await convertAll(makeTone(16_000, 1, 44_100), 44_100, 24_000, 441);
    expect(Math.max(...above.slice(2400, 21_600).map(Math.abs))).toBeLessThan(4);
  });

  it('makes the same sound for any division into pieces', async () => {
    const pcm = makeTone(440, 0.2, 44_100);
    const whole = await convertBytes(pcm, 44_100, 24_000, pcm.length);
    expect(whole).toHaveLength(0.2 * 24_000 * 2);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), async (pieceSamples) => {
        expect((await convertBytes(pcm, 44_100, 24_000, pieceSamples)).equals(whole)).toBe(true);
      }),
      { numRuns: 6 },
    );
  });

  it('accepts pieces larger than its library’s buffers', async () => {
    // Input and output have more than a million samples: whole periods of one second in a row.
    const pcm = Buffer.concat(Array(45).fill(makeTone(440, 1, 24_000)));
    const made = await convertBytes(pcm, 24_000, 48_000, pcm.length);
    expect(made).toHaveLength(45 * 48_000 * 2);
    expect(measureTone(readSamples(made.subarray(-48_000 * 2)), 440, 48_000)).toBeCloseTo(0.5, 2);
  });

  it('returns nothing after close, and can be closed twice', async () => {
    const resampler = await createPcmResampler({ fromHz: 48_000, toHz: 24_000 });
    resampler.close();
    resampler.close();
    expect(resampler.convert(makeNumbered(4800))).toHaveLength(0);
  });

  it('frees its memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    if (typeof collect !== 'function') throw new Error('this runtime cannot collect on demand');
    const pcm = makeNumbered(4800);
    // One converter alone holds 26 MB: keeping ten of them would show.
    for (let i = 0; i < 10; i++) await convertBytes(pcm, 48_000, 24_000, 480);
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect();
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(100e6);
  });

  it('works in one bundled file, and does not change the process', async () => {
    const folder = makeFolder();
    const outfile = join(folder, 'bundle.mjs');
    const program = `
      import { createPcmResampler } from ${JSON.stringify(MODULE)};
      const handlers = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
      const before = JSON.stringify(handlers());
      const resampler = await createPcmResampler({ fromHz: 48000, toHz: 24000 });
      const bytes = resampler.convert(new Uint8Array(9600)).length + resampler.flush().length;
      resampler.close();
      process.stdout.write(JSON.stringify({ bytes, same: JSON.stringify(handlers()) === before }));`;
    await build({
      stdin: { contents: program, resolveDir: folder },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
      logLevel: 'error',
    });
    const output = execFileSync(process.execPath, [outfile], { encoding: 'utf8', cwd: folder });
    expect(JSON.parse(output)).toEqual({ bytes: 4800, same: true });
  });
});
