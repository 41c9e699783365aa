import { accessSync, closeSync, constants, openSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { AudioFaultError, describeFileProblem } from './fault.ts';
import { HEADER_BYTES, MAX_DATA_BYTES, makeHeader } from './wav.ts';

/** A mono 16-bit WAV file that grows at its end and is valid at any moment, also after a kill. */
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
  /** Sound after this is not written; the default is what a WAV can hold, 4 GB. */
  readonly maxDataBytes?: number;
}

/** O_NONBLOCK: a named pipe without a reader would block the program otherwise. */
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK;

/** Makes a writer, and creates the file if possible. An older file of that name is replaced. */
export function createWavWriter(path: string, options: WavWriterOptions): WavWriter {
  const { rateHz, maxDataBytes = MAX_DATA_BYTES } = options;
  let fd: number | null = null;
  let closed = false;
  /** Length of the timeline, and of the part of it that the file holds. */
  let position = 0;
  let writtenBytes = 0;

  const writeHeader = (file: number): void => {
    const dataBytes = writtenBytes - (writtenBytes % 2);
    writeAt(file, makeHeader({ rateHz, dataBytes }), 0);
  };
  const open = (): number => {
    if (fd === null) {
      fd = openSync(path, CREATE);
      writtenBytes = 0;
      writeHeader(fd);
    }
    return fd;
  };
  const grow = (pcm: Uint8Array, at: number): void => {
    const file = open();
    try {
      writeAt(file, pcm, HEADER_BYTES + at, (bytes) => {
        writtenBytes = at + bytes;
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
      if (closed) return; // It must not create the file again.
      const room = Math.max(0, maxDataBytes - position);
      const fits = pcm.subarray(0, room);
      const at = position;
      position += fits.length;
      try {
        if (fits.length > 0) grow(fits, at);
      } catch (error) {
        throw describeFileProblem(error, 'write', path);
      }
      if (fits.length < pcm.length) throw fullError(path, maxDataBytes, rateHz);
    },
    close() {
      if (fd !== null) closeSync(fd);
      fd = null;
      closed = true;
    },
  };
}

function fullError(path: string, maxDataBytes: number, rateHz: number): AudioFaultError {
  const hours = (maxDataBytes / 2 / rateHz / 3600).toFixed(1);
  const message = `${path} has reached the ${hours} h that a WAV file can hold; further sound is not kept: start a new file`;
  return new AudioFaultError('failed', message);
}

/** Writes all of it; reports the progress after each step, because a full disk accepts only a part. */
function writeAt(fd: number, bytes: Uint8Array, at: number, progress?: (bytes: number) => void): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, at + done);
    progress?.(done);
  }
}

/** Checks whether a file could be written there, without touching it. Null: no obstacle found. */
export function checkWritable(path: string): AudioFaultError | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) {
      accessSync(`${dirname(path)}/`, constants.W_OK | constants.X_OK);
    } else {
      accessSync(path, constants.W_OK);
      if (stats.isDirectory()) throw Object.assign(new Error('folder'), { code: 'EISDIR' });
    }
  } catch (error) {
    return describeFileProblem(error, 'write', path);
  }
  return null;
}
