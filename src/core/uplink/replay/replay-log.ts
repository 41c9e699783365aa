import type { BacklogChunk } from '../backlog.ts';
import { isNamelessAwaited, stubOf } from './nameless-cuts.ts';
import { settleBegun } from './parts.ts';
import { isQuiet, isSpeech, isSpeechDespite, maybeSpeech, noisesIn, type Piece, type Span } from './piece.ts';
import {
  EVEN,
  FIRST_TIMES,
  type Interim,
  isNameless,
  isOfWritten,
  type ReplayLog,
  type Spoken,
  type Untranslated,
} from './record.ts';
import { allSaid, isBegun, languagesSaid, owesVoice, spokenIn } from './sentence.ts';
import { addSpeech, NO_SPEECH, type SpeechCount } from './speech-count.ts';

/** A pause this long ends a stretch of speech: longer than the service's own 0.7 s, so that two of ours are never one of its. */
export const PAUSE_MS = 900;
/** Whatever has not been spoken this long after it was said is taken as spoken. */
export const FORGOTTEN_AFTER_MS = 30_000;
/** More is not kept: about as much as the backlog takes back. */
const MOST_PIECES = 90;
/** More stretches of speech are not remembered: minutes of it. */
const MOST_VOICED = 64;

/** @param endsMarked in earlier sessions */
export function emptyReplayLog(targets: readonly string[], endsMarked = 0): ReplayLog {
  return {
    targets,
    pieces: [],
    sentences: [],
    sentMs: 0,
    voiced: [],
    forgottenMs: 0,
    unheard: NO_SPEECH,
    untranslated: [],
    before: { ms: 0, targets },
    quietMs: PAUSE_MS,
    group: 0,
    times: FIRST_TIMES,
    isTold: false,
    interims: [],
    pastInterims: [],
    passedOver: [],
    known: [],
    said: [],
    withdrawn: [],
    voices: [],
    nameless: [],
    balance: EVEN,
    namelessCount: 0,
    soundAt: null,
    isAhead: false,
    aheadMs: 0,
    endsMarked,
    twins: null,
    pace: { sentences: 0, ms: 0, letters: 0 },
  };
}

/** Notes a chunk that went out. */
export function noteSent(log: ReplayLog, chunk: BacklogChunk, chunkMs: number, now: number): ReplayLog {
  const quiet = isQuiet({ chunk });
  const fromMs = log.sentMs;
  const sentMs = fromMs + chunkMs;
  const quietMs = quiet ? log.quietMs + chunkMs : 0;
  if (quiet && log.quietMs >= PAUSE_MS) return forgetOld({ ...log, sentMs, quietMs }, now);
  const group = !quiet && log.quietMs >= PAUSE_MS ? log.group + 1 : log.group;
  const piece: Piece = {
    chunk,
    whole: { fromMs, toMs: sentMs },
    fromMs,
    toMs: sentMs,
    sentAt: now,
    group,
    sentence: null,
  };
  const noted = quiet ? log : withVoiced(log, piece.whole);
  return forgetOld({ ...noted, sentMs, quietMs, group, pieces: [...log.pieces, piece] }, now);
}

function withVoiced(log: ReplayLog, { fromMs, toMs }: Span): ReplayLog {
  const last = log.voiced.at(-1);
  if (last?.toMs === fromMs)
    return { ...log, voiced: [...log.voiced.slice(0, -1), { fromMs: last.fromMs, toMs }] };
  const voiced = [...log.voiced, { fromMs, toMs }];
  if (voiced.length <= MOST_VOICED) return { ...log, voiced };
  return { ...log, voiced: voiced.slice(1), forgottenMs: voiced[0]?.toMs ?? 0 };
}

/** Notes silence of ours in place of captured sound: the service hears the end of what was said before it. */
export function noteSilence(log: ReplayLog, chunkMs: number, now: number): ReplayLog {
  const quietMs = Math.max(PAUSE_MS, log.quietMs + chunkMs);
  return forgetOld({ ...log, sentMs: log.sentMs + chunkMs, quietMs }, now);
}

