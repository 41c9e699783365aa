import { fstatSync, writeSync } from 'node:fs';
import { systemCode } from '../adapters/system-error.ts';

/** What of standard output printing needs. */
export interface OutputStream {
  readonly fd: number;
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** A reader that went away (`dragoman check-config | head`) has seen what it wanted. */
const READER_IS_GONE = 'EPIPE';

/**
 * Prints to a stream, and goes on where that fails: what runs for long is not ended by it.
 * @param onCut told once, with the system's name for why, that what is printed is not whole
 */
export function createPrinter(stream: OutputStream, onCut: (why: string) => void): (text: string) => void {
  let hasFailed = false;
  const done = (error?: unknown): void => {
    if (!error || hasFailed) return;
    hasFailed = true;
    const why = systemCode(error) ?? 'unknown reason';
    if (why !== READER_IS_GONE) onCut(why);
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

/** A disk that has room for a part takes that, which is no error; and Node does not look how much it was. */
function writeWhole(fd: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
}
