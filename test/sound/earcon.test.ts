import { describe, expect, it } from 'vitest';
import { EARCONS, earconMs, synthesizeEarcon } from '../../src/sound/earcon.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { measureLevel } from '../../src/sound/sound-level.ts';

const RATES = [16_000, 24_000, 48_000];

/** Amplitude of a frequency in a sound (Goertzel). */
function amplitudeAt(sound: Int16Array, hz: number, rateHz: number): number {
  let re = 0;
  let im = 0;
  for (const [i, value] of sound.entries()) {
    re += value * Math.cos((2 * Math.PI * hz * i) / rateHz);
    im += value * Math.sin((2 * Math.PI * hz * i) / rateHz);
  }
  return (2 * Math.hypot(re, im)) / sound.length;
}

describe.each(EARCONS)('the chime "%s"', (earcon) => {
  it.each(RATES)('is short, soft and without a click at %i Hz', (rateHz) => {
    const pcm = synthesizeEarcon(earcon, rateHz);
    const samples = [...samplesOf(pcm)];
    expect(samples.length).toBe(Math.round((earconMs(earcon) * rateHz) / 1000));
    expect(earconMs(earcon)).toBeLessThan(500);
    expect(earconMs(earcon)).toBeGreaterThan(80);
    const { peakDb, rmsDb } = measureLevel(pcm);
    expect(peakDb).toBeGreaterThan(-26);
    expect(peakDb).toBeLessThan(-17);
    expect(rmsDb).toBeLessThan(-25);
    expect(Math.abs(samples[0] ?? 1)).toBeLessThan(4);
    expect(Math.abs(samples.at(-1) ?? 1)).toBeLessThan(30);
    // No step is larger than the highest partial makes at full loudness.
    const roughest = samples.reduce((most, v, i) => Math.max(most, Math.abs(v - (samples[i - 1] ?? 0))), 0);
    expect(roughest).toBeLessThan((3 * 3277 * 2 * Math.PI * 800) / rateHz);
  });

  it('is always the same sound', () => {
    const [one, other] = [synthesizeEarcon(earcon, 24_000), synthesizeEarcon(earcon, 24_000)];
    expect(Buffer.from(one).equals(other)).toBe(true);
  });
});

describe('the chimes', () => {
  it('differ in their notes', () => {
    const notes = [523.25, 659.26, 783.99, 440, 311.13, 392, 587.33, 880, 987.77, 1318.51];
    const spectra = EARCONS.map((earcon) => {
      const sound = samplesOf(synthesizeEarcon(earcon, 24_000));
      return notes.map((hz) => amplitudeAt(sound, hz, 24_000));
    });
    for (const [i, one] of spectra.entries()) {
      for (const other of spectra.slice(i + 1)) {
        const product = one.reduce((sum, value, k) => sum + value * (other[k] ?? 0), 0);
        expect(product / (Math.hypot(...one) * Math.hypot(...other))).toBeLessThan(0.85);
      }
    }
  });

  it('go up for good news and down for bad', () => {
    const pitchOf = (pcm: Uint8Array): number => {
      const sound = samplesOf(pcm);
      const candidates = Array.from({ length: 120 }, (_, i) => 250 + i * 5);
      const amplitudes = candidates.map((hz) => amplitudeAt(sound, hz, 24_000));
      return candidates[amplitudes.indexOf(Math.max(...amplitudes))] ?? 0;
    };
    const ends = (earcon: (typeof EARCONS)[number]): [number, number] => {
      const pcm = synthesizeEarcon(earcon, 24_000);
      return [pitchOf(pcm.subarray(0, 4800)), pitchOf(pcm.subarray(-4800))];
    };
    for (const earcon of ['ready', 'recovered'] as const) {
      const [begin, end] = ends(earcon);
      expect(end).toBeGreaterThan(begin + 50);
    }
    const [begin, end] = ends('lost');
    expect(end).toBeLessThan(begin - 50);
    expect(ends('muted')[0]).toBeLessThan(ends('unmuted')[0] - 50);
  });
});
