/** Zero crossings on each side of the kernel: enough for speech, and cheap. */
const HALF_WIDTH = 10;
const PHASES = 128;
/** Pass band as a share of the new Nyquist frequency: a little below it, so that the kernel's slope does not alias. */
const PASS_BAND = 0.94;

/** One kernel per fractional position, normalised so that a constant stays a constant. */
function buildKernels(cutoff: number, taps: number): Float32Array {
  const kernels = new Float32Array((PHASES + 1) * taps);
  const half = taps / 2;
  for (let phase = 0; phase <= PHASES; phase++) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const x = tap - half + 1 - phase / PHASES;
      const angle = Math.PI * x * cutoff;
      const sinc = Math.abs(angle) < 1e-9 ? 1 : Math.sin(angle) / angle;
      const window = Math.abs(x) >= half ? 0 : 0.5 + 0.5 * Math.cos((Math.PI * x) / half);
      kernels[phase * taps + tap] = sinc * window;
      sum += sinc * window;
    }
    for (let tap = 0; tap < taps; tap++) {
      const at = phase * taps + tap;
      kernels[at] = (kernels[at] ?? 0) / sum;
    }
  }
  return kernels;
}

/** Cache of the kernels of the last few steps, because a voice uses the same ones for each sentence. */
const kernelsByStep = new Map<number, { kernels: Float32Array; taps: number }>();
const MOST_STEPS = 16;

function kernelsFor(step: number): { kernels: Float32Array; taps: number } {
  const known = kernelsByStep.get(step);
  if (known !== undefined) return known;
  const cutoff = Math.min(1, 1 / step) * PASS_BAND;
  const taps = 2 * Math.ceil(HALF_WIDTH / cutoff);
  const made = { kernels: buildKernels(cutoff, taps), taps };
  kernelsByStep.set(step, made);
  const oldest = kernelsByStep.keys().next().value;
  if (kernelsByStep.size > MOST_STEPS && oldest !== undefined) kernelsByStep.delete(oldest);
  return made;
}

/**
 * Resamples a signal with a windowed sinc.
 * @param step distance of two output samples in input samples: above 1, the output is shorter (lower in rate or higher
 *   in pitch)
 */
export function resampleBy(input: Float32Array, step: number): Float32Array {
  if (step === 1) return input;
  const { kernels, taps } = kernelsFor(step);
  const half = taps / 2;
  // Silence on both sides keeps the kernel inside the array.
  const padded = new Float32Array(input.length + 2 * taps + Math.ceil(step));
  padded.set(input, taps);
  const output = new Float32Array(Math.max(0, Math.round(input.length / step)));
  for (let index = 0; index < output.length; index++) {
    const at = index * step;
    const whole = Math.floor(at);
    const kernel = Math.round((at - whole) * PHASES) * taps;
    const first = whole - half + 1 + taps;
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      sum += (padded[first + tap] as number) * (kernels[kernel + tap] as number);
    }
    output[index] = sum;
  }
  return output;
}

/** 16-bit samples as numbers between -1 and 1. */
export function toFloat(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let index = 0; index < floats.length; index++) floats[index] = (samples[index] ?? 0) / 32_768;
  return floats;
}

/** Numbers between -1 and 1 as 16-bit samples; louder values are clipped. */
export function toSamples(floats: Float32Array): Int16Array {
  const samples = new Int16Array(floats.length);
  for (let index = 0; index < samples.length; index++) {
    samples[index] = Math.max(-32_768, Math.min(32_767, Math.round((floats[index] ?? 0) * 32_768)));
  }
  return samples;
}