/** A stretch of speech is forgotten as a whole, so that never the second half of a sentence is said again. */
function forgetOld(log: ReplayLog, now: number): ReplayLog {
  const { pieces } = log;
  const [oldest] = pieces;
  if (oldest === undefined) return log;
  if (now - oldest.sentAt < FORGOTTEN_AFTER_MS && pieces.length <= MOST_PIECES) return log;
  const recent = new Set(
    pieces
      .filter((piece) => !isQuiet(piece) && now - piece.sentAt < FORGOTTEN_AFTER_MS)
      .map(({ group }) => group),
  );
  const kept = pieces.filter(({ group }) => recent.has(group));
  const spare = kept.length - MOST_PIECES;
  const last = kept.at(-1)?.group;
  const until = kept.findIndex(
    ({ group }, index) => index >= spare && (group === last || kept[index - 1]?.group !== group),
  );
  const rest = spare <= 0 ? kept : kept.slice(until);
  const stays = new Set(rest);
  const forgotten = pieces.filter((piece) => !isQuiet(piece) && !stays.has(piece));
  // What has been understood is told as not spoken, in each language by itself.
  const isUnheard = (piece: Piece): boolean => isOwed(log, piece) && !isToldUnspoken(log, piece.sentence);
  const unheard = countSpeech(log, forgotten.filter(isUnheard));
  const left = keepPieces(log, rest);
  const untranslated = [...log.untranslated, ...untranslatedIn(log, stays)];
  // What began to sound, and may have been cut, is still to be judged.
  const sentences = log.sentences.filter((one) => left.sentences.includes(one) || isBegun(one));
  return {
    ...left,
    sentences,
    untranslated,
    interims: withRunningSpeech(log, forgotten),
    unheard: addSpeech(log.unheard, unheard),
  };
}

function isToldUnspoken(log: ReplayLog, id: string | null): boolean {
  return id !== null && (!isNameless(id) || isNamelessAwaited(log));
}

/** Speech that went on behind the last interim text without a pause, and of which nothing came, is of that sentence. */
function withRunningSpeech(log: ReplayLog, forgotten: readonly Piece[]): readonly Interim[] {
  const last = log.interims.at(-1);
  if (last === undefined) return log.interims;
  const own = forgotten.filter(
    (piece) =>
      piece.group === last.group &&
      piece.sentence === null &&
      piece.fromMs >= last.countedMs &&
      isOwed(log, piece),
  );
  const countedMs = own.at(-1)?.toMs ?? last.countedMs;
  const speech = addSpeech(last.speech, countSpeech(log, own));
  return [...log.interims.slice(0, -1), { ...last, speech, countedMs }];
}

/** Sentences that the service has understood, and of which no sound came in a language until they are forgotten. */
function untranslatedIn(log: ReplayLog, stays: ReadonlySet<Piece>): readonly Untranslated[] {
  return log.sentences.flatMap((sentence) => {
    const own = log.pieces.filter((piece) => piece.sentence === sentence.id && !isQuiet(piece));
    const [first] = own;
    // Without a name it is any sentence's sound that speaks it.
    if (first === undefined || isNameless(sentence.id) || own.some((piece) => stays.has(piece))) return [];
    if (own.every(noisesIn(own))) return [];
    const isBefore = first.fromMs < log.before.ms;
    // Of two languages before the change which one was spoken is not known any more.
    if (isBefore && !sentence.languages.every(isUnheardOf)) return [];
    return (isBefore ? log.before : log).targets.flatMap((language) => {
      if (![language, null].every((name) => isUnheardOf(spokenIn(sentence, name)))) return [];
      const missing = own.filter((piece) => !isSaidIn(log, piece, language));
      const ms = missing.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
      return missing.every(noisesIn(missing)) ? [] : [{ language, ms }];
    });
  });
}

