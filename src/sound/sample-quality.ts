/** Length of a frame (milliseconds): shorter than a syllable, longer than a period of a low voice. */
const FRAME_MS = 20;
/** Part of full scale from which a sample counts as clipped: converters clip a little below it. */
const CLIPPED_FROM = 0.985;
/** Minimum number of consecutive samples in a clipped peak: a clean peak touches full scale with one or two. */
const SHORTEST_CLIP = 3;
/** Ratio of squared sample differences to power that counts as hiss: white noise has 2, a voice or a hum less than 0.7. */
const NOISE_ROUGHNESS = 0.7;

/** Measurements of a whole recording; levels are RMS in dBFS. */
export interface SampleQuality {
  readonly seconds: number;
  /** Greatest absolute sample (1 is full scale). */
  readonly peak: number;
  /** Part of all samples that belong to clipped peaks. */
  readonly clippedShare: number;
  /** Level of the quietest and of the loudest tenth of all frames that are not digital silence. */
  readonly quietDb: number;
  readonly loudDb: number;
  /** The quietest tenth sounds like hiss, not like a hum or a voice. */
  readonly isQuietRough: boolean;
}

export interface SampleMeter {
  /** The next samples of one channel. */
  add(samples: Float32Array): void;
  measure(): SampleQuality;
}

/** Measures what spoils a voice sample: clipping, hiss, and sound without any pause. */
export function createSampleMeter(rateHz: number): SampleMeter {
  const frameSamples = Math.max(2, Math.round((rateHz * FRAME_MS) / 1000));
  const frames: { readonly power: number; readonly roughness: number }[] = [];
  let [total, peak, clipped, run] = [0, 0, 0, 0];
  let [inFrame, power, steps, last] = [0, 0, 0, 0];

  const endRun = (): void => {
    if (run >= SHORTEST_CLIP) clipped += run;
    run = 0;
  };
  const endFrame = (): void => {
    if (power > 0) frames.push({ power: power / inFrame, roughness: steps / power });
    [inFrame, power, steps] = [0, 0, 0];
  };
  return {
    add(samples) {
      for (const sample of samples) {
        const size = Math.abs(sample);
        if (size > peak) peak = size;
        if (size >= CLIPPED_FROM) run += 1;
        else if (run > 0) endRun();
        power += sample * sample;
        steps += (sample - last) ** 2;
        last = sample;
        total += 1;
        inFrame += 1;
        if (inFrame === frameSamples) endFrame();
      }
    },
    measure() {
      endRun();
      const sorted = frames.toSorted((a, b) => a.power - b.power);
      const tenth = sorted.slice(0, Math.ceil(sorted.length / 10));
      const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)]?.power ?? 0;
      const roughness = tenth.reduce((sum, frame) => sum + frame.roughness, 0) / Math.max(1, tenth.length);
      return {
        seconds: total / rateHz,
        peak,
        clippedShare: total === 0 ? 0 : clipped / total,
        quietDb: levelOf(at(0.1)),
        loudDb: levelOf(at(0.9)),
        isQuietRough: roughness > NOISE_ROUGHNESS,
      };
    },
  };
}

/** @param power mean square of samples from -1 to 1 */
function levelOf(power: number): number {
  return power === 0 ? -Infinity : 10 * Math.log10(power);
}
