import { type Awaited, IN_ORDER, type Nameless, type PassedBy, type Run } from './nameless-record.ts';
import { isQuiet, isSpeech, noisesIn, type Piece, speechMs } from './piece.ts';
import type { ReplayLog } from './record.ts';
import { type AudioCut, MS_PER_LETTER, SHORTEST_SHARE, targetOf } from './sentence.ts';

/**
 * Sound without names, in each language by itself: how long it should be is known from the texts that came before it, or else from
 * what was said. Where a stream has one language, a stub of a translation is said once more; of several, others have been spoken.
 */

/** Sound without a name that comes so long after the last is of another sentence. */
export const OTHER_SOUND_MS = 1000;
/** Sound that comes so long after the last may be of another sentence, where one has been understood since. */
const GAP_MS = 500;
/** Nothing more of a sentence comes after such a gap; nor is a text spoken that is older. */
const OVER_AFTER_MS = 5000;
/** One that has been awaited for so long, while nothing was spoken in any language, is not spoken with the next. */
const PASSED_BY_AFTER_MS = 10_000;
/** Nor is one spoken that is older, or that is older although another language was spoken meanwhile. */
const UNSPOKEN_AFTER_MS = { quiet: 30_000, busy: 60_000 } as const;
/** A text may come so long behind the sound that speaks it. */
const LATE_TEXT_MS = 3000;
/** Less than this share of what its text promises is no translation. */
const LEAST_SHARE = 0.5;
/** Less than this share is no whole one, of whatever voice. */
const WHOLE_SHARE = 0.7;
/** So much of one that was passed by is there beyond what others promise, where it was spoken with them. */
const SPARE_SHARE = 0.35;
const MOST_AWAITED = 32;

/** Sound as it came. */
interface NamelessSound {
  /** Null: not told. */
  readonly language: string | null;
  readonly ms: number;
  /** It came before: it makes nothing longer. */
  readonly isTwin: boolean;
  /** What is taken for spoken because of it. */
  readonly pieces: readonly Piece[];
}

function namelessIn(log: ReplayLog, language: string): Nameless {
  const known = log.nameless.find((one) => one.language === language);
  const nothing = { run: null, awaited: [], passedBy: [], crowded: [] };
  return known ?? { language, ...nothing, inOrder: IN_ORDER, isWritten: false };
}

/** @param tag as the service tells the language; of several, one that is none of them tells nothing */
function change(
  log: ReplayLog,
  tag: string | null,
  how: (before: Nameless) => Nameless,
): readonly Nameless[] {
  const language = targetOf(tag, log.targets);
  if (language === null) return log.nameless;
  const others = log.nameless.filter((one) => one.language !== language);
  return [...others, how(namelessIn(log, language))];
}

/** The text of a translation has come, and no sound so far that may speak it. */
export function awaitText(log: ReplayLog, tag: string, letters: number, now: number): readonly Nameless[] {
  return change(log, tag, (before) => {
    const text = { letters, pieces: [], at: now, isSpokenElsewhere: false };
    // From now on texts tell what is to be spoken.
    const known = before.isWritten ? before : { ...before, awaited: [], isWritten: true };
    return withAwaited(known, { ...text, isDoubtful: mayBeBehind(before, promisedBy(text), now) });
  });
}

/** Whether a text may have come late, behind a sound of which it is a small part. */
function mayBeBehind({ run }: Nameless, ms: number, now: number): boolean {
  return run !== null && now - run.soundAt < LATE_TEXT_MS && ms < run.ms * LEAST_SHARE;
}

/** What has been understood is to be spoken in each language; where texts of translations come, these tell more. */
export function awaitUnderstood(log: ReplayLog, pieces: readonly Piece[], now: number): readonly Nameless[] {
  if (pieces.every(noisesIn(pieces)) || !pieces.some(isSpeech)) return log.nameless;
  const past = log.nameless.filter((one) => !log.targets.includes(one.language));
  const targets = log.targets.map((target) => namelessIn(log, target));
  const sentence = { letters: 0, pieces, at: now, isDoubtful: false, isSpokenElsewhere: false };
  return [...past, ...targets.map((one) => (one.isWritten ? one : withAwaited(one, sentence)))];
}

