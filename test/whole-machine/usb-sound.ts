/** QEMU's recording of its USB loudspeaker: 48 kHz, two channels, 16 bits. */
export const WAV_HEADER_BYTES = 44;
const FRAME_BYTES = 4;
/** Bytes for each sent sample: two frames. */
const STEP_BYTES = 2 * FRAME_BYTES;

/** Extracts the sent samples: the kernel doubles the rate by interpolation, so they are every second frame. `end`: offset of the next. */
export function samplesOfUsb(
  wav: Buffer,
  from = WAV_HEADER_BYTES,
): { readonly samples: Int16Array; readonly end: number } {
  const length = Math.max(0, Math.floor((wav.length - from) / STEP_BYTES));
  const samples = Int16Array.from({ length }, (_, at) => wav.readInt16LE(from + at * STEP_BYTES));
  return { samples, end: from + length * STEP_BYTES };
}
