import type { Box } from './box.ts';
import type { MicrophoneFaults } from './microphone.ts';

/** One case for the canceller: an echo path, its changes, and the speakers. */
export interface Cell {
  readonly name: string;
  /** Delay from the loudspeaker to the microphone. */
  readonly delayMs: number;
  /** Level of the whole echo relative to the played sound. */
  readonly gainDb: number;
  readonly rt60S: number;
  /** Difference of the loudspeaker's clock to the microphone's; positive if faster. */
  readonly ppm: number;
  readonly seconds: number;
  /** Share of overtones at the peaks of speech. */
  readonly distortion?: number;
  /** Share of even overtones of an asymmetric loudspeaker. */
  readonly lopsided?: number;
  /** A room with walls instead of a tail of noise. */
  readonly box?: Box;
  readonly microphone?: MicrophoneFaults;
  /** Delay with which captured sound sometimes arrives. */
  readonly lateMs?: number;
  /** Most echo that may pass an open gate (s). If set, sentences are not judged. */
  readonly heardS?: number;
  /** A change of the path that the agent does not know. */
  readonly change?: {
    readonly atS: number;
    readonly gainDb: number;
    readonly delayMs: number;
    readonly otherRoom: boolean;
  };
  /** Time between two underruns of the card (s). */
  readonly dryEveryS?: number;
  /** Time in which the canceller is off without the agent's knowledge (s). */
  readonly off?: { readonly from: number; readonly until: number };
  /** Level of a visitor who talks over it, relative to the echo. */
  readonly visitorDb?: number;
  /** Time before which the visitor is silent (s), and the share of sentences that the visitor leaves out. */
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
      name: `${delayMs} ms, ${gainDb} dB, ${ppm} ppm`,
      delayMs,
      gainDb,
      ppm,
      rt60S: RT60_S,
      seconds: SECONDS,
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
    name: `visitor ${visitorDb} dB, ${delayMs} ms, ${ppm} ppm`,
    delayMs,
    ppm,
    gainDb: -12,
    visitorDb,
    rt60S: RT60_S,
    seconds: 60,
    visitorFromS: 15,
  })),
);

export const SECRET_CELL: Cell = {
  ...USUAL,
  name: 'off in secret',
  seconds: 900,
  off: { from: 60, until: 200 },
};

/** A shorter variant, long enough for one trial. */
const SHORT_SECRET_CELL: Cell = {
  ...SECRET_CELL,
  name: `${SECRET_CELL.name}, for a moment`,
  seconds: 500,
  off: { from: 30, until: 60 },
};

export const HOUR_CELL: Cell = {
  name: 'an hour',
  delayMs: 100,
  gainDb: -12,
  rt60S: RT60_S,
  ppm: 300,
  seconds: 3600,
  visitorDb: 0,
  visitorFromS: 30,
  visitorPauses: 0.7,
};

const MICROPHONE = { ...USUAL, ppm: 100, seconds: 60, heardS: 1 } as const;

/** Cells with imperfect microphones. They come last, because the speech in a cell depends on its number. */
export const MICROPHONE_CELLS: readonly Cell[] = [
  { ...MICROPHONE, name: 'microphone clips, +14 dB', microphone: { overdriveDb: 20 } },
  { ...MICROPHONE, name: 'zero 6 % off', microphone: { zeroAt: 0.06 } },
];

/** Cells for a quick run: a long path, changes, a visitor, a fallback and its end. */
export const SHORT_CELLS: readonly Cell[] = [
  ...ECHO_CELLS.filter(({ name }) => name === '300 ms, -12 dB, 300 ppm'),
  ...CHANGING_CELLS,
  ...VISITOR_CELLS.filter(({ name }) => name === 'visitor 0 dB, 100 ms, 300 ppm'),
  SHORT_SECRET_CELL,
];
