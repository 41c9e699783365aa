import {
  IN_ORDER,
  isQuiet,
  isSpeech,
  type Nameless,
  type Piece,
  type ReplayLog,
  type Run,
  speechMs,
} from './record.ts';
import { type AudioCut, MS_PER_LETTER, SHORTEST_SHARE } from './sentence.ts';

/** Sound without a name that comes so long after the last is of another sentence. */
export const OTHER_SOUND_MS = 1000;
/** Sound that comes so long after the last may be of another sentence, where one has been understood since. */
const GAP_MS = 500;
/** Nothing more of a sentence comes after such a gap; nor is a text spoken that is older. */
const OVER_AFTER_MS = 5000;
/** Less than this share of what its text promises is no translation. */
const LEAST_SHARE = 0.5;
/** Less than this share is no whole one, of whatever voice. */
const WHOLE_SHARE = 0.7;
const MOST_AWAITED = 8;

export function awaitText({ nameless, targets }: ReplayLog, letters: number, now: number): Nameless {
  if (targets.length !== 1) return nameless;
  const awaited = [...nameless.awaited, { letters, at: now, isDoubtful: false }].slice(-MOST_AWAITED);
  return { ...nameless, awaited };
}

/** @param pieces what is taken for spoken because of this sound */
export function hearRun(
  { nameless, targets }: ReplayLog,
  { ms, isTwin, pieces }: { ms: number; isTwin: boolean; pieces: readonly Piece[] },
  now: number,
): Nameless {
  if (targets.length !== 1 || ms === 0) return nameless;
  const { run, awaited, crowded } = nameless;
  const gapMs = run === null ? Number.POSITIVE_INFINITY : now - run.soundAt;
  if (
    run !== null &&
    (gapMs < OTHER_SOUND_MS || (gapMs < OVER_AFTER_MS && !isOfAnother(nameless, run, pieces)))
  ) {
    // What may just have been said is not said once more with a sentence that was cut off before it.
    const isOwn = gapMs < GAP_MS || awaited.length === 0;
    const known = isOwn ? [...run.pieces, ...pieces] : run.pieces;
    const more = { ...run, pieces: known, ms: run.ms + (isTwin ? 0 : ms), soundAt: now };
    return { ...nameless, run: more, awaited: awaited.map((text) => ({ ...text, isDoubtful: true })) };
  }
  const recent = awaited.filter(({ at }) => now - at < OVER_AFTER_MS);
  const { inOrder: before } = nameless;
  const isAhead = before < IN_ORDER || recent.length === 0;
  const isPlain = recent.length === 1 && recent.every(({ isDoubtful }) => !isDoubtful);
  const inOrder = recent.length === 0 ? 0 : Math.min(IN_ORDER, before + (isPlain ? 1 : 0));
  const next: Run = {
    pieces,
    // Of a service that is ahead of its texts nobody knows what a sound is to be.
    letters: isAhead ? 0 : recent.reduce((sum, { letters }) => sum + letters, 0),
    ms,
    soundAt: now,
    // Of several texts the sound of the first may be over before that of the next begins.
    isCertain: !isAhead && isPlain,
  };
  return { run: next, awaited: [], crowded: run === null ? crowded : [...crowded, run], inOrder };
}

/** Whether sound that comes a while after a run is of another sentence: one has been understood since. */
function isOfAnother({ awaited }: Nameless, { letters }: Run, pieces: readonly Piece[]): boolean {
  return awaited.length > 0 || (letters === 0 && pieces.some(isSpeech));
}

/** How long a run should sound at the least. */
function leastMs({ letters, isCertain, pieces }: Run): number {
  if (letters > 0) return letters * MS_PER_LETTER * (isCertain ? WHOLE_SHARE : LEAST_SHARE);
  return speechMs(pieces) * SHORTEST_SHARE;
}

function isStub({ letters, ms }: Run): boolean {
  return ms < letters * MS_PER_LETTER * LEAST_SHARE;
}

function isCut(run: Run): boolean {
  return run.ms < leastMs(run);
}

function cutOf({ letters, ms, pieces }: Run, { targets }: ReplayLog): AudioCut {
  return {
    language: targets[0] ?? '',
    playedMs: Math.round(ms),
    expectedMs: Math.round(letters > 0 ? letters * MS_PER_LETTER : speechMs(pieces)),
  };
}

/** What is to be said once more of what was spoken without a name. */
export function stubOf({ run }: Nameless): readonly Piece[] {
  if (run === null || !run.isCertain || !isStub(run)) return [];
  const isAgain = run.pieces.some(({ chunk }) => chunk.again === true);
  return isAgain || run.pieces.every(isQuiet) ? [] : run.pieces;
}

/** Judges the runs of which nothing more comes. */
export function judgeRuns(
  log: ReplayLog,
  now: number,
): { nameless: Nameless; again: readonly Piece[]; cuts: readonly AudioCut[] } {
  const { nameless } = log;
  const { run, crowded } = nameless;
  const isOver = run !== null && now - run.soundAt >= OVER_AFTER_MS;
  if (!isOver && crowded.length === 0) return { nameless, again: [], cuts: [] };
  const again = isOver ? stubOf(nameless) : [];
  const over = isOver && again.length === 0 ? [run] : [];
  const cuts = runsCut(log, [...crowded, ...over]);
  return { nameless: { ...nameless, run: isOver ? null : run, crowded: [] }, again, cuts };
}

function runsCut(log: ReplayLog, runs: readonly Run[]): readonly AudioCut[] {
  return runs.filter(isCut).map((run) => cutOf(run, log));
}

/** The runs that the end of a stream has cut, and that are not said once more. */
export function runsCutAtEnd(log: ReplayLog, now: number): readonly AudioCut[] {
  const { run, crowded } = log.nameless;
  const cuts = runsCut(log, crowded);
  if (run === null || stubOf(log.nameless).length > 0) return cuts;
  return isCut(run) || isCutInTheMiddle(run, now) ? [...cuts, cutOf(run, log)] : cuts;
}

/** Whether it sounded lately, and is too short for what was said, where no text tells how long it should be. */
function isCutInTheMiddle({ letters, ms, soundAt, pieces }: Run, now: number): boolean {
  if (letters > 0 || now - soundAt >= OVER_AFTER_MS) return false;
  return ms < speechMs(pieces) * (now - soundAt < OTHER_SOUND_MS ? WHOLE_SHARE : LEAST_SHARE);
}
