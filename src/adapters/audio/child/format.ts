import { BYTES_PER_SAMPLE, samplesOf, toFloat, toPcm } from '../../../sound/pcm.ts';
import { createStereoMix } from '../../../sound/stereo-mix.ts';
import { createPcmResampler } from '../resampler.ts';

/** The format in which a device accepts or delivers sound; always signed 16-bit little-endian. */
export interface Shape {
  readonly rateHz: number;
  readonly channels: 1 | 2;
}

export const frameBytesOf = (shape: Shape): number => shape.channels * BYTES_PER_SAMPLE;

/** Converts one continuous sound to another format, piece by piece. */
export interface Conversion {
  convert(bytes: Uint8Array): Uint8Array;
  close(): void;
}

const AS_IT_IS: Conversion = { convert: (bytes) => bytes, close() {} };

/**
 * From the device's format, in whole frames, to mono at the lane's rate.
 * @param chosen receives the channel (from 1) that is used alone from now on, or null for the mean of both
 */
export async function fromDevice(
  shape: Shape,
  rateHz: number,
  chosen: (channel: number | null) => void = () => {},
): Promise<Conversion> {
  if (shape.channels === 1 && shape.rateHz === rateHz) return AS_IT_IS;
  const resampler = await createPcmResampler({ fromHz: shape.rateHz, toHz: rateHz });
  const stereo = createStereoMix(shape.rateHz);
  const toMono = (bytes: Uint8Array): Uint8Array => {
    const before = stereo.only;
    const mono = toPcm(stereo.mix(toFloat(bytes)));
    if (stereo.only !== before) chosen(stereo.only === null ? null : stereo.only + 1);
    return mono;
  };
  return {
    convert: (bytes) => resampler.convert(shape.channels === 1 ? bytes : toMono(bytes)),
    close: () => resampler.close(),
  };
}

/** From mono at the lane's rate to the device's format. */
export async function toDevice(shape: Shape, rateHz: number): Promise<Conversion> {
  if (shape.channels === 1 && shape.rateHz === rateHz) return AS_IT_IS;
  const resampler = await createPcmResampler({ fromHz: rateHz, toHz: shape.rateHz });
  return {
    convert(pcm) {
      const mono = resampler.convert(pcm);
      return shape.channels === 1 ? mono : toStereo(mono);
    },
    close: () => resampler.close(),
  };
}

function toStereo(pcm: Uint8Array): Uint8Array {
  const mono = samplesOf(pcm);
  const stereo = new Int16Array(mono.length * 2);
  for (const [index, sample] of mono.entries()) {
    stereo[index * 2] = sample;
    stereo[index * 2 + 1] = sample;
  }
  return new Uint8Array(stereo.buffer);
}
