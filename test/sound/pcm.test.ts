import { describe, expect, it } from 'vitest';
import {
  applyGain,
  downmix,
  durationMs,
  SILENCE_DBFS,
  sampleCount,
  silence,
  toFloat,
  toPcm,
  volumeGain,
} from '../../src/sound/pcm.ts';
import { measureLevel } from '../../src/sound/sound-level.ts';
import { fc } from '../properties.ts';

const sample = fc.integer({ min: -32768, max: 32767 });

function pcmOf(samples: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(samples.length * 2);
  samples.forEach((value, i) => {
    bytes.writeInt16LE(value, i * 2);
  });
  return bytes;
}

function samplesOf(pcm: Uint8Array): number[] {
  const bytes = Buffer.from(pcm);
  return Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readInt16LE(i * 2));
}

describe('level', () => {
  it('is the finite floor for nothing and for digital silence', () => {
    const floor = { rmsDb: SILENCE_DBFS, peakDb: SILENCE_DBFS };
    expect(measureLevel(new Uint8Array(0))).toMatchObject(floor);
    expect(measureLevel(silence(960))).toMatchObject(floor);
    expect(measureLevel(new Uint8Array(1))).toMatchObject(floor);
  });

  it('reads 0 dBFS for a full-scale square wave and -3 for a full-scale sine', () => {
    const square = measureLevel(pcmOf(Array.from({ length: 100 }, () => -32768)));
    expect(square).toMatchObject({ rmsDb: 0, peakDb: 0 });
    const sine = measureLevel(
      pcmOf(Array.from({ length: 24000 }, (_, i) => Math.round(32767 * Math.sin(i / 7)))),
    );
    expect(sine.rmsDb).toBeCloseTo(-3.01, 1);
    expect(sine.peakDb).toBeCloseTo(0, 1);
  });

  it('falls by 6 dB when the amplitude halves', () => {
    const loud = measureLevel(pcmOf([16384, -16384]));
    const soft = measureLevel(pcmOf([8192, -8192]));
    expect(loud.rmsDb - soft.rmsDb).toBeCloseTo(6.02, 2);
    expect(loud.peakDb - soft.peakDb).toBeCloseTo(6.02, 2);
  });

  it('is bounded by the floor and its own peak, at any alignment', () => {
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1 }), (samples) => {
        const aligned = pcmOf(samples);
        const shifted = new Uint8Array(aligned.length + 1);
        shifted.set(aligned, 1);
        const level = measureLevel(shifted.subarray(1));
        expect(level).toEqual(measureLevel(aligned));
        expect(level.rmsDb).toBeGreaterThanOrEqual(SILENCE_DBFS);
        expect(level.rmsDb).toBeLessThanOrEqual(level.peakDb + 1e-9);
        expect(level.peakDb).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('length', () => {
  it('counts whole samples and their time', () => {
    expect(sampleCount(new Uint8Array(7))).toBe(3);
    expect(durationMs(15360, 24000)).toBe(320);
    expect(silence(6)).toEqual(new Uint8Array(6));
  });
});

describe('volume', () => {
  it('is silent at 0, unchanged at 100, in between on a cubic curve, clamped outside', () => {
    expect([0, 50, 100, -5, 250].map(volumeGain)).toEqual([0, 0.125, 1, 0, 1]);
  });

  it('returns the same bytes at full volume and zeros at volume 0', () => {
    const pcm = pcmOf([1, -2, 32767, -32768]);
    expect(applyGain(pcm, volumeGain(100))).toBe(pcm);
    expect(samplesOf(applyGain(pcm, volumeGain(0))).every((value) => value === 0)).toBe(true);
  });

  it('saturates instead of wrapping, and does not change its argument', () => {
    fc.assert(
      fc.property(fc.array(sample), fc.double({ min: 0, max: 8, noNaN: true }), (samples, gain) => {
        const pcm = pcmOf(samples);
        const wanted = samples.map((value) => Math.min(32767, Math.max(-32768, value * gain)));
        samplesOf(applyGain(pcm, gain)).forEach((value, i) => {
          expect(Math.abs(value - (wanted[i] ?? Number.NaN))).toBeLessThanOrEqual(0.5);
        });
        expect(samplesOf(pcm)).toEqual(samples);
      }),
    );
  });
});

describe('float conversion', () => {
  it('restores the same bytes', () => {
    fc.assert(
      fc.property(fc.array(sample), (samples) => {
        const pcm = pcmOf(samples);
        expect(Buffer.from(toPcm(toFloat(pcm)))).toEqual(pcm);
      }),
    );
  });

  it('saturates values beyond full scale and replaces NaN by 0', () => {
    const samples = new Float32Array([1, 2, -1, -7, Number.POSITIVE_INFINITY, Number.NaN, 0.25]);
    expect(samplesOf(toPcm(samples))).toEqual([32767, 32767, -32768, -32768, 32767, 0, 8192]);
  });
});

describe('downmix', () => {
  it('does not change one channel', () => {
    const mono = new Float32Array([0.1, 0.2]);
    expect(downmix(mono, 1)).toBe(mono);
  });

  it('keeps equal channels exactly and averages others, dropping an incomplete frame', () => {
    expect(downmix(new Float32Array([0.5, 0.5, -0.25, -0.25]), 2)).toEqual(new Float32Array([0.5, -0.25]));
    expect(downmix(new Float32Array([1, 0, 0.5, 0, 0, 0, 1, 1]), 3)).toEqual(new Float32Array([0.5, 0]));
  });
});
