import { LEAST_SHARE, OTHER_SOUND_MS, OVER_AFTER_MS, promisedBy } from './nameless.ts';
import {
  type Awaited,
  IN_ORDER,
  jointOf,
  type Nameless,
  type PassedBy,
  type Run,
} from './nameless-record.ts';
import { isQuiet, type Piece, speechMs } from './piece.ts';
import { isNameless, type ReplayLog } from './record.ts';
import { type AudioCut, MS_PER_LETTER, SHORTEST_SHARE } from './sentence.ts';

/** Which of what is spoken without names is cut off, or never comes. */

/** A translation that has been awaited for this long is not spoken any more; `busy`: another language was spoken meanwhile. */
const UNSPOKEN_AFTER_MS = { quiet: 30_000, busy: 60_000 } as const;
/** Less than this share is no whole one, of whatever voice. */
const WHOLE_SHARE = 0.7;
/** So much of one that was passed by is there beyond what others promise, where it was spoken with them. */
const SPARE_SHARE = 0.35;

/** How long a run should sound at the least. */
function leastMs({ letters, isCertain, pieces, translations }: Run): number {
  // Of several translations one may be over before the next one begins.
  const share = isCertain && translations === 1 ? WHOLE_SHARE : LEAST_SHARE / translations;
  if (letters > 0) return letters * MS_PER_LETTER * share;
  return speechMs(pieces) * SHORTEST_SHARE;
}

function isStub({ letters, ms }: Run): boolean {
  return ms < letters * MS_PER_LETTER * LEAST_SHARE;
}

function isCut(run: Run): boolean {
  return run.ms < leastMs(run);
}

/** What is to be said once more of what was spoken without a name. */
export function stubOf({ nameless, targets }: ReplayLog): readonly Piece[] {
  const [only, other] = targets;
  const run = nameless.find(({ language }) => language === only)?.run ?? null;
  if (other !== undefined || run === null || !run.isCertain || !isStub(run)) return [];
  const isAgain = run.pieces.some(({ chunk }) => chunk.again === true);
  return isAgain || run.pieces.every(isQuiet) ? [] : run.pieces;
}

/** Whether anything is to be judged. */
export function isNamelessOpen({ nameless }: ReplayLog): boolean {
  return nameless.some(
    ({ run, awaited, passedBy, crowded }) =>
      run !== null || awaited.length > 0 || passedBy.length > 0 || crowded.length > 0,
  );
}

/** Whether it is told of what was said that it was not spoken, when it has been awaited for long enough. */
export function isNamelessAwaited({ nameless }: ReplayLog): boolean {
  return nameless.some(
    ({ awaited, inOrder }) => inOrder === IN_ORDER && awaited.some(({ isDoubtful }) => !isDoubtful),
  );
}

/** What is known of sound without names when that of which nothing more comes has been judged. */
interface Judged {
  readonly nameless: readonly Nameless[];
  readonly again: readonly Piece[];
  readonly cuts: readonly AudioCut[];
}

/** Judges what was spoken, and what was not, of which nothing more comes. */
export function judgeRuns(log: ReplayLog, now: number): Judged {
  const stub = stubOf(log);
  const inOrder = inOrderOf(log);
  let again: readonly Piece[] = [];
  const cuts: AudioCut[] = [];
  const nameless = log.nameless.map((one): Nameless => {
    const { language, run, awaited, passedBy, crowded } = one;
    const isTarget = isWanted(log, language);
    const isRunOver = run !== null && now - run.soundAt >= OVER_AFTER_MS;
    const limitMs = (at: number): number =>
      soundElsewhere(log, language) > at ? UNSPOKEN_AFTER_MS.busy : UNSPOKEN_AFTER_MS.quiet;
    const over = awaited.filter(({ at }) => !isTarget || now - at >= limitMs(at));
    const past = passedBy.filter((each) => !isTarget || now - each.awaited.at >= UNSPOKEN_AFTER_MS.quiet);
    if (!isRunOver && over.length + past.length + crowded.length === 0) return one;
    const isSaidAgain = isTarget && stub.length > 0;
    if (isRunOver && isSaidAgain) again = stub;
    const runs = isRunOver && !isSaidAgain ? [...crowded, run] : crowded;
    cuts.push(...runs.filter(isCut).map((each) => cutOf(language, each)));
    if (isTarget) cuts.push(...missing({ ...one, inOrder: inOrder(one), awaited: over, passedBy: past }));
    return {
      ...one,
      ...{ run: isRunOver ? null : run, crowded: [] },
      awaited: awaited.filter((each) => !over.includes(each)),
      passedBy: passedBy.filter((each) => !past.includes(each)),
    };
  });
  const isSame = nameless.every((one, index) => one === log.nameless[index]);
  if (isSame) return { nameless: log.nameless, again, cuts };
  // Of a language that is not wanted any more nothing is left to be known.
  const isKept = ({ language, run }: Nameless): boolean => run !== null || isWanted(log, language);
  return { nameless: nameless.filter(isKept), again, cuts };
}

