import { closeSync, openSync, readSync } from 'node:fs';

/** Counts how much a child has really read from its standard input, as the kernel records it. */
export interface Consumption {
  /** Frames since the last `begin`, in whole periods; null when the kernel does not record it. */
  frames(): number | null;
  /** The child has read all earlier writes: counting starts again here. */
  begin(): void;
  close(): void;
}

interface Account {
  readonly chars: number;
  readonly calls: number;
}

/**
 * Largest read that may be a wake-up of the sound library instead of sound (bytes). A read from an eventfd or a timer returns 8
 * bytes; one from the pipe of PulseAudio's own thread, at most 10.
 */
const LARGEST_WAKE_UP_BYTES = 10;
/** Tolerance (share of a period): a remainder this close to zero or to a whole period is rounded. */
const NEGLIGIBLE = 0.25;

/**
 * Reads `/proc/PID/io`. A playing child reads periods and its sound library's wake-ups, nothing else. Wake-ups are small and are
 * discarded at each look. One period too many is counted only if the wake-ups between two looks, seconds apart, add up to a period.
 * @returns null when the file is absent or unreadable
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
      // A partly read period and the wake-ups since the last look are left to the next look.
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