function isUnheardOf({ soundAt, complete }: Spoken): boolean {
  return soundAt === null && !complete;
}

function isSaidIn(log: ReplayLog, piece: Piece, language: string): boolean {
  const said = saidIn(log, piece);
  return said === 'all' || said.includes(language);
}

/** Whether it stands for its chunk: the first piece does. */
function isFirst({ fromMs, whole }: Piece): boolean {
  return fromMs === whole.fromMs;
}

/** Counts pieces of a log. */
export function countSpeech(log: ReplayLog, pieces: readonly Piece[]): SpeechCount {
  const sureGroups = new Set(log.pieces.filter(isSpeech).map(({ group }) => group));
  const possible = pieces.filter((piece) => isFirst(piece) && maybeSpeech(piece));
  const likely = possible.filter(({ group }) => sureGroups.has(group));
  return {
    sure: possible.filter(isSpeech).length,
    likely: likely.length,
    possible: possible.length,
    likelySince: beganAt(likely[0]),
    possibleSince: beganAt(possible[0]),
    until: possible.at(-1)?.chunk.capturedAt ?? null,
  };
}

function beganAt(piece: Piece | undefined): number | null {
  return piece === undefined ? null : piece.chunk.capturedAt - (piece.whole.toMs - piece.whole.fromMs);
}

/** The log with these pieces, and without the sentences that have none of them and owe nothing. */
export function keepPieces(log: ReplayLog, pieces: readonly Piece[]): ReplayLog {
  const owed = new Set(pieces.map(({ sentence }) => sentence));
  const gone = new Set(
    log.pieces.map(({ sentence }) => sentence).filter((id) => id !== null && !owed.has(id)),
  );
  const sentences = gone.size === 0 ? log.sentences : log.sentences.filter(({ id }) => !gone.has(id));
  return { ...log, pieces, sentences };
}

/** The stream translates into other languages from now on; what it has said in the ones before is said. */
export function retarget(log: ReplayLog, targets: readonly string[]): ReplayLog {
  const owed = log.pieces.filter((piece) => piece.sentence === null || isOwed(log, piece));
  return { ...keepPieces(log, owed), targets, before: { ms: log.sentMs, targets: log.targets } };
}

/** What would be lost if the stream ended now, oldest first; each chunk with the languages in which it was said. */
export function unspoken(given: ReplayLog): readonly BacklogChunk[] {
  const { log } = settleBegun(given);
  const chunks: BacklogChunk[] = [];
  const owing = new Set<number>();
  let last: Piece[] = [];
  const endChunk = (): void => {
    if (last.length > 0) chunks.push(behind(chunks.at(-1), restOf(last, log)));
    last = [];
  };
  for (const piece of [...stubOf(log).map((one) => ({ ...one, sentence: null })), ...log.pieces]) {
    if (!isOwed(log, piece)) continue;
    // A pause is only worth saying again behind what was said before it.
    if (isQuiet(piece) && !owing.has(piece.group)) continue;
    owing.add(piece.group);
    if (last[0] !== undefined && last[0].chunk.seq !== piece.chunk.seq) endChunk();
    last.push(piece);
  }
  endChunk();
  return chunks;
}

/** Whether anything would be lost if the stream ended now. */
export const owesSpeech = (log: ReplayLog): boolean =>
  log.pieces.some((piece) => !isQuiet(piece) && isOwed(log, piece));

/** Whether the service has written something down that it has not spoken. */
export function owesWritten(log: ReplayLog): boolean {
  return log.pieces.some((piece) => piece.sentence !== null && !isQuiet(piece) && isOwed(log, piece));
}

/** A word begins and ends so far from where a voice detector hears it. */
const AROUND_SPEECH_MS = 960;

