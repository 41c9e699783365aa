import {
  type Awaited,
  IN_ORDER,
  jointOf,
  type Nameless,
  type PassedBy,
  type Run,
} from './nameless-record.ts';
import { isSpeech, noisesIn, type Piece, speechMs } from './piece.ts';
import type { ReplayLog } from './record.ts';
import { MS_PER_LETTER, targetOf } from './sentence.ts';

/**
 * Sound without names, in each language by itself: how long it should be is known from the texts that came before it, or else from
 * what was said. Where a stream has one language, a stub of a translation is said once more; of several, others have been spoken.
 */

/** Sound without a name that comes so long after the last is of another sentence. */
export const OTHER_SOUND_MS = 1000;
/** Sound that comes so long after the last may be of another sentence, where one has been understood since. */
const GAP_MS = 500;
/** Nothing more of a sentence comes after such a gap; nor is a text spoken that is older. */
export const OVER_AFTER_MS = 5000;
/** One that has been awaited for so long, while nothing was spoken in any language, is not spoken with the next. */
const PASSED_BY_AFTER_MS = 10_000;
/** A text may come so long behind the sound that speaks it. */
const LATE_TEXT_MS = 3000;
/** Less than this share of what its text promises is no translation. */
export const LEAST_SHARE = 0.5;
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

/** The text of a translation has come, and no sound so far that is long enough to speak it. */
export function awaitText(log: ReplayLog, tag: string, letters: number, now: number): readonly Nameless[] {
  const language = targetOf(tag, log.targets);
  if (language === null) return log.nameless;
  const run = namelessIn(log, language).run ?? jointRun(log);
  // What no text had promised is promised by the next one: however short it was, that is its text.
  if (run !== null && run.letters === 0 && now - run.soundAt < OVER_AFTER_MS) return noteTextBehind(log, tag);
  const text = { letters, pieces: [], at: now, isSpokenElsewhere: false };
  const isDoubtful = mayBeBehind(run, promisedBy(text), now);
  return change(log, tag, (before) => withAwaited(written(before), { ...text, isDoubtful }));
}

/** From now on texts tell what is to be spoken. */
function written(before: Nameless): Nameless {
  return before.isWritten ? before : { ...before, awaited: [], isWritten: true };
}

function jointRun({ nameless, targets }: ReplayLog): Run | null {
  return nameless.find(({ language }) => language === jointOf(targets))?.run ?? null;
}

/** Whether a text may have come late, behind a sound of which it is a small part. */
function mayBeBehind(run: Run | null, ms: number, now: number): boolean {
  return run !== null && now - run.soundAt < LATE_TEXT_MS && ms < run.ms * LEAST_SHARE;
}

/** What has been understood is to be spoken in each language; where texts of translations come, these tell more. */
export function awaitUnderstood(log: ReplayLog, pieces: readonly Piece[], now: number): readonly Nameless[] {
  if (pieces.every(noisesIn(pieces))) return log.nameless;
  const past = log.nameless.filter((one) => !log.targets.includes(one.language));
  const targets = log.targets.map((target) => namelessIn(log, target));
  const sentence = { letters: 0, pieces, at: now, isDoubtful: false, isSpokenElsewhere: false };
  return [...past, ...targets.map((one) => (one.isWritten ? one : withAwaited(one, sentence)))];
}

/** The text of a translation has come behind the sound that speaks it. */
export function noteTextBehind(log: ReplayLog, tag: string): readonly Nameless[] {
  const nameless = change(log, tag, (before) => ({ ...written(before), inOrder: 0 }));
  const joint = jointOf(log.targets);
  return nameless.map((one) => (one.language === joint ? { ...one, inOrder: 0 } : one));
}

function withAwaited(before: Nameless, one: Awaited): Nameless {
  const passedBy = before.passedBy.map((other) => ({
    ...other,
    promisedMs: other.promisedMs + explainedBy(one),
  }));
  return { ...before, passedBy, awaited: [...before.awaited, one].slice(-MOST_AWAITED) };
}

/** Whether what sounds without a name has had its text first of late. */
export function isOrderly({ nameless, soundAt }: ReplayLog): boolean {
  return soundAt !== null && nameless.length > 0 && nameless.every(({ inOrder }) => inOrder === IN_ORDER);
}

/** How much sound is explained by it: what has been understood is speech to the service, however unsure the lane is of it. */
function explainedBy({ letters, pieces }: Awaited): number {
  return letters > 0
    ? letters * MS_PER_LETTER
    : pieces.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
}