/** The text of a translation has come behind the sound that speaks it. */
export function noteTextBehind(log: ReplayLog, tag: string): readonly Nameless[] {
  return change(log, tag, (before) => ({ ...before, inOrder: 0, isWritten: true }));
}

function withAwaited(before: Nameless, one: Awaited): Nameless {
  const passedBy = before.passedBy.map((other) => ({
    ...other,
    promisedMs: other.promisedMs + promisedBy(one),
  }));
  return { ...before, passedBy, awaited: [...before.awaited, one].slice(-MOST_AWAITED) };
}

/** How long a translation should sound. */
function promisedBy({ letters, pieces }: Pick<Awaited, 'letters' | 'pieces'>): number {
  return letters > 0 ? letters * MS_PER_LETTER : speechMs(pieces);
}

/** Sound without a name has come. */
export function hearRun(log: ReplayLog, sound: NamelessSound, now: number): readonly Nameless[] {
  if (sound.ms === 0) return log.nameless;
  const language = targetOf(sound.language, log.targets);
  // It may be of any language: nobody can tell what is missing then.
  if (language === null) return log.nameless.map((one) => ({ ...one, awaited: [], passedBy: [] }));
  const own = namelessIn(log, language);
  const heard = { ...own, passedBy: own.passedBy.map((one) => withHeard(one, sound)) };
  const next = goesOn(heard, sound, now)
    ? withMore(heard, sound, now)
    : withNext(heard, sound, soundElsewhere(log, language), now);
  const others = log.targets.filter((target) => target !== language);
  const past = log.nameless.filter((one) => !log.targets.includes(one.language));
  return [...past, next, ...others.map((target) => spokenElsewhere(log, target, sound.pieces, now))];
}

function withHeard(one: PassedBy, { ms, isTwin }: NamelessSound): PassedBy {
  return isTwin ? one : { ...one, heardMs: one.heardMs + ms };
}

/** When sound came last in another language. */
function soundElsewhere({ nameless }: ReplayLog, language: string): number {
  const others = nameless.filter((one) => one.language !== language);
  return Math.max(
    Number.NEGATIVE_INFINITY,
    ...others.map(({ run }) => run?.soundAt ?? Number.NEGATIVE_INFINITY),
  );
}

function goesOn({ run, awaited }: Nameless, { pieces }: NamelessSound, now: number): boolean {
  if (run === null) return false;
  const gapMs = now - run.soundAt;
  if (gapMs < OTHER_SOUND_MS) return true;
  // One has been understood since.
  const isOfAnother = awaited.length > 0 || (run.letters === 0 && pieces.some(isSpeech));
  return gapMs < OVER_AFTER_MS && !isOfAnother;
}

function withMore(before: Nameless, { ms, isTwin, pieces }: NamelessSound, now: number): Nameless {
  const { run, awaited } = before;
  if (run === null) return before;
  // What may just have been said is not said once more with a sentence that was cut off before it.
  const isOwn = now - run.soundAt < GAP_MS || awaited.length === 0;
  const known = isOwn ? [...run.pieces, ...pieces] : run.pieces;
  const more = { ...run, pieces: known, ms: run.ms + (isTwin ? 0 : ms), soundAt: now };
  return { ...before, run: more, awaited: awaited.map((text) => ({ ...text, isDoubtful: true })) };
}

