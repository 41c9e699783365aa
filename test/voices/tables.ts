import {
  type Mix,
  type NoiseResult,
  type OtherResult,
  SNRS_DB,
  type UtteranceResult,
  VARIANTS,
} from './draws.ts';
import { KINDS, type Kind, LEVELS_DB } from './noises.ts';
import { OTHERS } from './others.ts';
import { SPEAKERS } from './recordings.ts';

/** What one job has measured. */
export type Answer =
  | { readonly what: 'utterances'; readonly results: readonly UtteranceResult[] }
  | { readonly what: 'noise'; readonly result: NoiseResult }
  | { readonly what: 'mix'; readonly result: { readonly mix: Mix; readonly ratio: number } }
  | { readonly what: 'other'; readonly result: OtherResult };

/** Limits of standby in each kind of room. */
const GOALS: Readonly<Record<Kind, { readonly wakes?: number; readonly open: number }>> = {
  fan: { wakes: 2, open: 0.03 },
  hum: { wakes: 2, open: 0.03 },
  brown: { wakes: 2, open: 0.03 },
  pink: { wakes: 2, open: 0.03 },
  slams: { wakes: 2, open: 0.03 },
  steps: { wakes: 2, open: 0.03 },
  keys: { wakes: 2, open: 0.03 },
  phones: { wakes: 2, open: 0.03 },
  music: { open: 0.15 },
  babble: { open: 0.1 },
};

const HOUR_MS = 3_600_000;

interface NoiseRow {
  readonly kind: Kind;
  readonly perHour: number;
  readonly open: number;
  readonly byShift: readonly { readonly shiftDb: number; readonly perHour: number; readonly open: number }[];
  readonly isTold: boolean;
}

export interface Summary {
  readonly utterances: readonly UtteranceResult[];
  readonly noises: readonly NoiseRow[];
  readonly figures: {
    readonly utterances: number;
    readonly whole: number;
    readonly false_wakes_per_hour: Readonly<Record<string, number>>;
    readonly open_share: Readonly<Record<string, number>>;
    readonly billed_to_speech: Readonly<Record<string, number>>;
  };
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));

export function summarise(answers: readonly Answer[]): Summary {
  const utterances = answers.flatMap((answer) => (answer.what === 'utterances' ? answer.results : []));
  const noises = KINDS.flatMap((kind) =>
    answers.flatMap((answer): NoiseRow[] => {
      if (answer.what !== 'noise' || answer.result.kind !== kind) return [];
      const { byShift, isTold } = answer.result;
      const sum = (of: 'ms' | 'openMs' | 'wakes'): number =>
        byShift.reduce((total, part) => total + part[of], 0);
      return [
        {
          kind,
          isTold,
          perHour: (sum('wakes') * HOUR_MS) / sum('ms'),
          open: sum('openMs') / sum('ms'),
          byShift: byShift.map(({ shiftDb, ms, openMs, wakes }) => ({
            shiftDb,
            perHour: ms === 0 ? 0 : (wakes * HOUR_MS) / ms,
            open: ms === 0 ? 0 : openMs / ms,
          })),
        },
      ];
    }),
  );
  const mixes = answers.flatMap((answer) => (answer.what === 'mix' ? [answer.result] : []));
  return {
    utterances,
    noises,
    figures: {
      utterances: utterances.length,
      whole: utterances.filter(isWhole).length,
      false_wakes_per_hour: Object.fromEntries(noises.map(({ kind, perHour }) => [kind, round(perHour, 2)])),
      open_share: Object.fromEntries(noises.map(({ kind, open }) => [kind, round(open, 4)])),
      billed_to_speech: Object.fromEntries(mixes.map(({ mix, ratio }) => [mix, round(ratio, 2)])),
    },
  };
}

/** Whether the whole utterance reached the service. */
function isWhole({ lostMs }: UtteranceResult): boolean {
  return lostMs === 0;
}

/** Tolerance on the goals: share of utterances, false wakes an hour, factor on the open share. */
export interface Tolerance {
  readonly broken: number;
  readonly wakes: number;
  readonly open: number;
}

export const NO_TOLERANCE: Tolerance = { broken: 0, wakes: 0, open: 1 };
/** Tolerance for a quarter of an hour of each kind, in which one false wake counts as four an hour. */
export const TOLERANCE: Tolerance = { broken: 0.02, wakes: 12, open: 2 };