/** How long a translation should sound, milliseconds; 0: the lane is not sure that it was speech. */
export function promisedBy({ letters, pieces }: Pick<Awaited, 'letters' | 'pieces'>): number {
  return letters > 0 ? letters * MS_PER_LETTER : speechMs(pieces);
}

/** Sound without a name has come. */
export function hearRun(log: ReplayLog, sound: NamelessSound, now: number): readonly Nameless[] {
  if (sound.ms === 0) return log.nameless;
  const language = targetOf(sound.language, log.targets);
  if (language === null) return hearJoint(log, sound, now);
  const past = log.nameless.filter((one) => !log.targets.includes(one.language));
  const others = log.targets.filter((target) => target !== language);
  const elsewhere = others.flatMap((target) => namelessIn(log, target).run ?? []);
  const next = hear(namelessIn(log, language), sound, elsewhere, now);
  return [...past, next, ...others.map((target) => spokenElsewhere(log, target, sound.pieces, now))];
}

/** It may be of any language: what is awaited in each is awaited of all together. */
function hearJoint(log: ReplayLog, sound: NamelessSound, now: number): readonly Nameless[] {
  const language = jointOf(log.targets);
  const past = log.nameless.filter((one) => one.language !== language && !log.targets.includes(one.language));
  const single = log.targets.map((target) => namelessIn(log, target));
  const joint = namelessIn(log, language);
  const fresh = single.flatMap(({ awaited }) => awaited);
  const before = {
    ...fresh.reduce(withAwaited, joint),
    isWritten: [joint, ...single].some(({ isWritten }) => isWritten),
  };
  const next = hear(before, sound, [], now, log.targets.length);
  return [...past, next, ...single.map((one) => ({ ...one, awaited: [], passedBy: [] }))];
}

/** @param elsewhere what sounds, or sounded last, in other languages: meanwhile this one has to wait */
function hear(
  before: Nameless,
  sound: NamelessSound,
  elsewhere: readonly Run[],
  now: number,
  translations = 1,
): Nameless {
  const heard = { ...before, passedBy: before.passedBy.map((one) => withHeard(one, sound)) };
  if (goesOn(heard, sound, now)) return withMore(heard, sound, now);
  const busyMs = ({ at }: Awaited): number =>
    elsewhere.reduce((sum, run) => sum + Math.max(0, run.soundAt - Math.max(at, run.beganAt)), 0);
  return withNext(heard, sound, { ageOf: (one) => now - one.at - busyMs(one), translations }, now);
}

function withHeard(one: PassedBy, { ms, isTwin }: NamelessSound): PassedBy {
  return isTwin ? one : { ...one, heardMs: one.heardMs + ms };
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

/**
 * @param ageOf for how long something has been awaited while nothing was spoken
 * @param translations of a sentence
 */
function withNext(
  before: Nameless,
  { ms, pieces }: NamelessSound,
  { ageOf, translations }: { readonly ageOf: (one: Awaited) => number; readonly translations: number },
  now: number,
): Nameless {
  const { run, awaited, crowded, inOrder: orderly } = before;
  const recent = awaited.filter((one) => ageOf(one) < OVER_AFTER_MS);
  const passed = awaited.filter((one) => !one.isDoubtful && ageOf(one) >= PASSED_BY_AFTER_MS);
  const rest = awaited.filter((one) => !passed.includes(one));
  const isAhead = orderly < IN_ORDER || recent.length === 0;
  const isPlain =
    recent.length > 0 && recent.length <= translations && recent.every(({ isDoubtful }) => !isDoubtful);
  const inOrder = recent.length === 0 ? 0 : Math.min(IN_ORDER, orderly + (isPlain ? 1 : 0));
  const next: Run = {
    pieces: [...recent.flatMap((one) => one.pieces), ...pieces.filter(isOfNone(recent))],
    // Of a service that is ahead of its texts nobody knows what a sound is to be.
    letters: isAhead ? 0 : recent.reduce((sum, { letters }) => sum + letters, 0),
    ms,
    beganAt: now,
    soundAt: now,
    translations,
    // Of several texts the sound of the first may be over before that of the next begins.
    isCertain: !isAhead && isPlain,
  };
  const promisedMs = rest.reduce((sum, one) => sum + explainedBy(one), 0);
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
