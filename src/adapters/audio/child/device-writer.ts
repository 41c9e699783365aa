import { BYTES_PER_SAMPLE, silence } from '../../../sound/pcm.ts';
import { type Conversion, frameBytesOf, type Shape } from './format.ts';
import type { Child } from './process.ts';

/** The result of a write to a device. */
interface Handed {
  /** Frames that were given to the device: whole periods. */
  readonly frames: number;
  /** Frames that are held back until a period is full. */
  readonly heldFrames: number;
}

/** Converts sound to the device's format and writes it to the device's program in whole periods. */
export interface DeviceWriter {
  give(pcm: Uint8Array): Handed;
  /** Writes this sound as well, and pads the last period with silence. */
  fillUp(pcm: Uint8Array): Handed;
  close(): void;
}

export function createDeviceWriter(
  child: Child,
  conversion: Conversion,
  shape: Shape,
  periodFrames: number,
): DeviceWriter {
  const frameBytes = frameBytesOf(shape);
  const periodBytes = periodFrames * frameBytes;
  let held: Uint8Array = new Uint8Array(0);
  const give = (pcm: Uint8Array): Handed => {
    const made = conversion.convert(pcm);
    const all = held.byteLength === 0 ? made : Buffer.concat([held, made]);
    const whole = all.byteLength - (all.byteLength % periodBytes);
    if (whole > 0) child.write(all.subarray(0, whole));
    held = all.subarray(whole);
    return { frames: whole / frameBytes, heldFrames: held.byteLength / frameBytes };
  };
  return {
    give,
    fillUp(pcm) {
      const { frames } = pcm.byteLength === 0 ? { frames: 0 } : give(pcm);
      if (held.byteLength === 0) return { frames, heldFrames: 0 };
      const missing = periodBytes - held.byteLength;
      const last = Buffer.concat([held, silence(missing - (missing % (shape.channels * BYTES_PER_SAMPLE)))]);
      child.write(last);
      held = new Uint8Array(0);
      return { frames: frames + last.byteLength / frameBytes, heldFrames: 0 };
    },
    close: () => conversion.close(),
  };
}
