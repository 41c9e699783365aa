import {
  CHANGING_CELLS,
  ECHO_CELLS,
  HOUR_CELL,
  MICROPHONE_CELLS,
  SECRET_CELL,
  VISITOR_CELLS,
} from './cell.ts';
import { GOALS, type Sentence, type Visit } from './judge.ts';

/** Result of one cell. */
export interface Result {
  readonly name: string;
  readonly sentences: readonly Sentence[];
  /** Times of the card's underruns (s). */
  readonly breaksS: readonly number[];
  readonly visit: Visit | null;
  readonly fallbacks: number;
  /** Length of echo that passed an open gate. */
  readonly heardS: number;
  readonly fellS: number | null;
  readonly backS: number | null;
  readonly driftPpm: number;
  /** Computation time for a second of sound while the loudspeaker plays, on this machine. */
  readonly workMsPerS: number;
}

/** Speech needed to learn the path at the start and after a change, and to find it again after an underrun (s). */
const LEARNS_S = 2;
const FINDS_S = 1;

/** Sentences that count: without those in which the path is learnt (the first one, or the first few short ones). */
export function judged({ sentences, breaksS }: Result, changesAtS: number | null): readonly Sentence[] {
  return sentences.filter(
    (one) =>
      one.saidS >= LEARNS_S &&
      !breaksS.some((atS) => isBehind(one, atS, FINDS_S, sentences)) &&
      !(changesAtS !== null && isBehind(one, changesAtS, LEARNS_S, sentences)),
  );
}

/** Whether an event was in a sentence, or shortly before it with less than this much speech in between. */
function isBehind(one: Sentence, atS: number, withinS: number, all: readonly Sentence[]): boolean {
  const current = all.findLast(({ beganS }) => beganS <= atS);
  if (current === undefined || one.beganS < current.beganS) return false;
  const saidS = current.saidS + Math.min(current.lengthS, atS - current.beganS);
  return one === current ? atS < one.beganS + one.lengthS : one.saidS < saidS + withinS;
}

export function misses(results: readonly Result[]): string[] {
  const cells = [...ECHO_CELLS, ...CHANGING_CELLS, ...VISITOR_CELLS, HOUR_CELL, ...MICROPHONE_CELLS];
  return results.flatMap((result) => {
    const { name, visit, fallbacks } = result;
    if (name.startsWith(SECRET_CELL.name)) {
      const holds = fallbacks === 1 && result.fellS !== null && result.backS !== null;
      return holds ? [] : [`${name}: fell back ${result.fellS} s after, returned ${result.backS} s after`];
    }
    const cell = cells.find((one) => one.name === name);
    if (cell?.heardS !== undefined)
      return result.heardS <= cell.heardS ? [] : [`${name}: ${result.heardS} s heard`];
    const some = judged(result, cell?.change?.atS ?? null);
    const bad = some.filter(({ isGood }) => !isGood);
    const isDue = visit !== null && (cell?.visitorDb ?? 0) >= 0;
    return [
      ...(bad.length === 0
        ? []
        : [
            `${name}: ${bad.length} of ${some.length} sentences, worst ${round(Math.min(...bad.map((one) => one.lossDb)))} dB`,
          ]),
      ...(fallbacks === 0 ? [] : [`${name}: ${fallbacks} fallbacks`]),
      ...(isDue && (visit.sent < GOALS.sent || Math.abs(visit.levelDb) > GOALS.levelDb)
        ? [`${name}: ${percent(visit.sent)} sent, ${visit.levelDb.toFixed(1)} dB`]
        : []),
    ];
  });
}

const round = (value: number): number => Math.round(value);
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const FIRST_COLUMN = 28;
/** Number of sentences above which only quantiles are shown. */
const MOST_SHOWN = 24;

export function printTables(results: readonly Result[]): string {
  let text = 'Attenuation of each sentence, dB (rest, dBFS; !: goal missed; |: change)\n';
  for (const result of results.filter(({ visit }) => visit === null)) text += echoLine(result);
  text += `\n${''.padEnd(FIRST_COLUMN)}${'sent'.padStart(9)}${'level'.padStart(10)}${'fallbacks'.padStart(11)}  sentences without a visitor\n`;
  for (const result of results) {
    if (result.visit === null) continue;
    const { sent, levelDb } = result.visit;
    text += `${result.name.padEnd(FIRST_COLUMN)}${percent(sent).padStart(9)}${`${levelDb.toFixed(1)} dB`.padStart(10)}`;
    text += `${String(result.fallbacks).padStart(11)}  ${sentencesOf(result)}\n`;
  }
  const work = results.map(({ workMsPerS }) => workMsPerS).sort((a, b) => a - b);
  text += `\nThe canceller needs ${round(work[work.length >> 1] ?? 0)} ms for a second of sound while the loudspeaker plays, on this machine\n`;
  return text;
}

function echoLine(result: Result): string {
  const { name, fallbacks, fellS, backS, driftPpm } = result;
  let text = `${name.padEnd(FIRST_COLUMN)}${sentencesOf(result)}; ${round(driftPpm)} ppm`;
  if (MICROPHONE_CELLS.some((cell) => cell.name === name)) text += `; ${result.heardS.toFixed(1)} s heard`;
  if (name.startsWith(SECRET_CELL.name) && fellS !== null)
    text += `; fell back ${round(fellS)} s after, returned ${backS === null ? 'never' : `${round(backS)} s after`}`;
  else if (fallbacks > 0) text += `; ${fallbacks} fallbacks`;
  return `${text}\n`;
}

function sentencesOf(result: Result): string {
  const { sentences } = result;
  const changesAt =
    CHANGING_CELLS.find(({ name }) => name === result.name)?.change?.atS ?? Number.POSITIVE_INFINITY;
  const due = judged(result, Number.isFinite(changesAt) ? changesAt : null);
  if (due.length > MOST_SHOWN) {
    const losses = due.map(({ lossDb }) => lossDb).sort((a, b) => a - b);
    const bad = due.filter(({ isGood }) => !isGood).length;
    const at = (share: number): number => round(losses[Math.floor(share * (losses.length - 1))] ?? 0);
    return `${due.length}: worst ${at(0)}, 5 % ${at(0.05)}, median ${at(0.5)}, ${bad} missed`;
  }
  return sentences
    .map((one, index) => {
      const { lossDb, leftDb, isGood, beganS } = one;
      const previous = sentences[index - 1]?.beganS ?? 0;
      const bar = previous <= changesAt && beganS > changesAt ? '| ' : '';
      return `${bar}${round(lossDb)} (${round(leftDb)})${isGood || !due.includes(one) ? '' : '!'}`;
    })
    .join(' ');
}