/** The log with no more than what a voice detector has taken for speech, or the service has taken for a sentence that it owes. */
export function nearSpeech(log: ReplayLog): ReplayLog {
  const speech = log.pieces.filter((piece) => !isQuiet(piece) && piece.chunk.levels?.isSpeech === true);
  const isNear = ({ fromMs, toMs }: Piece): boolean =>
    speech.some((one) => toMs > one.fromMs - AROUND_SPEECH_MS && fromMs < one.toMs + AROUND_SPEECH_MS);
  const owed = new Set(log.sentences.filter((one) => owesVoice(one, log)).map(({ id }) => id));
  const isKept = (piece: Piece): boolean =>
    isNear(piece) || (piece.sentence !== null && owed.has(piece.sentence));
  return keepPieces(log, log.pieces.filter(isKept));
}

/**
 * Chunks of speech that are owed.
 * @param sentAfter left out: however long ago they were sent
 * @param mistakes how often of late something else was taken for speech: what is left is beyond such a doubt
 */
export function owedSpeechChunks(log: ReplayLog, sentAfter = Number.NEGATIVE_INFINITY, mistakes = 0): number {
  return log.pieces.filter(
    (piece) =>
      isFirst(piece) && isSpeechDespite(piece, mistakes) && piece.sentAt > sentAfter && isOwed(log, piece),
  ).length;
}

/** All speech that is owed. */
export function owedSpeech(log: ReplayLog): SpeechCount {
  return countSpeech(
    log,
    log.pieces.filter((piece) => isOwed(log, piece)),
  );
}

/** The speech that is owed of what was sent between two moments of the stream's audio. */
export function owedSpeechIn(log: ReplayLog, { fromMs, toMs }: Span): SpeechCount {
  const own = log.pieces.filter((piece) => piece.fromMs >= fromMs && piece.fromMs < toMs);
  return countSpeech(
    log,
    own.filter((piece) => isOwed(log, piece)),
  );
}

function isOwed(log: ReplayLog, piece: Piece): boolean {
  if (log.isAhead && piece.sentence === null && piece.toMs <= log.aheadMs) return false;
  const said = saidIn(log, piece);
  return said !== 'all' && !log.targets.every((target) => said.includes(target));
}

/** The languages in which a piece has been said, on this stream or an earlier one. */
function saidIn(log: ReplayLog, piece: Piece): readonly string[] | 'all' {
  const { chunk, spoken, sentence, seam } = piece;
  if (isOfWritten(log, piece)) return chunk.said ?? [];
  const said = [...(chunk.said ?? []), ...(spoken ?? [])];
  for (const id of [seam?.isOfWritten === true ? null : sentence, seam?.next ?? null]) {
    if (id === null) continue;
    const known = log.sentences.find((one) => one.id === id);
    if (known === undefined || allSaid(known, log)) return 'all';
    said.push(...languagesSaid(known, log));
  }
  return said;
}

/** A chunk behind the one that is owed before it. */
function behind(before: BacklogChunk | undefined, chunk: BacklogChunk): BacklogChunk {
  return before === undefined || chunk.seq === before.seq + 1 ? chunk : { ...chunk, apart: true };
}

/** A chunk as it goes to the next stream: what of it is settled is silence. */
function restOf(pieces: readonly Piece[], log: ReplayLog): BacklogChunk {
  const [first] = pieces;
  if (first === undefined) throw new Error('a chunk without a piece');
  const { chunk, whole } = first;
  const said = [...new Set(pieces.flatMap((piece) => saidIn(log, piece)))];
  const told = said.length === 0 ? chunk : { ...chunk, said };
  const toMs = pieces.at(-1)?.toMs ?? whole.toMs;
  if (chunk.pcm === null || (first.fromMs <= whole.fromMs && toMs >= whole.toMs)) return told;
  const { byteLength } = chunk.pcm;
  const pcm = new Uint8Array(byteLength);
  const perMs = byteLength / 2 / (whole.toMs - whole.fromMs);
  const at = (ms: number): number => 2 * Math.round((ms - whole.fromMs) * perMs);
  pcm.set(chunk.pcm.subarray(at(first.fromMs), at(toMs)), at(first.fromMs));
  return { ...told, pcm };
}
