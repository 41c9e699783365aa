import { FRAME_SAMPLES } from './band.ts';
import { createPitchFinder } from './pitch.ts';
import { createRichnessFinder } from './richness.ts';
import { createRoomLevels } from './room-levels.ts';

/** Number of frames judged together: 1.3 s, a few syllables. */
const WINDOW = 64;
/** Number of frames of the room to compare with: the 18.7 s before the judged frames. */
const ROOM_FRAMES = 936;
/** Minimum number of frames of the room (2 s); with fewer, the judged frames count as room too. */
const LEAST_ROOM_FRAMES = 100;
/** Level of silence (dB); differences below it mean nothing. */
const QUIETEST_DB = -85;
/** Distance from the room's floor (dB) from which a frame may belong to a voice. */
const STANDS_OUT_DB = 5;
/** Clarity from which a frame has a pitch. */
const CLEAR = 0.55;
const VERY_CLEAR = 0.75;
/** Richness of a voice; a few tones at a time have a poorer spectrum. */
const RICH = 2.5;
/** Change of a voice's pitch per frame (natural logarithm); the pitch of a tone moves less. */
const GLIDE = { least: 0.004, most: 0.06 } as const;
const STEADY = 0.003;
const CLEAREST_FRAMES = 16;
/** Level changes to ignore (dB): mains hum has them, because frames cut through its periods. */
const RIPPLE_DB = 1.5;
/** Number of level changes needed to judge their direction. */
const FEWEST_STEPS = 6;
/** Consecutive frames with a pitch that make a syllable. */
const LEAST_RUN = 3;

/** Measures that distinguish a speaker from the room, over the last 1.3 s. Shares are of all frames, levels in dB. */
export interface TalkMeasures {
  /** Level of loud frames above the room's floor. */
  readonly overFloor: number;
  /** Share of frames louder than nearly all frames of the room. */
  readonly over: number;
  /** Level of loud frames above the room's median. */
  readonly overMedian: number;
  /** Distance between quiet and loud frames. */
  readonly range: number;
  /** Level changes at the rate of syllables. */
  readonly syllables: number;
  readonly standing: number;
  /** Level changes from frame to frame among frames above the floor: a running machine holds its level. */
  readonly unrest: number;
  /** How much more often the level falls than rises: a struck object only dies away. */
  readonly falling: number;
  /** Share of frames with a pitch. `gliding`: the pitch moves as in speech; `steady`: it does not move. */
  readonly voiced: number;
  /** Frames with a pitch: `rich` ones have as many harmonics as a voice, `poor` ones have no more lines than a few tones. */
  readonly rich: number;
  readonly poor: number;
  readonly gliding: number;
  readonly steady: number;
  /** Frames in which the pitch changes direction: every other frame of a bell or a warbling tone. */
  readonly turning: number;
  /** Number of syllables: runs of three or more frames with a pitch. A ringtone is one run, however long. */
  readonly pieces: number;
  /** The longest run's share of all frames with a pitch. */
  readonly oneness: number;
  /** Share of frames with a pitch among frames above the floor: 1 for tones. */
  readonly allVoiced: number;
  readonly veryClear: number;
  /** Mean clarity of the clearest frames. */
  readonly clarity: number;
}

export interface TalkMeter {
  /** @param frame of the speech band */
  hear(frame: Float32Array): void;
  /** Null until enough was heard. */
  measure(): TalkMeasures | null;
  /** The usual level of the room in the speech band, dBFS. */
  readonly roomDb: number;
}

export function createTalkMeter(): TalkMeter {
  const pitches = createPitchFinder();
  const richness = createRichnessFinder();
  const room = createRoomLevels(ROOM_FRAMES);
  const levels = new Float32Array(WINDOW).fill(QUIETEST_DB);
  const clarities = new Float32Array(WINDOW);
  const periods = new Float32Array(WINDOW);
  const spectra = new Float32Array(WINDOW);
  const sorted = new Float32Array(WINDOW);
  const passBand = createPassBand();
  let heard = 0;
  let floorDb = QUIETEST_DB;

  const shift = (values: Float32Array, value: number): void => {
    values.copyWithin(0, 1);
    values[WINDOW - 1] = value;
  };
  const hear = (frame: Float32Array): void => {
    const level = Math.max(QUIETEST_DB, 10 * Math.log10(passBand(frame) + 1e-10));
    if (heard >= WINDOW) room.note(levels[0] ?? QUIETEST_DB);
    heard++;
    shift(levels, level);
    const { clarity, period } = pitches.hear(frame, level > floorDb + STANDS_OUT_DB);
    shift(clarities, clarity);
    const hasPitch = clarity > CLEAR;
    shift(periods, hasPitch ? period : 0);
    shift(spectra, richness.hear(frame, hasPitch));
  };
  const sort = (values: Float32Array): Float32Array => {
    sorted.set(values);
    return sorted.sort();
  };
  const measure = (): TalkMeasures | null => {
    if (heard < WINDOW) return null;
    const byLevel = sort(levels);
    const at = (share: number): number => byLevel[Math.floor(share * (WINDOW - 1))] ?? QUIETEST_DB;
    const isKnown = room.frames >= LEAST_ROOM_FRAMES;
    const below = (share: number): number => (isKnown ? room.below(share) : at(share));
    floorDb = Math.min(below(0.1), Math.max(at(0.1), below(0.02)));
    const loudRoom = below(0.95);
    const standing = share(levels, (level) => level > floorDb + STANDS_OUT_DB);
    const { unrest, falling } = steps(levels, floorDb + STANDS_OUT_DB);
    const { voiced, gliding, steady, turning, oneness, pieces } = pitchMeasures(periods);
    const overFloor = at(0.8) - floorDb;
    const overMedian = at(0.9) - below(0.5);
    const range = at(0.95) - at(0.2);
    // This overwrites the levels in `byLevel`.
    const byClarity = sort(clarities);
    let clarity = 0;
    for (let index = WINDOW - CLEAREST_FRAMES; index < WINDOW; index++) clarity += byClarity[index] ?? 0;
    return {
      overFloor,
      over: share(levels, (level) => level > loudRoom + 2),
      overMedian,
      range,
      syllables: syllables(levels),
      standing,
      unrest,
      falling,
      voiced,
      rich: share(spectra, (spectrum) => spectrum > RICH),
      poor: share(spectra, (spectrum) => spectrum > 0 && spectrum <= RICH),
      gliding,
      steady,
      turning,
      pieces,
      oneness,
      allVoiced: voiced / Math.max(FEWEST, standing),
      veryClear: share(clarities, (clarity) => clarity > VERY_CLEAR),
      clarity: clarity / CLEAREST_FRAMES,
    };
  };
  return {
    hear,
    measure,
    get roomDb() {
      return room.frames >= LEAST_ROOM_FRAMES ? room.below(0.5) : (sort(levels)[WINDOW / 2] ?? QUIETEST_DB);
    },
  };
}

