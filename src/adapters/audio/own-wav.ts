import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { AudioFaultError } from './fault.ts';
import { HEADER_BYTES, MAX_DATA_BYTES, makeHeader } from './wav.ts';

const SIZE_AT = 4;
const DATA_AT = 36;
/** The chunk that names the program (RIFF's `ISFT`), between `fmt ` and `data`: no other program writes it there. */
const MARK = Buffer.from('LIST\x16\0\0\0INFOISFT\x0a\0\0\0Dragoman\0\0', 'latin1');

export const OWN_HEADER_BYTES = HEADER_BYTES + MARK.length;
export const MOST_OWN_BYTES = MAX_DATA_BYTES - MARK.length;

/** The header of the WAV files that this program writes: mono 16-bit, with a mark. */
export function ownHeader(options: { rateHz: number; dataBytes: number }): Uint8Array {
  const plain = Buffer.from(makeHeader(options));
  const header = Buffer.concat([plain.subarray(0, DATA_AT), MARK, plain.subarray(DATA_AT)]);
  header.writeUInt32LE(plain.readUInt32LE(SIZE_AT) + MARK.length, SIZE_AT);
  return header;
}

/**
 * Refuses to replace a file of another program: the path may be a typing error that names a recording.
 * @throws AudioFaultError, or the error of the system
 */
export function refuseForeign(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size === 0 || isOwn(path)) return;
  throw new AudioFaultError(
    'failed',
    `${path} exists, and this program has not written it: name another file, delete this one, or set "overwrite": true`,
  );
}

function isOwn(path: string): boolean {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const mark = Buffer.alloc(MARK.length);
    readSync(file, mark, 0, mark.length, DATA_AT);
    return mark.equals(MARK);
  } finally {
    closeSync(file);
  }
}
