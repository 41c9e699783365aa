import type { Box } from './box.ts';
import type { MicrophoneFaults } from './microphone.ts';

/** One case for the canceller: a path, what becomes of it, and who speaks. */
export interface Cell {
  readonly name: string;
  /** From the loudspeaker to the microphone. */
  readonly delayMs: number;
  /** All of the echo against what is played. */
  readonly gainDb: number;
  readonly rt60S: number;
  /** By so much the loudspeaker's clock is faster than the microphone's. */
  readonly ppm: number;
  readonly seconds: number;
  /** Share of overtones at the peaks of speech. */
  readonly distortion?: number;
  /** The same of a loudspeaker that goes farther to one side than to the other. */
  readonly lopsided?: number;
  /** Walls in place of a tail of noise. */
  readonly box?: Box;
  readonly microphone?: MicrophoneFaults;
  /** Sound comes from the microphone so much later than it was captured, now and then. */
  readonly lateMs?: number;
  /** At most so much echo gets through an open gate, seconds; where this is said, sentences are not judged. */
  readonly heardS?: number;
  /** What happens behind the agent's back. */
  readonly change?: {
    readonly atS: number;
    readonly gainDb: number;
    readonly delayMs: number;
    readonly otherRoom: boolean;
  };
  /** How often the card runs dry, seconds. */
  readonly dryEveryS?: number;
  /** The canceller does nothing meanwhile, and nobody is told; seconds. */
  readonly off?: { readonly from: number; readonly until: number };
  /** Level of a visitor who talks over it against the echo. */
  readonly visitorDb?: number;
  /** The visitor says nothing before, seconds; and how many of their sentences they leave out. */
  readonly visitorFromS?: number;
  readonly visitorPauses?: number;
}

const PATHS = [20, 100, 300] as const;
const GAINS_DB = [0, -12, -20] as const;
const RT60_S = 0.4;
const SECONDS = 48;
const USUAL = { delayMs: 100, gainDb: -6, rt60S: RT60_S, ppm: 100, seconds: SECONDS } as const;

export const ECHO_CELLS: readonly Cell[] = PATHS.flatMap((delayMs) =>
  GAINS_DB.flatMap((gainDb) =>
    [0, 300].map((ppm) => ({
      ...{ name: `${delayMs} ms, ${gainDb} dB, ${ppm} ppm`, delayMs, gainDb, ppm },
      ...{ rt60S: RT60_S, seconds: SECONDS },
    })),
  ),
);

const CHANGE = { atS: 22, gainDb: 0, delayMs: 0, otherRoom: false } as const;

export const CHANGING_CELLS: readonly Cell[] = [
  { ...USUAL, name: 'distortion 5 %', distortion: 0.05 },
  { ...USUAL, name: 'volume +6 dB', change: { ...CHANGE, gainDb: 6 } },
  { ...USUAL, name: 'volume -6 dB', change: { ...CHANGE, gainDb: -6 } },
  {
    ...USUAL,
    name: 'microphone moved',
    change: { ...CHANGE, gainDb: 3, delayMs: 2, otherRoom: true },
  },
  { ...USUAL, name: 'card runs dry', dryEveryS: 15 },
];

export const VISITORS_DB = [6, 0, -6, -10] as const;
export const VISITOR_CELLS: readonly Cell[] = VISITORS_DB.flatMap((visitorDb) =>
  (
    [
      [20, 0],
      [100, 300],
      [300, -300],
    ] as const
  ).map(([delayMs, ppm]) => ({
    ...{ name: `visitor ${visitorDb} dB, ${delayMs} ms, ${ppm} ppm`, delayMs, ppm, gainDb: -12, visitorDb },
    ...{ rt60S: RT60_S, seconds: 60, visitorFromS: 15 },
  })),
);

export const SECRET_CELL: Cell = {
  ...USUAL,
  name: 'off in secret',
  seconds: 900,
  off: { from: 60, until: 200 },
};

/** Long enough for one trial. */
const SHORT_SECRET_CELL: Cell = {
  ...SECRET_CELL,
  name: `${SECRET_CELL.name}, for a moment`,
  seconds: 500,
  off: { from: 30, until: 60 },
};

export const HOUR_CELL: Cell = {
  ...{ name: 'an hour', delayMs: 100, gainDb: -12, rt60S: RT60_S, ppm: 300, seconds: 3600 },
  ...{ visitorDb: 0, visitorFromS: 30, visitorPauses: 0.7 },
};

const MICROPHONE = { ...USUAL, ppm: 100, seconds: 60, heardS: 1 } as const;

/** Microphones that add something of their own. Behind all others: what is said in a cell goes by its number. */
export const MICROPHONE_CELLS: readonly Cell[] = [
  { ...MICROPHONE, name: 'microphone clips, +14 dB', microphone: { overdriveDb: 20 } },
  { ...MICROPHONE, name: 'zero 6 % off', microphone: { zeroAt: 0.06 } },
];

/** For each change to the program: a far path, all that changes, a visitor, a fallback and its end. */
export const SHORT_CELLS: readonly Cell[] = [
  ...ECHO_CELLS.filter(({ name }) => name === '300 ms, -12 dB, 300 ppm'),
  ...CHANGING_CELLS,
  ...VISITOR_CELLS.filter(({ name }) => name === 'visitor 0 dB, 100 ms, 300 ppm'),
  SHORT_SECRET_CELL,
];
