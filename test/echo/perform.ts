import type { Place } from '../../src/ports/audio.ts';
import { beginCaptureClock, noteSamples } from '../../src/sound/capture-clock.ts';
import { toFloat, toPcm } from '../../src/sound/pcm.ts';
import { chance } from '../acoustics.ts';
import { createDice, type Dice } from '../sim/dice.ts';
import { RATE_HZ } from '../voices/recordings.ts';
import { boxResponse } from './box.ts';
import type { Cell } from './cell.ts';
import type { Told } from './echo-state.ts';
import { CHUNK_SAMPLES, createEchoLane } from './lane.ts';
import { createMicrophone, createZero } from './microphone.ts';
import { createConvolver, createDistortion, createRing, impulseResponse } from './room.ts';
import { createTalker, type Talker } from './talk.ts';

/** Speakers: each call returns one sentence at its recorded level. */
export interface Voices {
  loudspeaker(dice: Dice): Float32Array;
  visitor(dice: Dice): Float32Array;
}

/** Levels of speech during speech, and of the room (dBFS). */
export const PLAYED_DB = -22;
export const ROOM_DB = -65;
/** Peaks of speech above its level (dB). */
const PEAK_DB = 12;
/** Length of the blocks whose powers are recorded. */
export const BLOCK_SAMPLES = RATE_HZ / 100;
/** Samples that the microphone delivers or the loudspeaker gets at once. */
const PIECE = RATE_HZ / 50;
const PER_MS = RATE_HZ / 1000;
/** Pieces that are written together, and their lead. */
const SLICE_PIECES = 5;
const AHEAD_PIECES = 8;
const BEGAN_AT = 10_000;
/** Error of the devices' times (ms), which changes after each break and has jitter. */
const TOLD_LATE_MS = 7;
const WAVERS_MS = 3;
/** Largest error of the times after an underrun (ms), until the pace is known again. */
const BREAK_WRONG_MS = 40;
const BREAK_KNOWN_S = 0.7;
/** Share of late pieces on a busy machine. */
const LATE_SHARE = 0.3;
const PAUSE_S = { least: 0.4, most: 3 };
const VISITOR_PAUSE_S = { least: 0.3, most: 1 };

/** Sums over one block of 10 ms each. */
export interface Blocks {
  readonly heard: Float32Array;
  readonly room: Float32Array;
  readonly left: Float32Array;
  readonly visitor: Float32Array;
  /** Product of the remaining sound and the visitor's. */
  readonly both: Float32Array;
  /** 1: it would be sent while the loudspeaker plays. */
  readonly isOpen: Uint8Array;
}

/** First and last block of a sentence. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

export interface Performance {
  readonly cell: Cell;
  readonly blocks: Blocks;
  readonly said: readonly Span[];
  readonly visited: readonly Span[];
  /** Blocks with an underrun of the card. */
  readonly breaks: readonly number[];
  readonly told: readonly Told[];
  readonly beganAt: number;
  readonly driftPpm: number;
  /** Median computation time of the canceller for a second of sound while the loudspeaker plays. */
  readonly workMsPerS: number;
}

