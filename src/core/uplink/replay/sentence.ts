import { type Piece, speechMs } from './piece.ts';
import type { Part, ReplayLog, Sentence, Spoken, Voice } from './record.ts';

/** A translation of which the rest never came. */
export interface AudioCut {
  readonly language: string;
  readonly playedMs: number;
  readonly expectedMs: number;
}

/** Of speech, until three sentences have come to their end: most languages need 60 to 75 ms for a letter. */
export const MS_PER_LETTER = 65;
const SENTENCES_TO_LEARN = 3;
/** A service that has said so often where a sentence ends says it of each. */
const ENDS_TO_TRUST = 3;
/** Less than this share of what is expected is no translation. */
const LEAST_SHARE = 0.5;
/** From this share on a translation is taken as whole that was being spoken as its stream ended: no voice is slower. */
const WHOLE_SHARE = 1.25;
/** Less than this share is no whole translation, of whatever voice and however long nothing more has come. */
const PLAINLY_CUT_SHARE = 0.7;
/** The same where the service says where its sentences end, and has not said it of this one. */
const UNMARKED_SHARE = 0.95;
/** No translation is so much shorter than what it translates, in whatever language: all that can be told without a text. */
export const SHORTEST_SHARE = 0.25;
/** Nothing more of a sentence comes after such a gap, if the stream is known to work. */
const CUT_AFTER_MS = 5000;
/** A translation whose text has come is spoken within this much, or never. */
const UNSPOKEN_AFTER_MS = 20_000;
/** A sentence whose sound came so shortly before the end of the stream was being spoken. */
const UNDER_WAY_MS = 1000;

type Pace = Pick<ReplayLog, 'pace' | 'targets' | 'endsMarked'>;

/** The primary language of a tag: `de` of `de-AT`. */
export const primaryOf = (tag: string): string => tag.toLowerCase().split('-')[0] ?? '';

/** Names of one language in which services differ, and which no table of Unicode has as the same. */
const SAME = new Map([
  ['nb', 'no'],
  ['nn', 'no'],
]);

/** Codes for what is unknown, several languages, none, or somebody's own. */
const NO_LANGUAGE = /^(?:und|mul|mis|zxx|q[a-t][a-z])$/;

/**
 * Whether two tags are of different languages for sure: `fr` and `de-AT`, but not `zh` and `cmn-Hans`, which are one. What is no
 * tag, or the name of a language in words, may be any.
 */
export function differ(one: string, other: string): boolean {
  if (primaryOf(one) === primaryOf(other)) return false;
  const [a, b] = [languageCode(one), languageCode(other)];
  return a !== null && b !== null && a !== b;
}

function languageCode(tag: string): string | null {
  const primary = primaryOf(tag.replaceAll('_', '-'));
  if (!/^[a-z]{2,3}$/.test(primary) || NO_LANGUAGE.test(primary)) return null;
  const { language } = new Intl.Locale(primary);
  return SAME.get(language) ?? language;
}

/** The target that a language tag means: the same, or the only one with the same primary language; null: not told. */
export function targetOf(tag: string | null, targets: readonly string[]): string | null {
  if (targets.length === 1) return targets[0] ?? null;
  if (tag === null) return null;
  const wanted = tag.toLowerCase();
  const alike = targets.filter((target) => primaryOf(target) === primaryOf(wanted));
  return (
    targets.find((target) => target.toLowerCase() === wanted) ??
    (alike.length === 1 ? (alike[0] ?? null) : null)
  );
}

export function spokenIn(sentence: Sentence, language: string | null): Spoken {
  const known = sentence.languages.find((one) => one.language === language);
  if (known !== undefined) return known;
  const nothing = { letters: 0, textAt: null, ms: 0, soundAt: null };
  return { language, parts: [], ...nothing, complete: false };
}

