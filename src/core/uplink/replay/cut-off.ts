import type { BacklogChunk } from '../backlog.ts';
import { judgeRuns, runsCutAtEnd } from './nameless-cuts.ts';
import { settleBegun, settleBegunIn } from './parts.ts';
import type { Piece } from './piece.ts';
import type { Part, ReplayLog, Sentence, Spoken } from './record.ts';
import { keepPieces, unspoken } from './replay-log.ts';
import {
  type AudioCut,
  cutOf,
  isCutByEnd,
  isOver,
  isSaid,
  isUntoldCut,
  judgeSound,
  missingVoice,
  spokenIn,
} from './sentence.ts';
import { change, MOST_NAMED, settle } from './spoken.ts';

/** What is to be said once more, and what the owner is to be told. */
export interface Judgement {
  readonly log: ReplayLog;
  readonly again: readonly BacklogChunk[];
  readonly cuts: readonly AudioCut[];
}

/**
 * Judges the translations of which nothing more comes: where less than half of one came, its sentence is said once more. Where
 * nothing came, only if the service has spoken this language, and one sentence at a time: a voice that is gone does not come back by that.
 * @param settledAt what the service has written by then has come, so that nothing of it is on its way any more
 */
export function judgeCuts(given: ReplayLog, settledAt: number): Judgement {
  let log: ReplayLog = given.untranslated.length === 0 ? given : { ...given, untranslated: [] };
  const again: BacklogChunk[] = [];
  const cuts: AudioCut[] = [...untranslatedCuts(given)];
  for (const sentence of given.sentences) {
    if (!isOver(sentence, log, settledAt)) continue;
    const { id, languages } = sentence;
    for (const [index, spoken] of languages.entries()) {
      const verdict = judgeSound(spoken, log);
      if (verdict === null || (verdict === 'whole' && spoken.complete)) continue;
      const voice = missingVoice(spoken, log, settledAt);
      if (voice === 'to come') continue;
      const rest = verdict === 'stub' || voice !== null ? sayAgain(log, id) : null;
      if (rest !== null) {
        again.push(...rest.again);
        const others = languages.slice(index + 1).filter((other) => isCutShort(sentence, other, log));
        cuts.push(...begunCuts(log, id), ...others.map((other) => cutOf(id, other, log)));
        log = { ...rest.log, voices: log.voices.filter((one) => one !== voice) };
        break;
      }
      if (verdict !== 'whole' || isUntoldCut(sentence, spoken, log)) cuts.push(cutOf(id, spoken, log));
      log = judgedOnce(log, id, spoken.language);
    }
    log = settle(log, id);
  }
  const runs = judgeRuns(log, settledAt);
  again.push(...chunksOnceMore(log, runs.again));
  if (runs.nameless !== log.nameless) log = { ...log, nameless: runs.nameless };
  return { log, again, cuts: [...cuts, ...runs.cuts] };
}

/** Whether most of it came and its end did not: it counts as said, and is not said again with another language. */
function isCutShort(sentence: Sentence, spoken: Spoken, log: ReplayLog): boolean {
  if (spoken.soundAt === null) return false;
  return judgeSound(spoken, log) === 'cut' || isUntoldCut(sentence, spoken, log);
}

/** A language of a sentence is judged once and for all, but for the parts that are still to come where the service has told so. */
function judgedOnce(log: ReplayLog, id: string, language: string | null): ReplayLog {
  const { log: rest } = settleBegunIn(log, id, language);
  return rest === log ? change(log, id, language, judged) : rest;
}

function judged(spoken: Spoken): Spoken {
  const parts = spoken.parts.map((part): Part => ({ ...part, letters: 0, state: 'over' }));
  return { ...spoken, parts, complete: true, letters: 0 };
}

/** What came of the parts of a sentence that are not said once more with it. */
function begunCuts(log: ReplayLog, id: string): readonly AudioCut[] {
  const { begun } = settleBegun(log);
  return begun.filter((one) => one.id === id).map(({ spoken }) => cutOf(id, spoken, log));
}

function untranslatedCuts({ untranslated }: ReplayLog): readonly AudioCut[] {
  return untranslated.map(({ language, ms }) => ({ language, playedMs: 0, expectedMs: Math.round(ms) }));
}

