import { BYTES_PER_SAMPLE, downmix, samplesOf, toFloat, toPcm } from '../../../core/audio/pcm.ts';
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

/** From the device's format, in whole frames, to mono at the lane's rate. */
export async function fromDevice(shape: Shape, rateHz: number): Promise<Conversion> {
  if (shape.channels === 1 && shape.rateHz === rateHz) return AS_IT_IS;
  const resampler = await createPcmResampler({ fromHz: shape.rateHz, toHz: rateHz });
  return {
    convert: (bytes) => resampler.convert(shape.channels === 1 ? bytes : toPcm(downmix(toFloat(bytes), 2))),
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
