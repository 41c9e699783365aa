import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.ts';
import { createSampleMeter } from '../../src/sound/sample-quality.ts';

const RATE_HZ = 24_000;

const samplesOf = (seconds: number, at: (index: number) => number): Float32Array =>
  Float32Array.from({ length: seconds * RATE_HZ }, (_, index) => at(index));

const tone = (peak: number) => (index: number) => peak * Math.sin((2 * Math.PI * 200 * index) / RATE_HZ);

function measure(...pieces: Float32Array[]) {
  const meter = createSampleMeter(RATE_HZ);
  for (const piece of pieces) meter.add(piece);
  return meter.measure();
}

describe('the quality of a voice sample', () => {
  it('is the length, the peak and the level of a clean tone', () => {
    const { seconds, peak, clippedShare, quietDb, loudDb, isQuietRough } = measure(samplesOf(2, tone(0.5)));
    expect([seconds, clippedShare, isQuietRough]).toEqual([2, 0, false]);
    expect(peak).toBeCloseTo(0.5, 3);
    // A sine of half the full scale: 3 dB below its peak of -6 dB.
    expect(quietDb).toBeCloseTo(-9.03, 1);
    expect(loudDb).toBeCloseTo(-9.03, 1);
  });

  it('counts the samples of flat peaks as clipped, not the tip of a full sine', () => {
    const flat = samplesOf(1, (index) => Math.max(-1, Math.min(1, tone(2)(index))));
    // A sine of twice the full scale is above 0.985 for two thirds of its period.
    expect(measure(flat).clippedShare).toBeCloseTo(0.67, 1);
    const tips = samplesOf(1, (index) => (index % 100 === 0 ? 1 : 0));
    expect(measure(tips)).toMatchObject({ peak: 1, clippedShare: 0 });
  });

  it('tells hiss in the pauses from a hum, and takes the levels of both', () => {
    const random = seededRandom(3);
    const hiss = samplesOf(1, () => (random() - 0.5) * 0.02);
    const hum = samplesOf(1, (index) => 0.01 * Math.sin((2 * Math.PI * 50 * index) / RATE_HZ));
    const voice = samplesOf(4, tone(0.5));
    const [hissing, humming] = [measure(voice, hiss), measure(voice, hum)];
    expect([hissing.isQuietRough, humming.isQuietRough]).toEqual([true, false]);
    expect(hissing.loudDb - hissing.quietDb).toBeGreaterThan(30);
  });

  it('leaves out digital silence, and has no level without sound', () => {
    expect(
      measure(
        samplesOf(1, () => 0),
        samplesOf(1, tone(0.5)),
      ).quietDb,
    ).toBeCloseTo(-9.03, 1);
    expect(measure()).toEqual({
      seconds: 0,
      peak: 0,
      clippedShare: 0,
      isQuietRough: false,
      quietDb: -Infinity,
      loudDb: -Infinity,
    });
  });
});