function chunksOnceMore(log: ReplayLog, pieces: readonly Piece[]): readonly BacklogChunk[] {
  const open = pieces.map((piece) => ({ ...piece, sentence: null }));
  return unspoken({ ...log, pieces: open, nameless: [] }).map((chunk) => ({
    ...chunk,
    again: true,
  }));
}

/**
 * Takes a sentence out of the log; null where it was said once more before, or is not known any more. Where it was cut off
 * in running speech its end may be the beginning of the next one, which this stream is still to speak: it stays with that.
 */
function sayAgain(log: ReplayLog, id: string): { log: ReplayLog; again: readonly BacklogChunk[] } | null {
  const own = log.pieces.filter(({ sentence, seam }) => sentence === id && seam === undefined);
  if (own.length === 0 || own.some(({ chunk }) => chunk.again === true)) return null;
  const again = unspoken({ ...log, pieces: own }).map((chunk) => ({ ...chunk, again: true }));
  if (again.length === 0) return null;
  const others = log.pieces.flatMap((piece): readonly Piece[] => {
    if (piece.sentence !== id) return [piece];
    const { seam, ...rest } = piece;
    return seam === undefined ? [] : [{ ...rest, sentence: seam.next }];
  });
  const withdrawn = [...log.withdrawn, id].slice(-MOST_NAMED);
  return { again, log: { ...keepPieces(log, others), withdrawn } };
}

/**
 * The translations that the end of a stream has cut, and that are not said again.
 * @param isLast nothing that the stream has left is said again, as where it ends in order
 */
export function cutsAtEnd(log: ReplayLog, now: number, isLast = false): readonly AudioCut[] {
  return [...untranslatedCuts(log), ...namedCuts(log, now, isLast), ...runsCutAtEnd(log, now, isLast)];
}

function namedCuts(log: ReplayLog, now: number, isLast: boolean): readonly AudioCut[] {
  return log.sentences.flatMap((sentence) => {
    const { id, languages } = sentence;
    // What was said too long ago is not said again, however little of it came.
    const isGone = isLast || !log.pieces.some(({ sentence }) => sentence === id);
    const isUnspoken = (spoken: Spoken): boolean =>
      spoken.soundAt === null && judgeSound(spoken, log) === 'cut';
    const isCut = (spoken: Spoken): boolean =>
      isCutByEnd(sentence, spoken, log, now) ||
      isUntoldCut(sentence, spoken, log) ||
      (isGone && (judgeSound(spoken, log) === 'stub' || isUnspoken(spoken)));
    const cuts = languages.filter(isCut).map((spoken) => cutOf(id, spoken, log));
    return isGone ? cuts : [...cuts, ...begunCuts(log, id)];
  });
}

/**
 * The translations that the owner's word has cut. Nothing is said again: where next to nothing of one came, that is told as a cut in
 * each language, and its sentence is owed no more.
 * @returns `log` without such sentences
 */
export function cutsByStop(
  log: ReplayLog,
  now: number,
): { readonly log: ReplayLog; readonly cuts: readonly AudioCut[] } {
  const isStub = (spoken: Spoken): boolean => spoken.soundAt !== null && judgeSound(spoken, log) === 'stub';
  const begun = log.sentences.filter(({ languages }) => languages.some(isStub));
  const ids = new Set<string | null>(begun.map(({ id }) => id));
  const rest = keepPieces(
    { ...log, sentences: log.sentences.filter((one) => !begun.includes(one)) },
    log.pieces.filter(({ sentence }) => !ids.has(sentence)),
  );
  const stubs = begun.flatMap((sentence) => {
    const unsaid = inEachLanguage(sentence, log).filter((spoken) => isStub(spoken) || !isSaid(spoken, log));
    return unsaid.map((spoken) => cutOf(sentence.id, spoken, log));
  });
  const named = [...untranslatedCuts(rest), ...namedCuts(rest, now, false)];
  return { log: rest, cuts: [...stubs, ...named, ...runsCutAtEnd(rest, now, true)] };
}

/** A sentence in each language in which it was to be said, as far as the service tells languages apart. */
function inEachLanguage(sentence: Sentence, { targets }: ReplayLog): readonly Spoken[] {
  const any = sentence.languages.find(({ language }) => language === null);
  return any === undefined ? targets.map((target) => spokenIn(sentence, target)) : [any];
}