/** Plays one cell to a lane in virtual time. */
export async function perform(cell: Cell, voices: Voices, seed: number): Promise<Performance> {
  const dice = createDice(seed);
  const count = Math.ceil((cell.seconds * RATE_HZ) / BLOCK_SAMPLES);
  const make = () => new Float32Array(count);
  const blocks: Blocks = {
    heard: make(),
    room: make(),
    left: make(),
    visitor: make(),
    both: make(),
    isOpen: new Uint8Array(count),
  };
  const interpreter = createTalker({
    dice: dice.fork(),
    levelDb: PLAYED_DB,
    pauseS: PAUSE_S,
    from: RATE_HZ / 2,
    sentence: voices.loudspeaker,
  });
  const visitor = visitorOf(cell, voices, dice.fork());
  const visits = createRing(4);
  const off = cell.off ?? { from: 0, until: 0 };
  const zero = createZero();
  let chunks = 0;
  const lane = createEchoLane({
    isOff: (now) => now - BEGAN_AT >= off.from * 1000 && now - BEGAN_AT < off.until * 1000,
    chunk(pcm, isOpen, isCancelled) {
      // Cancelled sound is a block late.
      const begin = chunks++ * CHUNK_SAMPLES - (isCancelled ? BLOCK_SAMPLES : 0);
      const left = cell.microphone === undefined ? toFloat(pcm) : toFloat(pcm).map(zero);
      for (let index = 0; index < left.length; index++) {
        const block = Math.floor((begin + index) / BLOCK_SAMPLES);
        if (block < 0 || block >= count) continue;
        const sample = left[index] ?? 0;
        blocks.left[block] = (blocks.left[block] ?? 0) + sample * sample;
        blocks.both[block] = (blocks.both[block] ?? 0) + sample * visits.at(begin + index);
        blocks.isOpen[block] = isOpen ? 1 : 0;
      }
    },
  });
  const loudspeaker = createLoudspeaker(cell, interpreter, dice.fork(), lane.played);
  const wavering = dice.fork();
  const late = createLateness(cell.lateMs ?? 0, dice.fork());
  const microphone = createMicrophone(cell.microphone ?? {});
  const gain = 10 ** ((cell.microphone?.overdriveDb ?? 0) / 20);
  const noise = createHiss(seed + 1);
  const pieces = Math.floor((cell.seconds * RATE_HZ) / PIECE);
  for (let piece = 0; piece < pieces; piece++) {
    const begin = piece * PIECE;
    loudspeaker.goOn(begin + PIECE);
    const visiting = visitor?.next(PIECE) ?? new Float32Array(PIECE);
    visits.write(visiting);
    const heard = new Float32Array(PIECE);
    for (let index = 0; index < PIECE; index++) {
      const room = noise();
      const visit = visiting[index] ?? 0;
      const all = loudspeaker.echoAt(begin + index) + room + visit;
      heard[index] = microphone(all);
      const block = Math.floor((begin + index) / BLOCK_SAMPLES);
      blocks.room[block] = (blocks.room[block] ?? 0) + (room * gain) ** 2;
      blocks.visitor[block] = (blocks.visitor[block] ?? 0) + visit * visit;
      blocks.heard[block] = (blocks.heard[block] ?? 0) + all * all;
    }
    lane.captured(toPcm(heard), late(BEGAN_AT + (begin + PIECE) / PER_MS + wavering.between(0, 2)));
  }
  await lane.close();
  const visited = (visitor?.sentences ?? []).map(({ from, until }) => spanOf(from, until));
  return {
    cell,
    blocks,
    told: lane.told,
    beganAt: BEGAN_AT,
    driftPpm: lane.drift * 1e6,
    // The median, because on a busy machine some pieces wait for others.
    workMsPerS: ((lane.workMs.toSorted((a, b) => a - b)[lane.workMs.length >> 1] ?? 0) * RATE_HZ) / PIECE,
    breaks: loudspeaker.breaks(),
    said: loudspeaker.sentences().filter(({ until }) => until < count),
    visited: visited.map(({ from, until }) => ({ from, until: Math.min(until, count) })),
  };
}

const spanOf = (from: number, until: number): Span => ({
  from: Math.floor(from / BLOCK_SAMPLES),
  until: Math.ceil(until / BLOCK_SAMPLES),
});

/** Time at which a busy machine sees sound that was captured at a moment, through the agent's clock of the card. */
function createLateness(lateMs: number, dice: Dice): (at: number) => number {
  if (lateMs === 0) return (at) => at;
  let card = beginCaptureClock(RATE_HZ);
  let seenAt = 0;
  return (at) => {
    seenAt = Math.max(seenAt, at + (dice.chance(LATE_SHARE) ? dice.between(0, lateMs) : 0));
    card = noteSamples(card, PIECE, seenAt);
    return card.capturedAt;
  };
}

function visitorOf(cell: Cell, voices: Voices, dice: Dice): Talker | null {
  if (cell.visitorDb === undefined) return null;
  const leavesOut = dice.fork();
  return createTalker({
    dice,
    levelDb: PLAYED_DB + cell.gainDb + cell.visitorDb,
    pauseS: VISITOR_PAUSE_S,
    from: Math.round((cell.visitorFromS ?? 0) * RATE_HZ),
    isSilent: () => leavesOut.chance(cell.visitorPauses ?? 0),
    sentence: voices.visitor,
  });
}

function responseOf({ box, rt60S, gainDb }: Cell): Float32Array {
  return box === undefined ? impulseResponse(rt60S, gainDb, 17) : boxResponse(box, rt60S, gainDb);
}

function createHiss(seed: number): () => number {
  const next = chance(seed);
  const amplitude = 10 ** (ROOM_DB / 20) * Math.sqrt(3);
  return () => (next() * 2 - 1) * amplitude;
}

/** A period without a break of the device. */
interface Run {
  readonly number: number;
  /** Delay of the written sound against the count of samples, caused by inserted silence. */
  readonly begin: number;
  readonly heardFrom: number | null;
  /** Error of the reported times. */
  readonly late: number;
  readonly wrongMs: number;
  readonly wrongUntil: number;
}