/** @param elsewhereAt when sound came last in another language: while that sounds, this one has to wait */
function withNext(
  before: Nameless,
  { ms, pieces }: NamelessSound,
  elsewhereAt: number,
  now: number,
): Nameless {
  const { run, awaited, crowded, inOrder: orderly } = before;
  const ageOf = ({ at }: Awaited): number => now - Math.max(at, elsewhereAt);
  const recent = awaited.filter((one) => ageOf(one) < OVER_AFTER_MS);
  const passed = awaited.filter((one) => !one.isDoubtful && ageOf(one) >= PASSED_BY_AFTER_MS);
  const rest = awaited.filter((one) => !passed.includes(one));
  const isAhead = orderly < IN_ORDER || recent.length === 0;
  const isPlain = recent.length === 1 && recent.every(({ isDoubtful }) => !isDoubtful);
  const inOrder = recent.length === 0 ? 0 : Math.min(IN_ORDER, orderly + (isPlain ? 1 : 0));
  const next: Run = {
    pieces: [...recent.flatMap((one) => one.pieces), ...pieces.filter(isOfNone(recent))],
    // Of a service that is ahead of its texts nobody knows what a sound is to be.
    letters: isAhead ? 0 : recent.reduce((sum, { letters }) => sum + letters, 0),
    ms,
    soundAt: now,
    // Of several texts the sound of the first may be over before that of the next begins.
    isCertain: !isAhead && isPlain,
  };
  const promisedMs = rest.reduce((sum, one) => sum + promisedBy(one), 0);
  return {
    ...before,
    ...{ run: next, awaited: [], inOrder, crowded: run === null ? crowded : [...crowded, run] },
    passedBy: [...before.passedBy, ...passed.map((one) => ({ awaited: one, heardMs: ms, promisedMs }))],
  };
}

/** What a language has still to say of what another one has spoken: by its texts, or where none come by what was said. */
function spokenElsewhere(log: ReplayLog, language: string, pieces: readonly Piece[], now: number): Nameless {
  const before = namelessIn(log, language);
  const awaited = before.awaited.map((one) => ({ ...one, isSpokenElsewhere: true }));
  const known = { ...before, awaited };
  // What was said before it became a target is not said in it.
  const isOwn = ({ fromMs }: Piece): boolean =>
    fromMs >= log.before.ms || log.before.targets.includes(language);
  const own = before.isWritten ? [] : pieces.filter(isOwn).filter(isOfNone(awaited));
  if (!own.some(isSpeech)) return known;
  return withAwaited(known, { letters: 0, pieces: own, at: now, isDoubtful: false, isSpokenElsewhere: true });
}

/** Tells whether a piece is in none of these already. */
function isOfNone(awaited: readonly Awaited[]): (piece: Piece) => boolean {
  const known = awaited.flatMap(({ pieces }) => pieces);
  return ({ fromMs }) => !known.some((one) => one.fromMs === fromMs);
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
  let again: readonly Piece[] = [];
  const cuts: AudioCut[] = [];
  const nameless = log.nameless.map((one): Nameless => {
    const { language, run, awaited, passedBy, crowded } = one;
    const isTarget = log.targets.includes(language);
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
    if (isTarget) cuts.push(...missing({ ...one, awaited: over, passedBy: past }));
    return {
      ...one,
      ...{ run: isRunOver ? null : run, crowded: [] },
      awaited: awaited.filter((each) => !over.includes(each)),
      passedBy: passedBy.filter((each) => !past.includes(each)),
    };
  });
  const isSame = nameless.every((one, index) => one === log.nameless[index]);
  return { nameless: isSame ? log.nameless : nameless, again, cuts };
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
  return [...passed.map((one) => one.awaited), ...unheard].map((one) => ({
    ...{ language, playedMs: 0 },
    expectedMs: Math.round(promisedBy(one)),
  }));
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
  const isOwed = log.pieces.some((piece) => piece.sentence?.startsWith('#') && !isQuiet(piece));
  return log.nameless.flatMap((one) => {
    const { language, run, crowded } = one;
    const isTarget = log.targets.includes(language);
    const isSaidAgain = isTarget && hasStub;
    const isRunCut = run !== null && !isSaidAgain && (isCut(run) || isCutInTheMiddle(run, now));
    const runs = [...crowded.filter(isCut), ...(isRunCut ? [run] : [])];
    if (!isTarget) return runs.map((each) => cutOf(language, each));
    const awaited = one.awaited.filter(({ isSpokenElsewhere }) => isSpokenElsewhere || !isOwed);
    return [...runs.map((each) => cutOf(language, each)), ...missing({ ...one, awaited })];
  });
}

/** Whether it sounded lately, and is too short for what was said, where no text tells how long it should be. */
function isCutInTheMiddle({ letters, ms, soundAt, pieces }: Run, now: number): boolean {
  if (letters > 0 || now - soundAt >= OVER_AFTER_MS) return false;
  return ms < speechMs(pieces) * (now - soundAt < OTHER_SOUND_MS ? WHOLE_SHARE : LEAST_SHARE);
}
