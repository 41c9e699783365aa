import { closeSync, openSync, readSync } from 'node:fs';

/** How much a child has really taken from its standard input, by the kernel's own account of it. */
export interface Consumption {
  /** Frames since the last `begin`, in whole periods; null where the kernel does not tell. */
  frames(): number | null;
  /** Everything that was written before has been taken: from here on it counts again. */
  begin(): void;
  close(): void;
}

interface Account {
  readonly chars: number;
  readonly calls: number;
}

/**
 * A sound library wakes up by reading an eventfd or a timer (8 bytes), or a pipe whose other end a thread of its own writes to
 * (PulseAudio's: 1 to 10 bytes, or none that are left): no call of those takes more.
 */
const LARGEST_WAKE_UP_BYTES = 10;
/** Of a period that is read in pieces: less than this share of it is not worth carrying over. */
const NEGLIGIBLE = 0.25;

/**
 * Reads `/proc/PID/io`: a child that plays reads periods and nothing else but the wake-ups of its sound library. Those are small,
 * and are forgotten at each look: only where they came to a whole period between two looks, seconds apart, one is counted too many.
 * @returns null where there is no such file, or it can't be read
 */
export function openConsumption(pid: number, periodFrames: number, frameBytes: number): Consumption | null {
  const periodBytes = periodFrames * frameBytes;
  let fd: number | null;
  try {
    fd = openSync(`/proc/${pid}/io`, 'r');
  } catch {
    return null;
  }
  const buffer = Buffer.alloc(512);
  const read = (): Account | null => {
    if (fd === null) return null;
    try {
      const text = buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0));
      const chars = /^rchar: (\d+)/m.exec(text)?.[1];
      const calls = /^syscr: (\d+)/m.exec(text)?.[1];
      return chars === undefined || calls === undefined
        ? null
        : { chars: Number(chars), calls: Number(calls) };
    } catch {
      return null;
    }
  };
  let base = read();
  let periods = 0;
  if (base === null) {
    closeSync(fd);
    return null;
  }
  return {
    frames() {
      const account = read();
      if (account === null || base === null) return null;
      const bytes = account.chars - base.chars;
      const whole = Math.floor(bytes / periodBytes);
      const rest = bytes - whole * periodBytes;
      const wakeUps = account.calls - base.calls - whole;
      const isSound = rest > wakeUps * LARGEST_WAKE_UP_BYTES && rest >= NEGLIGIBLE * periodBytes;
      const isAll = isSound && rest > (1 - NEGLIGIBLE) * periodBytes;
      periods += isAll ? whole + 1 : whole;
      // Of a period that has begun the next look sees all of it, and all that was read beside it.
      base = isSound && !isAll ? { chars: account.chars - rest, calls: account.calls - wakeUps } : account;
      return periods * periodFrames;
    },
    begin() {
      base = read();
      periods = 0;
    },
    close() {
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}