/** The loudspeaker with its own clock, as a device that runs without a break except for underruns. */
function createLoudspeaker(
  cell: Cell,
  interpreter: Talker,
  dice: Dice,
  tell: (pcm: Uint8Array, heardAt: number, goesOn: boolean, place: Place) => void,
) {
  const { delayMs, gainDb, rt60S, change } = cell;
  const peak = 10 ** ((PLAYED_DB + PEAK_DB) / 20);
  const clockRatio = 1 + cell.ppm * 1e-6;
  const distort = createDistortion({ overtones: cell.distortion ?? 0, lopsided: cell.lopsided ?? 0 }, peak);
  const before = {
    delayMs,
    room: createConvolver(responseOf(cell), PIECE),
    sound: createRing(4),
  };
  const changedResponse =
    change && impulseResponse(rt60S, gainDb + change.gainDb, change.otherRoom ? 23 : 17);
  const after = changedResponse && {
    delayMs: delayMs + (change?.delayMs ?? 0),
    room: createConvolver(changedResponse, PIECE),
    sound: createRing(4),
  };
  const changesAt = (change?.atS ?? Number.POSITIVE_INFINITY) * RATE_HZ;
  /** Played samples; reported samples of the interpreter; pieces that are reported but not played yet. */
  let end = 0;
  let told = 0;
  const waiting: Float32Array[] = [];
  const inserted: { readonly at: number; readonly by: number }[] = [{ at: 0, by: 0 }];
  let run: Run = {
    number: 1,
    begin: 0,
    heardFrom: null,
    late: dice.between(0, TOLD_LATE_MS),
    wrongMs: 0,
    wrongUntil: 0,
  };
  let toldSound = -1;
  let dryAt = (cell.dryEveryS ?? Number.POSITIVE_INFINITY) * RATE_HZ;

  const sound = (piece: Float32Array): void => {
    const distorted = piece.map(distort);
    before.sound.write(before.room.step(distorted));
    after?.sound.write(after.room.step(distorted));
    end += piece.length;
  };
  /** Reports a slice; silence between sounds is played, but not reported. */
  const tellSlice = (): void => {
    const all = new Float32Array(SLICE_PIECES * PIECE);
    for (let index = 0; index < SLICE_PIECES; index++) {
      const piece = interpreter.next(PIECE);
      waiting.push(piece);
      all.set(piece, index * PIECE);
    }
    const begin = told;
    told += all.length;
    if (!all.some((sample) => sample !== 0)) return;
    const late = run.late + (end < run.wrongUntil ? run.wrongMs : 0) + dice.between(-WAVERS_MS, WAVERS_MS);
    const heardAt = BEGAN_AT + (run.begin + begin) / (PER_MS * clockRatio) + late;
    tell(toPcm(all), heardAt, toldSound === begin, {
      run: run.number,
      sample: begin,
      heardFrom: run.heardFrom,
    });
    toldSound = told;
  };
  const runDry = (): void => {
    const pieces = dice.whole(2, 12);
    for (let count = 0; count < pieces; count++) sound(new Float32Array(PIECE));
    const heardFrom = told - waiting.length * PIECE;
    inserted.push({ at: heardFrom, by: pieces * PIECE });
    run = {
      number: run.number + 1,
      begin: run.begin + pieces * PIECE,
      late: dice.between(0, TOLD_LATE_MS),
      heardFrom: heardFrom + Math.round(dice.between(-1, 1) * BREAK_WRONG_MS * PER_MS),
      wrongMs: dice.between(-1, 1) * BREAK_WRONG_MS,
      wrongUntil: end + BREAK_KNOWN_S * RATE_HZ,
    };
    dryAt += (cell.dryEveryS ?? 0) * RATE_HZ;
  };
  /** Time at which a sample of the interpreter is heard, in samples of the microphone. */
  const heard = (at: number): number => {
    const silent = inserted.reduce((sum, one) => (one.at <= at ? sum + one.by : sum), 0);
    return (at + silent) / clockRatio + delayMs * PER_MS;
  };
  return {
    /** Writes the sound up to this sample of the microphone. */
    goOn(until: number): void {
      while (end < until * clockRatio) {
        if (end >= dryAt) runDry();
        while (waiting.length < AHEAD_PIECES) tellSlice();
        sound(waiting.shift() ?? new Float32Array(PIECE));
      }
    },
    echoAt(sample: number): number {
      const path = sample >= changesAt && after !== undefined ? after : before;
      return path.sound.at(sample * clockRatio - path.delayMs * PER_MS);
    },
    breaks: () => inserted.slice(1).map(({ at }) => Math.floor(heard(at) / BLOCK_SAMPLES)),
    sentences(): Span[] {
      return interpreter.sentences.map(({ from, until }) => spanOf(heard(from), heard(until)));
    },
  };
}