export function withSpoken(sentence: Sentence, spoken: Spoken): Sentence {
  const others = sentence.languages.filter(({ language }) => language !== spoken.language);
  return { ...sentence, languages: [...others, spoken] };
}

/** How long a sentence should sound; null: its text is not known. */
function expectedMs({ letters }: Pick<Spoken, 'letters'>, { pace }: Pace): number | null {
  if (letters === 0) return null;
  const learnt = pace.sentences >= SENTENCES_TO_LEARN && pace.letters > 0;
  return letters * (learnt ? pace.ms / pace.letters : MS_PER_LETTER);
}

/** Whether less than half of what the text promises has come. */
export function isShort(spoken: Pick<Spoken, 'letters' | 'ms'>, log: Pace): boolean {
  const expected = expectedMs(spoken, log);
  return expected !== null && spoken.ms < expected * LEAST_SHARE;
}

/** Whether so little of it came that nobody can have understood it: of several parts, none has been said. */
function isStub(spoken: Spoken, log: Pace): boolean {
  const isSaidPart = (part: Part): boolean => part.state === 'over' && part.ms > 0 && !isShort(part, log);
  return isShort(spoken, log) && (spoken.parts.length < 2 || !spoken.parts.some(isSaidPart));
}

/** Whether enough of it came, or all. */
export function isSaid(spoken: Spoken, log: Pace): boolean {
  return (spoken.ms > 0 || spoken.complete) && !isStub(spoken, log);
}

/** The targets in which a sentence has been said. */
export function languagesSaid(sentence: Sentence, log: Pace): readonly string[] {
  return log.targets.filter((target) => isSaid(spokenIn(sentence, target), log));
}

/** Whether a sentence has been said in every language, as far as the service tells languages apart. */
export function allSaid(sentence: Sentence, log: Pace): boolean {
  return isSaid(spokenIn(sentence, null), log) || languagesSaid(sentence, log).length === log.targets.length;
}

/** Whether nothing more of a sentence is to be expected. */
export function isComplete(sentence: Sentence, { targets }: Pace): boolean {
  return spokenIn(sentence, null).complete || targets.every((target) => spokenIn(sentence, target).complete);
}

/** Whether any of a sentence came. */
export function hasSounded({ languages }: Sentence): boolean {
  return languages.some(({ soundAt }) => soundAt !== null);
}

/** Whether some of a sentence came, and it is not known that this was all. */
export function isBegun({ languages }: Sentence): boolean {
  return languages.some(({ soundAt, complete }) => soundAt !== null && !complete);
}

/** Of one language of a sentence: the service speaks it, has written it down or spoken a part of it, and has not begun with the rest. */
function isVoiceOwed(
  { language, letters, parts, soundAt, complete }: Spoken,
  { voices }: ReplayLog,
): boolean {
  const isTold = letters > 0 || parts.some(({ state }) => state === 'settled');
  return isTold && soundAt === null && !complete && voices.some((one) => one.language === (language ?? ''));
}

/** Whether that is so in any language. */
export function owesVoice({ languages }: Sentence, log: ReplayLog): boolean {
  return languages.some((spoken) => isVoiceOwed(spoken, log));
}

/**
 * The voice that has left a sentence out of which a text came. `to come`: it may speak it yet, as where the service speaks what
 * it has written long after. Null: some of it has sounded, or the service is not known to speak the language.
 */
export function missingVoice(spoken: Spoken, { voices }: ReplayLog, now: number): Voice | 'to come' | null {
  const voice = voices.find(({ language }) => language === (spoken.language ?? ''));
  if (spoken.soundAt !== null || voice === undefined) return null;
  const isPassed = spoken.textAt !== null && voice.textAt > spoken.textAt;
  return isPassed || now - voice.soundAt >= UNSPOKEN_AFTER_MS ? voice : 'to come';
}

/** What became of one language of a sentence of which nothing more comes. */
export type Verdict = 'whole' | 'cut' | 'stub';

