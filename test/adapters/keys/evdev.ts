/** Records as the kernel's evdev writes them. */

type Size = 16 | 24;

/** One record of an input device. */
export function report(size: Size, type = 0, code = 0, value = 0): Buffer {
  const record = Buffer.alloc(size);
  // The time, which the agent does not read.
  record.fill(0xa5, 0, size - 8);
  record.writeUInt16LE(type, size - 8);
  record.writeUInt16LE(code, size - 6);
  record.writeInt32LE(value, size - 4);
  return record;
}

/** @param value 1: pressed, 0: released, 2: repeated */
export const keyEvent = (size: Size, code: number, value: 0 | 1 | 2): Buffer => report(size, 1, code, value);
