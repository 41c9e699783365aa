import { chance } from '../../../acoustics.ts';

export const RATE_HZ = 24_000;

/** How a synthetic voice speaks. */
export interface Voice {
  readonly pitchHz: number;
  /** Amplitude of its vowels' pulses, of full scale; may be more than 1, and is cut off there. */
  readonly amplitude: number;
  /** Formants, hertz. */
  readonly formants: readonly number[];
  readonly noise?: number;
  readonly seed?: number;
}

export const MAN: Voice = { pitchHz: 105, amplitude: 0.5, formants: [600, 1100, 2400] };
export const WOMAN: Voice = { pitchHz: 205, amplitude: 0.5, formants: [750, 1400, 2900] };
export const CHILD: Voice = { pitchHz: 310, amplitude: 0.5, formants: [900, 1700, 3400] };

/** Speech-like sound: glottal pulses through formants, syllables at 4 Hz of varying stress, pauses between sentences. */
export function speak(voice: Voice, seconds: number): Int16Array {
  const dice = chance(voice.seed ?? 11);
  const samples = new Float64Array(seconds * RATE_HZ);
  const syllable = RATE_HZ / 4;
  let stress = 1;
  let phase = 0;
  for (let at = 0; at < samples.length; at++) {
    if (at % syllable === 0) stress = 0.35 + 0.65 * dice();
    // Of four seconds one is a pause.
    const isPause = at % (4 * RATE_HZ) > 3 * RATE_HZ;
    const envelope = isPause
      ? 0
      : stress * Math.max(0, Math.sin((Math.PI * (at % syllable)) / syllable)) ** 0.7;
    phase += (voice.pitchHz * (1 + 0.05 * Math.sin((2 * Math.PI * 3 * at) / RATE_HZ))) / RATE_HZ;
    const pulse = phase >= 1 ? 1 : 0;
    phase %= 1;
    samples[at] = envelope * (pulse * 4 + (dice() - 0.5) * 0.15);
  }
  const sound = new Float64Array(samples.length);
  for (const [index, hz] of voice.formants.entries()) {
    const r = Math.exp((-Math.PI * 90) / RATE_HZ);
    const c = 2 * r * Math.cos((2 * Math.PI * hz) / RATE_HZ);
    let [y1, y2] = [0, 0];
    for (let at = 0; at < samples.length; at++) {
      const y = (samples[at] ?? 0) * 0.12 * 0.6 ** index + c * y1 - r * r * y2;
      [y2, y1] = [y1, y];
      sound[at] = (sound[at] ?? 0) + y;
    }
  }
  const peak = sound.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return Int16Array.from(sound, (value) => {
    const full = (value / peak) * voice.amplitude + (dice() - 0.5) * 2 * (voice.noise ?? 0);
    return Math.round(Math.min(1, Math.max(-1, full)) * 32_767);
  });
}