/** Whether it is a target, or sound that does not tell which of them it is. */
function isWanted({ targets }: ReplayLog, language: string): boolean {
  return targets.includes(language) || language === jointOf(targets);
}

/** In which order texts and sound come is known from sound that tells no language as well. */
function inOrderOf({ nameless, targets }: ReplayLog): (one: Nameless) => number {
  const joint = nameless.find(({ language }) => language === jointOf(targets));
  return (one) => Math.min(one.inOrder, joint?.inOrder ?? IN_ORDER);
}

/** When sound came last in another language. */
function soundElsewhere({ nameless }: ReplayLog, language: string): number {
  const others = nameless.filter((one) => one.language !== language);
  return Math.max(
    Number.NEGATIVE_INFINITY,
    ...others.map(({ run }) => run?.soundAt ?? Number.NEGATIVE_INFINITY),
  );
}

/** Those of which no sound came at all. */
function missing({ language, awaited, passedBy, inOrder }: Nameless): readonly AudioCut[] {
  // Where texts come behind their sound, one that is awaited has been spoken.
  const isOrderly = ({ letters, isSpokenElsewhere }: Awaited): boolean =>
    inOrder === IN_ORDER || (letters === 0 && isSpokenElsewhere);
  const unheard = awaited.filter((one) => !one.isDoubtful && isOrderly(one));
  const isUnheard = ({ awaited: one, heardMs, promisedMs }: PassedBy): boolean =>
    heardMs <= promisedMs + promisedBy(one) * SPARE_SHARE;
  const passed = passedBy.filter((one) => isOrderly(one.awaited) && isUnheard(one));
  return [...passed.map((one) => one.awaited), ...unheard]
    .map((one) => ({ language, playedMs: 0, expectedMs: Math.round(promisedBy(one)) }))
    .filter(({ expectedMs }) => expectedMs > 0);
}

function cutOf(language: string, run: Run): AudioCut {
  return { language, playedMs: Math.round(run.ms), expectedMs: Math.round(promisedBy(run)) };
}

/**
 * What the end of a stream has cut, or left unspoken, and is not said once more.
 * @param isLast as nothing is
 */
export function runsCutAtEnd(log: ReplayLog, now: number, isLast: boolean): readonly AudioCut[] {
  const hasStub = !isLast && stubOf(log).length > 0;
  // What no language has spoken is said again, until it is too old for that.
  const isOwed = log.pieces.some((piece) => isNameless(piece.sentence) && !isQuiet(piece));
  const inOrder = inOrderOf(log);
  return log.nameless.flatMap((one) => {
    const { language, run, crowded } = one;
    const isTarget = isWanted(log, language);
    const isSaidAgain = isTarget && hasStub;
    const isRunCut = run !== null && !isSaidAgain && (isCut(run) || isCutInTheMiddle(run, now));
    const runs = [...crowded.filter(isCut), ...(isRunCut ? [run] : [])];
    if (!isTarget) return runs.map((each) => cutOf(language, each));
    const awaited = one.awaited.filter(({ isSpokenElsewhere }) => isSpokenElsewhere || !isOwed);
    return [
      ...runs.map((each) => cutOf(language, each)),
      ...missing({ ...one, inOrder: inOrder(one), awaited }),
    ];
  });
}

/** Whether it sounded lately, and is too short for what was said, where no text tells how long it should be. */
function isCutInTheMiddle({ letters, ms, soundAt, pieces }: Run, now: number): boolean {
  if (letters > 0 || now - soundAt >= OVER_AFTER_MS) return false;
  return ms < speechMs(pieces) * (now - soundAt < OTHER_SOUND_MS ? WHOLE_SHARE : LEAST_SHARE);
}
