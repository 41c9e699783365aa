import { existsSync, lstatSync, readFileSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Position of a control of one direction. */
export interface Knob {
  /** 0 is silence, `LOUDEST` is unchanged sound, each step is 1 dB. */
  readonly volume: number;
  readonly on: boolean;
}

/** Controls of a running direction: see PATH.control in `vcard.h`. */
export type ControlWord =
  | 'unplug'
  | 'stall'
  | `stall-at=${number}`
  | 'busy'
  | `xrun=${number}`
  | `speed=${number}`;

export interface CardEvent {
  /** Time by `process.hrtime`. */
  readonly atMs: number;
  readonly pid: number;
  readonly event:
    | 'open'
    | 'start'
    | 'xrun'
    | 'stall'
    | 'held'
    | 'stop'
    | 'close'
    | 'busy'
    | 'no-device'
    | 'cannot-write';
  /** Device frame; -1 if there is none. */
  readonly frame: number;
}

/** Relates a side's device frames to `process.hrtime`. */
export interface Epoch {
  readonly startMs: number;
  readonly framesPerMs: number;
  /** Time at which a device frame is captured or played. */
  atMs(frame: number): number;
}

export interface Side {
  /** Replaces the control words. Without words it runs normally. */
  control(...words: ControlWord[]): void;
  /** Changes its control; it must have one. */
  turn(knob: Partial<Knob>): void;
  /** Moves the plug at the jack of its card. */
  plug(isIn: boolean): void;
  /** Position of its control; null if it has none. */
  knob(): Knob | null;
  log(): Promise<CardEvent[]>;
  /** Large delays of the processes that had it open (ms). */
  lateMs(): number[];
  /** Time since the client's last call at that moment; infinite if no client had it open. */
  quietMs(atMs: number): number;
  /** @returns null before the first start */
  epoch(): Promise<Epoch | null>;
  /** First channel of the microphone's sound, or of all played sound with silence. */
  sound(): Promise<Int16Array>;
}

function replaceLink(path: string, text: string): void {
  symlinkSync(text, `${path}.draft`);
  renameSync(`${path}.draft`, path);
}

/** @returns null if there is no such link */
function readLink(path: string): string | null {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? null : readlinkSync(path);
}

/** One direction of a card. @param path common beginning of the paths of its files */
export function createSide(path: string, channels: number): Side {
  return {
    control(...words) {
      // The text of a link cannot be empty.
      replaceLink(`${path}.control`, words.length === 0 ? 'run' : words.join(' '));
    },
    turn({ volume, on }) {
      if (volume !== undefined) replaceLink(`${path}.volume`, `${volume} ${volume}`);
      if (on !== undefined) replaceLink(`${path}.switch`, on ? '1 1' : '0 0');
    },
    plug: (isIn) => replaceLink(`${path}.jack`, isIn ? '1' : '0'),
    knob() {
      const volume = readLink(`${path}.volume`);
      const on = readLink(`${path}.switch`);
      return volume === null || on === null
        ? null
        : { volume: Number.parseInt(volume, 10), on: Number.parseInt(on, 10) === 1 };
    },
    log: async () => eventsOf(await readText(`${path}.log`)),
    lateMs: () => linesOf(readNow(`${path}.late`).toString()).map((ns) => Number(ns) / 1e6),
    quietMs(atMs) {
      const opened = eventsOf(readNow(`${path}.log`).toString()).findLast(
        (one) => one.event === 'open' && one.atMs <= atMs,
      );
      const seen = opened === undefined ? Buffer.alloc(0) : readNow(`${path}.seen.${opened.pid}`);
      return seen.byteLength < 8 ? Number.POSITIVE_INFINITY : atMs - Number(seen.readBigInt64LE()) / 1e6;
    },
    async epoch() {
      const text = await readText(`${path}.epoch`);
      if (text === '') return null;
      const { ns, frames_per_s } = JSON.parse(text) as { ns: number; frames_per_s: number };
      const startMs = ns / 1e6;
      const framesPerMs = frames_per_s / 1000;
      return { startMs, framesPerMs, atMs: (frame) => startMs + frame / framesPerMs };
    },
    async sound() {
      const bytes = await readBytes(`${path}.pcm`);
      const samples = new Int16Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 2));
      return channels === 1 ? samples : samples.filter((_, at) => at % channels === 0);
    },
  };
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

function eventsOf(log: string): CardEvent[] {
  return linesOf(log).map((line) => {
    const [ns, pid, event, frame] = line.split(' ');
    return { atMs: Number(ns) / 1e6, pid: Number(pid), event, frame: Number(frame) } as CardEvent;
  });
}

function readNow(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

/** @returns empty bytes if the file does not exist yet */
async function readBytes(path: string): Promise<Uint8Array> {
  try {
    // Copies the bytes, because an Int16Array needs an even offset.
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Uint8Array(0);
    throw error;
  }
}

async function readText(path: string): Promise<string> {
  return Buffer.from(await readBytes(path)).toString('utf8');
}
