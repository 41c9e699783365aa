import { chance } from '../../acoustics.ts';

export const RATE_HZ = 24_000;

/** Parameters of a synthetic voice. */
export interface Voice {
  readonly pitchHz: number;
  /** Amplitude of the vowel pulses (full scale is 1); above 1 they clip. */
  readonly amplitude: number;
  /** Formants, hertz. */
  readonly formants: readonly number[];
  readonly noise?: number;
  readonly seed?: number;
}

export const MAN: Voice = { pitchHz: 105, amplitude: 0.5, formants: [600, 1100, 2400] };
export const WOMAN: Voice = { pitchHz: 205, amplitude: 0.5, formants: [750, 1400, 2900] };
export const CHILD: Voice = { pitchHz: 310, amplitude: 0.5, formants: [900, 1700, 3400] };

/** Loudness of a syllable at each sample, and the waver of the pitch, three times a second. */
const SYLLABLE = Float64Array.from(
  { length: RATE_HZ / 4 },
  (_, at) => Math.max(0, Math.sin((4 * Math.PI * at) / RATE_HZ)) ** 0.7,
);
const WAVERS = Float64Array.from(
  { length: RATE_HZ / 3 },
  (_, at) => 1 + 0.05 * Math.sin((2 * Math.PI * 3 * at) / RATE_HZ),
);
/** Random values per seed, cached: drawing them for each sample of each voice takes longer than everything else. */
const drawn = new Map<number, { next: () => number; values: number[] }>();

function diceOf(seed: number): () => number {
  const known = drawn.get(seed) ?? { next: chance(seed), values: [] };
  drawn.set(seed, known);
  let at = 0;
  return () => {
    if (at === known.values.length) known.values.push(known.next());
    return known.values[at++] ?? 0;
  };
}

const spoken = new Map<string, Int16Array>();

/** Speech-like sound: glottal pulses through formants, syllables at 4 Hz with varying stress, pauses between sentences. */
export function speak(voice: Voice, seconds: number): Int16Array {
  const what = JSON.stringify([voice, seconds]);
  const sound = spoken.get(what) ?? synthesize(voice, seconds);
  spoken.set(what, sound);
  return sound;
}

function synthesize(voice: Voice, seconds: number): Int16Array {
  const dice = diceOf(voice.seed ?? 11);
  const samples = new Float64Array(seconds * RATE_HZ);
  let stress = 1;
  let phase = 0;
  for (let at = 0; at < samples.length; at++) {
    const inSyllable = at % SYLLABLE.length;
    if (inSyllable === 0) stress = 0.35 + 0.65 * dice();
    // One of four seconds is a pause.
    const isPause = at % (4 * RATE_HZ) > 3 * RATE_HZ;
    const envelope = isPause ? 0 : stress * (SYLLABLE[inSyllable] ?? 0);
    phase += (voice.pitchHz * (WAVERS[at % WAVERS.length] ?? 1)) / RATE_HZ;
    const pulse = phase >= 1 ? 1 : 0;
    phase -= pulse;
    samples[at] = envelope * (pulse * 4 + (dice() - 0.5) * 0.15);
  }
  const sound = new Float64Array(samples.length);
  let peak = 0;
  for (const [index, hz] of voice.formants.entries()) {
    const r = Math.exp((-Math.PI * 90) / RATE_HZ);
    const c = 2 * r * Math.cos((2 * Math.PI * hz) / RATE_HZ);
    const share = 0.12 * 0.6 ** index;
    const isLast = index === voice.formants.length - 1;
    let y1 = 0;
    let y2 = 0;
    for (let at = 0; at < samples.length; at++) {
      const y = (samples[at] ?? 0) * share + c * y1 - r * r * y2;
      y2 = y1;
      y1 = y;
      sound[at] = (sound[at] ?? 0) + y;
      if (isLast) peak = Math.max(peak, Math.abs(sound[at] ?? 0));
    }
  }
  const levelled = new Int16Array(sound.length);
  const hiss = 2 * (voice.noise ?? 0);
  for (let at = 0; at < sound.length; at++) {
    const full = ((sound[at] ?? 0) / peak) * voice.amplitude + (hiss === 0 ? 0 : (dice() - 0.5) * hiss);
    levelled[at] = Math.round(Math.min(1, Math.max(-1, full)) * 32_767);
  }
  return levelled;
}
