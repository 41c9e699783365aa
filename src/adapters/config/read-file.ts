import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { systemCode, systemReason } from '../system-error.ts';
import { encodingOf, SAVE_AS_UTF8 } from './encoding.ts';

const LINE_BREAK = 0x0a;
/** Largest configuration file, certificate or the like (bytes); hand-written ones have a few kilobytes. */
export const LARGEST_CONFIG_BYTES = 1_000_000;

/** Why a file cannot be read, as the end of a sentence that begins with its name. */
export class UnreadableFile extends Error {
  /** The system's error code, such as ENOENT; null when the file exists but is of the wrong kind. */
  readonly code: string | null;
  constructor(reason: string, code: string | null) {
    super(reason);
    this.code = code;
  }
}

/** O_NONBLOCK: opening a named pipe without a writer would block the program otherwise. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

export interface FileContent {
  readonly bytes: Buffer;
  /** Permissions of the very file that was read. */
  readonly mode: number;
}

/**
 * Reads a regular file of limited size. A device or a named pipe might never end, or might block the program.
 * @throws UnreadableFile
 */
export function readBoundedFile(file: string, limitBytes: number): FileContent {
  try {
    const fd = openSync(file, READ);
    try {
      const stats = fstatSync(fd);
      if (stats.isDirectory()) throw Object.assign(new Error('folder'), { code: 'EISDIR' });
      if (!stats.isFile()) throw new UnreadableFile('it is not a regular file', null);
      return { bytes: readAll(fd, limitBytes), mode: stats.mode };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(systemReason(error), systemCode(error) ?? 'unknown reason');
  }
}

/** Does not use the file's size: it may grow meanwhile, and files in /proc report none. */
function readAll(fd: number, limitBytes: number): Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  for (;;) {
    const part = Buffer.allocUnsafe(65_536);
    const count = readSync(fd, part);
    if (count === 0) return Buffer.concat(parts, size);
    size += count;
    if (size > limitBytes) throw new UnreadableFile(`it is larger than ${nameSize(limitBytes)}`, null);
    parts.push(part.subarray(0, count));
  }
}

function nameSize(bytes: number): string {
  return bytes >= 1_000_000 ? `${bytes / 1_000_000} MB` : `${bytes / 1000} kB`;
}

/**
 * Reads a configuration in UTF-8, with or without a byte order mark. Any other encoding would silently produce wrong names.
 * @throws UnreadableFile
 */
export function readConfigText(file: string): string {
  const { bytes } = readBoundedFile(file, LARGEST_CONFIG_BYTES);
  if (encodingOf(bytes) !== 'utf-8') throw new UnreadableFile(`it is UTF-16. ${SAVE_AS_UTF8}`, null);
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const what = `its line ${firstForeignLine(bytes)} holds letters in another encoding than UTF-8`;
  throw new UnreadableFile(`${what}. ${SAVE_AS_UTF8}`, null);
}

/** Splits at line breaks, which never occur within a UTF-8 letter. */
function firstForeignLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(LINE_BREAK, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
