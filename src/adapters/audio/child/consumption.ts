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

/** Timers and wake-ups of sound libraries (an eventfd, a timerfd) are read in pieces of this many bytes. */
const WAKE_UP_BYTES = 8;
/**
 * A period that was read in several pieces has more calls, which look like wake-ups. Less than this share of a period is that,
 * and must not add up: a device that runs on for hours would seem to lag, and then be believed no more.
 */
const NEGLIGIBLE = 0.25;

/**
 * Reads `/proc/PID/io`: a child that plays reads whole periods and nothing else but the wake-ups of its sound library,
 * which the number of calls gives away.
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
  /** Of a period that is being read. */
  let begun = 0;
  if (base === null) {
    closeSync(fd);
    return null;
  }
  return {
    frames() {
      const account = read();
      if (account === null || base === null) return null;
      const chars = account.chars - base.chars;
      const calls = account.calls - base.calls;
      // chars = periods * periodBytes + wakeUps * 8; calls = periods + wakeUps.
      const more = begun + (chars - WAKE_UP_BYTES * calls) / (periodBytes - WAKE_UP_BYTES);
      const whole = Math.round(more);
      begun = Math.abs(more - whole) < NEGLIGIBLE ? 0 : more - whole;
      periods += whole;
      base = account;
      return Math.max(0, periods) * periodFrames;
    },
    begin() {
      base = read();
      periods = begun = 0;
    },
    close() {
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}