/** Whether no more sound of a sentence is to be expected, in any language. */
export function isOver(sentence: Sentence, log: Pace, now: number): boolean {
  if (isComplete(sentence, log)) return true;
  return sentence.languages.every(({ soundAt, textAt }) => {
    if (soundAt !== null) return now - soundAt >= CUT_AFTER_MS;
    return textAt === null || now - textAt >= UNSPOKEN_AFTER_MS;
  });
}

/** Judges a language of a sentence that is over; null: nothing is known of it. */
export function judgeSound(spoken: Spoken, log: Pace): Verdict | null {
  if (spoken.soundAt === null) return spoken.letters > 0 ? 'cut' : null;
  if (isStub(spoken, log)) return 'stub';
  return spoken.complete || isLongEnough(spoken, log) ? 'whole' : 'cut';
}

function isLongEnough(spoken: Spoken, log: Pace): boolean {
  // Texts and voices differ; what has marked several ends, in whichever session, and not this one, has cut it.
  if (log.endsMarked >= ENDS_TO_TRUST) return false;
  const expected = expectedMs(spoken, log);
  // The end of another part of it was marked.
  if (expected === null) return spoken.parts.every(({ state }) => state === 'open');
  // A service that never says where a sentence ends has cut it where much of it is missing.
  return spoken.ms >= expected * (log.endsMarked > 0 ? UNMARKED_SHARE : PLAINLY_CUT_SHARE);
}

/** Whether a sentence has begun to sound, and more of it is to be expected. */
export function isUnderWay({ languages }: Sentence, log: Pace): boolean {
  return languages.some(
    (spoken) => spoken.soundAt !== null && !spoken.complete && judgeSound(spoken, log) !== 'whole',
  );
}

/** Judges a language of a sentence whose stream ends now: whether it was cut in the middle. */
export function isCutByEnd({ id }: Sentence, spoken: Spoken, log: ReplayLog, now: number): boolean {
  if (spoken.complete || spoken.soundAt === null || isStub(spoken, log)) return false;
  // A service that says where a sentence ends has not said it here.
  if (log.endsMarked > 0) return true;
  const isUnderWay = now - spoken.soundAt < UNDER_WAY_MS;
  const expected = expectedMs(spoken, log);
  if (expected !== null) return spoken.ms < expected * (isUnderWay ? WHOLE_SHARE : PLAINLY_CUT_SHARE);
  // Without a text of it, it is about as long as what was said; so soon after its last sound more of it may have been to come.
  if (now - spoken.soundAt >= CUT_AFTER_MS) return false;
  return spoken.ms < saidMs(id, spoken, log) * (isUnderWay ? PLAINLY_CUT_SHARE : LEAST_SHARE);
}

/**
 * Whether so little was spoken of what was said that it cannot have been all, where no text tells how long its translation
 * should be.
 */
export function isUntoldCut({ id }: Sentence, spoken: Spoken, log: ReplayLog): boolean {
  if (spoken.complete || spoken.soundAt === null || spoken.letters > 0) return false;
  return spoken.ms < saidMs(id, spoken, log) * SHORTEST_SHARE;
}

/** Length of what was said, without the parts of it that are settled in this language. */
function saidMs(id: string, { language }: Spoken, { pieces }: ReplayLog): number {
  const isSettled = ({ spoken }: Piece): boolean => language !== null && spoken?.includes(language) === true;
  return speechMs(pieces.filter((piece) => piece.sentence === id && !isSettled(piece)));
}

/** What of a sentence came, and how long it should have been: by its text, or else by what was said. */
export function cutOf(id: string, spoken: Spoken, log: ReplayLog): AudioCut {
  return {
    language: spoken.language ?? log.targets.join(','),
    playedMs: Math.round(spoken.ms),
    expectedMs: Math.round(Math.max(spoken.ms, expectedMs(spoken, log) ?? saidMs(id, spoken, log))),
  };
}