export function misses({ utterances, noises }: Summary, tolerance: Tolerance): string[] {
  const broken = utterances.filter((one) => !isWhole(one)).length;
  const words =
    broken <= tolerance.broken * utterances.length
      ? []
      : [`${broken} of ${utterances.length} utterances did not arrive whole`];
  const rooms = noises.flatMap(({ kind, perHour, open }) => {
    const { wakes = Number.POSITIVE_INFINITY, open: most } = GOALS[kind];
    return [
      ...(perHour <= wakes + tolerance.wakes
        ? []
        : [`${kind}: ${perHour.toFixed(1)} false wakes an hour, at most ${wakes}`]),
      ...(open <= most * tolerance.open
        ? []
        : [`${kind}: open ${percent(open)} of the time, at most ${percent(most)}`]),
    ];
  });
  return [...words, ...rooms];
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function line(cells: readonly string[]): string {
  return `${cells.map((cell, index) => (index === 0 ? cell.padEnd(16) : cell.padStart(13))).join('')}\n`;
}

export function printTables(summary: Summary, isListed: boolean): string {
  return `${wordsTable(summary.utterances, isListed)}\n${noiseTable(summary)}`;
}

function wordsTable(utterances: readonly UtteranceResult[], isListed: boolean): string {
  const cell = (some: readonly UtteranceResult[]): string =>
    some.length === 0 ? '-' : `${some.filter(isWhole).length}/${some.length}`;
  let text = 'Utterances that arrived whole\n';
  text += line(['', ...SNRS_DB.map((snr) => `SNR ${snr} dB`), 'wake, median', '99 %']);
  const row = (name: string, some: readonly UtteranceResult[]): string => {
    const delays = some.flatMap(({ delayMs }) => (delayMs === null ? [] : [delayMs])).sort((a, b) => a - b);
    const at = (share: number): string =>
      `${((delays[Math.floor(share * (delays.length - 1))] ?? 0) / 1000).toFixed(2)} s`;
    const bySnr = SNRS_DB.map((snr) => cell(some.filter(({ snrDb }) => snrDb === snr)));
    return line([name, ...bySnr, at(0.5), at(0.99)]);
  };
  for (const variant of VARIANTS)
    text += row(
      variant,
      utterances.filter((one) => one.variant === variant),
    );
  const isTuned = ({ speaker }: UtteranceResult): boolean => SPEAKERS[speaker].tuned;
  text += row('tuned on', utterances.filter(isTuned));
  text += row(
    'others',
    utterances.filter((one) => !isTuned(one)),
  );
  for (const one of isListed ? utterances.filter((each) => !isWhole(each)) : []) {
    const { path, variant, snrDb, levelDb, noise, lostMs, lostBeginMs } = one;
    text += `  ${lostMs} ms lost, ${lostBeginMs} at its begin: ${variant}, ${levelDb} dBFS, ${snrDb} dB over ${noise}: ${path}\n`;
  }
  return text;
}

function noiseTable({ noises, figures }: Summary): string {
  let text =
    'Noise: false wakes an hour, and the share of time with a stream open (level as named, 6 dB lower, 6 dB higher)\n';
  text += line(['', 'level', 'wakes/h', 'open', '0 dB', '-6 dB', '+6 dB', 'told']);
  for (const { kind, perHour, open, byShift, isTold } of noises) {
    const shifts = byShift.map((part) => `${part.perHour.toFixed(0)}/h ${percent(part.open)}`);
    const cells = [`${LEVELS_DB[kind]} dBFS`, perHour.toFixed(1), percent(open), ...shifts];
    text += line([kind, ...cells, isTold ? 'yes' : 'no']);
  }
  const mixes = Object.entries(figures.billed_to_speech).map(([mix, ratio]) => `${mix} ${ratio}`);
  return `${text}Seconds of stream for each second from the first word to the last: ${mixes.join(', ')}\n`;
}

/** Prints how often unknown sounds wake a lane in a quiet room. */
export function printOthers(answers: readonly Answer[]): string {
  const rows = answers.flatMap((answer) => (answer.what === 'other' ? [answer.result] : []));
  const lines = Object.entries(OTHERS).flatMap(([name, { levelDb, isVisitor }]) =>
    rows
      .filter((row) => row.name === name)
      .map(({ woke, times }) =>
        line([name, `${levelDb} dBFS`, `${woke} of ${times}`, isVisitor ? 'a visitor' : '']),
      ),
  );
  return `Wakes of a lane in standby, by one sound in a quiet room\n${lines.join('')}`;
}