function share(values: Float32Array, holds: (value: number) => boolean): number {
  let count = 0;
  // By index here and below: an iterator allocates an object for each value until the code is optimised, which takes minutes.
  for (let index = 0; index < values.length; index++) if (holds(values[index] as number)) count++;
  return count / values.length;
}

/** Level changes between neighbouring frames that are both above a level. */
function steps(levels: Float32Array, above: number): Pick<TalkMeasures, 'unrest' | 'falling'> {
  let [moved, fallen, count] = [0, 0, 0];
  for (let index = 1; index < levels.length; index++) {
    const before = levels[index - 1] as number;
    const level = levels[index] as number;
    if (Math.min(before, level) <= above) continue;
    moved += Math.max(0, Math.abs(level - before) - RIPPLE_DB);
    fallen += Math.sign(before - level);
    count++;
  }
  return { unrest: moved / Math.max(1, count), falling: fallen / Math.max(FEWEST_STEPS, count) };
}

type PitchMeasures = Pick<TalkMeasures, 'voiced' | 'gliding' | 'steady' | 'turning' | 'oneness' | 'pieces'>;

function pitchMeasures(periods: Float32Array): PitchMeasures {
  let [voiced, gliding, steady, turning, longest, pieces] = [0, 0, 0, 0, 0, 0];
  let [run, before, last] = [0, 0, 0];
  for (let index = 0; index < periods.length; index++) {
    const period = periods[index] as number;
    run = period > 0 ? run + 1 : 0;
    if (run > 0) voiced++;
    if (run === LEAST_RUN) pieces++;
    longest = Math.max(longest, run);
    const move = run > 1 ? Math.log(period / before) : 0;
    if (run > 1) {
      const size = Math.abs(move);
      if (size > GLIDE.least && size < GLIDE.most) gliding++;
      else if (size < STEADY) steady++;
      if (move * last < 0 && Math.min(size, Math.abs(last)) > GLIDE.least) turning++;
    }
    last = move;
    before = period;
  }
  const all = periods.length;
  return {
    voiced: voiced / all,
    gliding: gliding / all,
    steady: steady / all,
    turning: turning / all,
    oneness: Math.min(1, longest / Math.max(FEWEST * all, voiced)),
    pieces,
  };
}

/** Minimum share of frames from which another share is calculated. */
const FEWEST = 0.08;

/** Reach of two moving means (frames); their difference contains changes at 2 to 8 Hz. */
const FAST = 2;
const SLOW = 12;

/** Spread of the level changes that are faster than a breath and slower than a click (dB). */
function syllables(levels: Float32Array): number {
  let sum = 0;
  let squares = 0;
  const count = WINDOW - 2 * SLOW;
  for (let middle = SLOW; middle < WINDOW - SLOW; middle++) {
    const moved = meanAround(levels, middle, FAST) - meanAround(levels, middle, SLOW);
    sum += moved;
    squares += moved * moved;
  }
  return Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
}

function meanAround(values: Float32Array, middle: number, reach: number): number {
  let sum = 0;
  for (let index = middle - reach; index <= middle + reach; index++) sum += values[index] ?? 0;
  return sum / (2 * reach + 1);
}

/** Pass band of speech power at 8 kHz: a second-order high-pass at 300 Hz. */
const HIGH_PASS = { b: 0.84646, a1: -1.6692, a2: 0.71663 } as const;

/** Mean power of a frame in the pass band. */
function createPassBand(): (frame: Float32Array) => number {
  const memory = new Float64Array(4);
  return (frame) => {
    // Local for speed: each change of a number captured by a closure allocates an object.
    let x1 = memory[0] as number;
    let x2 = memory[1] as number;
    let y1 = memory[2] as number;
    let y2 = memory[3] as number;
    let power = 0;
    for (let at = 0; at < frame.length; at++) {
      const x = frame[at] as number;
      const y = HIGH_PASS.b * (x - 2 * x1 + x2) - HIGH_PASS.a1 * y1 - HIGH_PASS.a2 * y2;
      x2 = x1;
      x1 = x;
      y2 = y1;
      y1 = y;
      power += y * y;
    }
    memory[0] = x1;
    memory[1] = x2;
    memory[2] = y1;
    memory[3] = y2;
    return power / FRAME_SAMPLES;
  };
}
