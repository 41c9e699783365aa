import { describe, expect, it } from 'vitest';
import { adviseGain, createSpeechLevel, gainAdvice } from '../../src/sound/speech-level.ts';
import { MAN, RATE_HZ, speak, WOMAN } from './loudness/voices.ts';

const levelOf = (sound: Int16Array): number | null => {
  const level = createSpeechLevel(RATE_HZ);
  // The result does not depend on the pieces.
  for (let at = 0; at < sound.length; at += 1777) level.hear(sound.subarray(at, at + 1777));
  return level.speechDb();
};
/** RMS of three seconds without the pause. */
const rmsDb = (sound: Int16Array): number => {
  const part = sound.subarray(0, 3 * RATE_HZ);
  return 10 * Math.log10(part.reduce((sum, one) => sum + one * one, 0) / part.length / 32_768 ** 2);
};

describe('the level of speech', () => {
  it.each([0.02, 0.1, 0.5])('is that of the speech without pauses and room noise: %d', (amplitude) => {
    for (const voice of [MAN, WOMAN]) {
      const sound = speak({ ...voice, amplitude, noise: 0.0005 }, 8);
      expect(Math.abs((levelOf(sound) ?? 0) - rmsDb(sound)), `${voice.pitchHz}`).toBeLessThan(3);
    }
  });

  it('is null for a room without speech, for silence and for no sound', () => {
    expect(levelOf(speak({ ...MAN, amplitude: 0, noise: 0.02 }, 5))).toBeNull();
    expect(levelOf(new Int16Array(RATE_HZ))).toBeNull();
    expect(levelOf(new Int16Array(0))).toBeNull();
    const cough = new Int16Array(3 * RATE_HZ);
    cough.fill(9000, RATE_HZ, RATE_HZ * 1.2);
    expect(levelOf(cough)).toBeNull();
  });
});

describe('the advised gain', () => {
  it.each([
    [-24, -8, 0],
    [-31, -15, 0],
    [-44, -25, 20],
    [-50, -10, 7],
    [-40, -2, 0],
    [-12, -0.1, -12],
  ])('for speech at %d dB with peaks at %d dB is %d dB', (speech, peak, advice) => {
    expect(adviseGain(speech, peak)).toBe(advice);
  });
  it('is explained in a sentence', () => {
    expect(gainAdvice(-12, 'alsamixer')).toMatch(/^Turn the microphone down by 12 dB \(alsamixer, F4; /);
    expect(gainAdvice(20, 'alsamixer')).toMatch(/ up by 20 dB/);
  });
});
