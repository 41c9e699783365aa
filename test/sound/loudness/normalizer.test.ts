import { describe, expect, it } from 'vitest';
import { CEILING, createLimiter, slotSamples } from '../../../src/sound/loudness/limiter.ts';
import { createNormalizer } from '../../../src/sound/loudness/normalizer.ts';
import { TARGET_LUFS } from '../../../src/sound/loudness/voice-level.ts';
import { as, bytesOf, expectCheap, expectEquallyLoud, level, loudness, peakOf, seconds } from './levelled.ts';
import { CHILD, MAN, RATE_HZ, speak, WOMAN } from './voices.ts';

describe('voices of the service', () => {
  it('are equally loud after some seconds, whatever their original loudness', () => {
    expectEquallyLoud({ MAN: [0.98], WOMAN: [0.15], CHILD: [0.6] });
  });

  it('are equally loud, too, when one follows the other in the same language', () => {
    const normalizer = createNormalizer(RATE_HZ);
    for (const voice of [as(MAN, 0.7), as(WOMAN, 0.15), as(CHILD, 0.9), as(MAN, 0.12)]) {
      const levelled = level(normalizer, speak(voice, 16));
      expect(Math.abs(loudness(seconds(levelled, 9)) - TARGET_LUFS)).toBeLessThan(2);
    }
  });

  it('keep their own gain when they take turns', () => {
    const normalizer = createNormalizer(RATE_HZ);
    const loud = speak(as(MAN, 0.9), 12);
    const soft = speak(as(WOMAN, 0.15), 12);
    level(normalizer, loud, 'es');
    level(normalizer, soft, 'fr');
    // From the first word of the next sentence on.
    for (let turn = 0; turn < 3; turn++) {
      const first = level(normalizer, seconds(loud, 0, 3), 'es');
      const second = level(normalizer, seconds(soft, 0, 3), 'fr');
      expect(Math.abs(loudness(first) - loudness(second))).toBeLessThan(2.5);
    }
    expect(normalizer.gainDb('fr') - normalizer.gainDb('es')).toBeGreaterThan(9);
    expect(normalizer.gainDb('it')).toBe(0);
  });

  it('never clip, however loud they begin and however they are cut into pieces', () => {
    for (const pieceMs of [3, 20, 320, 1000]) {
      const normalizer = createNormalizer(RATE_HZ);
      // It had learnt to amplify a whisper before the shout.
      level(normalizer, speak(as(WOMAN, 0.1), 8), 'es', pieceMs);
      expect(normalizer.gainDb('es')).toBeGreaterThan(6);
      const shout = level(normalizer, speak({ ...as(MAN, 1), noise: 0.2 }, 4), 'es', pieceMs);
      expect(peakOf(shout), `${pieceMs} ms`).toBeLessThanOrEqual(CEILING);
    }
  });

  it("do not pump: in a pause the gain stands still, and the recording's noise with it", () => {
    const normalizer = createNormalizer(RATE_HZ);
    level(normalizer, speak({ ...as(MAN, 0.3), noise: 0.002 }, 12));
    const before = normalizer.gainDb('es');
    const noise = Int16Array.from(seconds(speak({ ...as(MAN, 0), noise: 0.002 }, 30), 0));
    const pause = level(normalizer, noise);
    expect(normalizer.gainDb('es')).toBe(before);
    const [early, late] = [seconds(pause, 1, 3), seconds(pause, 27, 29)].map((part) =>
      Math.sqrt(part.reduce((sum, one) => sum + one * one, 0) / part.length),
    );
    expect(Math.abs(20 * Math.log10((late ?? 0) / (early ?? 1)))).toBeLessThan(0.3);
    // It hardly moves while one voice continues.
    const gains: number[] = [];
    const more = speak({ ...as(MAN, 0.3, 5), noise: 0.002 }, 30);
    for (let at = 0; at < 30; at++) {
      level(normalizer, seconds(more, at, at + 1));
      gains.push(normalizer.gainDb('es'));
    }
    expect(Math.max(...gains) - Math.min(...gains)).toBeLessThan(2);
  });

  it('stay unchanged when their loudness is already right', () => {
    const sound = speak(as(WOMAN, 0.3), 8);
    const factor = 10 ** ((TARGET_LUFS - loudness(sound)) / 20);
    const right = sound.map((sample) => Math.round(sample * factor));
    const levelled = level(createNormalizer(RATE_HZ), right);
    expect(levelled.length).toBe(right.length);
    expect(Math.abs(loudness(levelled) - TARGET_LUFS)).toBeLessThan(1);
  });

  it('keep their length and silence, and any number of them uses bounded memory', () => {
    const normalizer = createNormalizer(RATE_HZ);
    expect(normalizer.level(new Uint8Array(0), 'es')).toHaveLength(0);
    expect(normalizer.level(new Uint8Array(7), 'es')).toHaveLength(6);
    expect(peakOf(level(normalizer, new Int16Array(RATE_HZ)))).toBe(0);
    const sound = speak(as(MAN, 0.9), 1);
    for (let voice = 0; voice < 100; voice++) level(normalizer, sound, `v${voice}`, 1000);
    expect(normalizer.gainDb('v1')).toBe(0);
    expect(normalizer.gainDb('v99')).not.toBe(0);
  });

  it('cost little processing', { retry: 2 }, ({ annotate }) => {
    void annotate(expectCheap(3));
  });
});

describe('the limiter', () => {
  it('leaves sound below its ceiling unchanged, bit by bit', () => {
    const sound = speak(as(WOMAN, 0.8), 2);
    const limiter = createLimiter(RATE_HZ);
    const gains = new Float64Array(Math.ceil(sound.length / slotSamples(RATE_HZ))).fill(1);
    expect(Buffer.from(bytesOf(limiter.apply(sound, gains))).equals(bytesOf(sound))).toBe(true);
  });

  it('starts before a peak and recovers softly', () => {
    const limiter = createLimiter(RATE_HZ);
    const sound = new Int16Array(RATE_HZ).fill(3000);
    for (let at = 12_000; at < 12_100; at++) sound[at] = 30_000;
    const gains = new Float64Array(1000).fill(2);
    const limited = limiter.apply(sound, gains);
    expect(peakOf(limited)).toBeLessThanOrEqual(CEILING);
    const around = [...limited.subarray(11_000, 16_000)].filter((sample) => sample < 10_000);
    const steps = around.slice(1).map((sample, at) => Math.abs(sample - (around[at] ?? 0)));
    expect(Math.max(...steps)).toBeLessThan(150);
    expect(limited[23_999]).toBe(6000);
  });
});
