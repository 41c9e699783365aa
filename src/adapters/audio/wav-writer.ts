import { accessSync, closeSync, constants, openSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { BYTES_PER_SAMPLE } from '../../sound/pcm.ts';
import { AudioFaultError, describeFileProblem } from './fault.ts';
import { MOST_OWN_BYTES, OWN_HEADER_BYTES, ownHeader, refuseForeign } from './own-wav.ts';

/**
 * A mono 16-bit WAV file that grows at its end and is valid at any moment, even after a kill. At its maximum length it
 * continues at its beginning, over the oldest sound.
 */
export interface WavWriter {
  /**
   * Adds sound at the end of the timeline, then updates the sizes in the header, so that the header never promises too much.
   * The timeline goes on even when this fails. Sound that could not be written becomes silence once later sound can be.
   * A file that could not be created is tried again on the next call.
   * @throws AudioFaultError
   */
  append(pcm: Uint8Array): void;
  close(): void;
}

export interface WavWriterOptions {
  readonly rateHz: number;
  /** Replace a file of another program, too. */
  readonly overwrite?: boolean;
  /** Maximum length of the file (ms of sound). */
  readonly maxMs: number;
}

/** O_NONBLOCK: a named pipe without a reader would block the program otherwise. */
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK;

/** Makes a writer, and creates the file if possible. An older file of this program is replaced. */
export function createWavWriter(path: string, options: WavWriterOptions): WavWriter {
  const { rateHz, overwrite = false, maxMs } = options;
  const maxDataBytes = Math.min(MOST_OWN_BYTES, Math.floor((maxMs * rateHz) / 1000) * BYTES_PER_SAMPLE);
  let fd: number | null = null;
  let closed = false;
  /** Position at which the timeline continues, and size of the sound in the file (bytes). */
  let position = 0;
  let writtenBytes = 0;

  const writeHeader = (file: number): void => {
    const dataBytes = writtenBytes - (writtenBytes % 2);
    writeAt(file, ownHeader({ rateHz, dataBytes }), 0);
  };
  const open = (): number => {
    if (fd === null) {
      if (!overwrite) refuseForeign(path);
      fd = openSync(path, CREATE);
      writtenBytes = 0;
      writeHeader(fd);
    }
    return fd;
  };
  const grow = (pcm: Uint8Array, at: number): void => {
    const file = open();
    try {
      writeAt(file, pcm, OWN_HEADER_BYTES + at, (bytes) => {
        writtenBytes = Math.max(writtenBytes, at + bytes);
      });
    } finally {
      writeHeader(file);
    }
  };
  try {
    open();
  } catch {
    // Reported by the first append, if it still fails then.
  }

  return {
    append(pcm) {
      if (closed) return; // A late append must not create the file again.
      const at = position;
      position = (at + pcm.length) % maxDataBytes;
      try {
        for (let done = 0; done < pcm.length; ) {
          const place = (at + done) % maxDataBytes;
          const fits = pcm.subarray(done, done + maxDataBytes - place);
          grow(fits, place);
          done += fits.length;
        }
      } catch (error) {
        throw error instanceof AudioFaultError ? error : describeFileProblem(error, 'write', path);
      }
    },
    close() {
      if (fd !== null) closeSync(fd);
      fd = null;
      closed = true;
    },
  };
}

/** Writes the whole buffer; reports the progress after each step, because a full disk accepts only a part. */
function writeAt(fd: number, bytes: Uint8Array, at: number, progress?: (bytes: number) => void): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, at + done);
    progress?.(done);
  }
}

/**
 * Checks whether a file could be written there, without touching it. Null: it can probably be written.
 * @param overwrite a file of another program may be replaced
 */
export function checkWritable(path: string, overwrite = false): AudioFaultError | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) {
      accessSync(`${dirname(path)}/`, constants.W_OK | constants.X_OK);
    } else {
      accessSync(path, constants.W_OK);
      if (!overwrite) refuseForeign(path);
      if (stats.isDirectory()) throw Object.assign(new Error('folder'), { code: 'EISDIR' });
    }
  } catch (error) {
    return error instanceof AudioFaultError ? error : describeFileProblem(error, 'write', path);
  }
  return null;
}
