import { toFloat, toPcm } from '../../sound/pcm.ts';

/** Converts one continuous mono sound to another sample rate, piece by piece, without seams. */
export interface Resampler<Sound> {
  /** The sound that is ready so far; the filter delays the last few milliseconds. */
  convert(sound: Sound): Sound;
  /** Returns the delayed rest, which makes the total length exact to the sample. Ends the conversion. */
  flush(): Sound;
  /** Frees the memory; later sound is lost. */
  close(): void;
}

export interface ResamplerOptions {
  readonly fromHz: number;
  readonly toHz: number;
  /** `fast` passes 80 % of the band, enough for speech; `fine` passes 90 % for more than twice the work. */
  readonly quality?: 'fast' | 'fine';
}

/** Silence that flushes the filter, in samples of the lower rate: more than its delay (measured: 20 fast, 45 fine). */
const FLUSH_SAMPLES = 100;
/** Samples per conversion: the library has fixed buffers of a million samples, and this is well below that for any pair of rates. */
const MOST_SAMPLES_OUT = 500_000;

/** Makes a resampler of float samples. Equal rates pass through unchanged. */
export async function createResampler(options: ResamplerOptions): Promise<Resampler<Float32Array>> {
  const { fromHz, toHz } = options;
  if (fromHz === toHz) return { convert: (samples) => samples, flush: () => new Float32Array(0), close() {} };

  const ratio = toHz / fromHz;
  const mostAtOnce = Math.floor(MOST_SAMPLES_OUT / Math.max(1, ratio));
  let converter: Converter | null = await openConverter(options);
  let taken = 0;
  let made = 0;

  const convertPart = (samples: Float32Array): Float32Array => {
    const out = converter?.full(samples) ?? new Float32Array(0);
    made += out.length;
    return out;
  };
  return {
    convert(samples) {
      taken += samples.length;
      if (samples.length <= mostAtOnce) return convertPart(samples);
      const parts: Float32Array[] = [];
      for (let at = 0; at < samples.length; at += mostAtOnce) {
        parts.push(convertPart(samples.subarray(at, at + mostAtOnce)));
      }
      return joinSamples(parts);
    },
    flush() {
      const whole = Math.round(taken * ratio);
      const silence = new Float32Array(Math.ceil(FLUSH_SAMPLES * Math.max(1, 1 / ratio)));
      const before = made;
      return convertPart(silence).subarray(0, Math.max(0, whole - before));
    },
    close() {
      converter?.destroy();
      converter = null;
    },
  };
}

/** Makes a resampler of PCM. Equal rates pass through bit-exact. */
export async function createPcmResampler(options: ResamplerOptions): Promise<Resampler<Uint8Array>> {
  if (options.fromHz === options.toHz) {
    return { convert: (pcm) => pcm, flush: () => new Uint8Array(0), close() {} };
  }
  const resampler = await createResampler(options);
  return {
    convert: (pcm) => toPcm(resampler.convert(toFloat(pcm))),
    flush: () => toPcm(resampler.flush()),
    close: () => resampler.close(),
  };
}

type Converter = Awaited<ReturnType<typeof openConverter>>;

/** Loads the library on first use: it has 2 MB of code that takes 50 ms to start. */
async function openConverter({ fromHz, toHz, quality = 'fast' }: ResamplerOptions) {
  const { default: library } = await import('@alexanderolsen/libsamplerate-js');
  const { SRC_SINC_FASTEST, SRC_SINC_MEDIUM_QUALITY } = library.ConverterType;
  const converterType = quality === 'fine' ? SRC_SINC_MEDIUM_QUALITY : SRC_SINC_FASTEST;
  return library.create(1, fromHz, toHz, { converterType });
}

function joinSamples(parts: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
