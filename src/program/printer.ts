import { fstatSync, writeSync } from 'node:fs';
import { systemCode, systemReason } from '../adapters/system-error.ts';

/** The part of standard output that printing needs. */
export interface OutputStream {
  readonly fd: number;
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** Error code of a closed pipe (`dragoman check-config | head`): the reader wants no more, so this is not a failure. */
const READER_IS_GONE = 'EPIPE';

/**
 * Prints to a stream and ignores failures, so that a long-running program continues.
 * @param onCut called once when output is incomplete, with the reason in words
 */
export function createPrinter(stream: OutputStream, onCut: (why: string) => void): (text: string) => void {
  let hasFailed = false;
  const done = (error?: unknown): void => {
    if (!error || hasFailed) return;
    hasFailed = true;
    if (systemCode(error) !== READER_IS_GONE) onCut(systemReason(error));
  };
  const isFile = fstatSync(stream.fd).isFile();
  return (text) => {
    if (!isFile) return void stream.write(text, done);
    try {
      writeWhole(stream.fd, text);
    } catch (error) {
      done(error);
    }
  };
}

/** Writes the whole text. An almost full disk accepts a part without an error, and Node does not check the length. */
function writeWhole(fd: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
}
