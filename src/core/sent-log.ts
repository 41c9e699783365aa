import type { HeldChunk } from './hold.ts';

/**
 * What a stream has been sent and has not yet turned into speech. When a stream breaks off, this is
 * what the service will never finish: it goes back into the hold and to the next stream. It leans
 * towards forgetting, because a sentence that is said twice is worse than a short one that is missed.
 */
export interface SentLog {
  /** Stretches of speech with the pauses in them, oldest first. */
  readonly sentences: readonly Sentence[];
  /** The service says what it has understood; one that never does is judged by what it says. */
  readonly isTold: boolean;
  /** The service's names for what it has understood last. */
  readonly known: readonly string[];
  /** When the last sound without a name came. */
  readonly soundAt: number | null;
  /** Sound without a name came of a sentence that the service had not yet said to have understood. */
  readonly isAhead: boolean;
}

interface Sentence {
  readonly chunks: readonly HeldChunk[];
  /** Pause chunks in a row at its end. */
  readonly quietRun: number;
  /** When its last voiced chunk was sent. */
  readonly spokenAt: number;
  /** The service has understood it (its `validated_transcription` has come). */
  readonly understood: boolean;
  /** The service's name for it, where it gives one. */
  readonly id: string | null;
}

export const EMPTY_LOG: SentLog = { sentences: [], isTold: false, known: [], soundAt: null, isAhead: false };

/** A pause this long ends a sentence: longer than the service's own 0.7 s, so that two of ours are never one of its. */
const SENTENCE_PAUSE_CHUNKS = 3;
/** Whatever has not been spoken so long after it was said is taken as spoken. */
export const FORGOTTEN_AFTER_MS = 30_000;
/** Word of a sentence comes within so much after the pause that ended it: the service's longest threshold (2 s) and its delay. */
const PROMPT_CHUNKS = 8;
/** The same, counted from the last of what was said. */
const PROMPT_MS = 3500;
/** A sentence that ran on without a pause that we could hear is understood up to about so long ago. */
const BEHIND_CHUNKS = 4;
/** What is this much lower than the loudest of a sentence can be its pause in a room too loud for us to be sure. */
const HUSH_DB = 4;
/** The quietest frame of a chunk is this much lower than usual: a pause that began, or one too short to fill a chunk. */
const DIP_DB = 10;
/** Levels of one and the same room differ by so much. */
const ALIKE_DB = 2;
/** Sound without a name that comes so long after the last is of another sentence. */
const OTHER_SOUND_MS = 1000;
/** More is not kept: about as much as the hold takes back. */
const MOST_CHUNKS = 90;

function isOpen(sentence: Sentence | undefined): sentence is Sentence {
  return sentence !== undefined && !sentence.understood && sentence.quietRun < SENTENCE_PAUSE_CHUNKS;
}

function prune(log: SentLog, sentences: readonly Sentence[], now: number): SentLog {
  const recent = sentences.filter(({ spokenAt }) => now - spokenAt < FORGOTTEN_AFTER_MS);
  let size = recent.reduce((sum, { chunks }) => sum + chunks.length, 0);
  while (size > MOST_CHUNKS && recent.length > 1) size -= recent.shift()?.chunks.length ?? 0;
  const [only] = recent;
  if (size > MOST_CHUNKS && only !== undefined) {
    return { ...log, sentences: [{ ...only, chunks: only.chunks.slice(-MOST_CHUNKS) }] };
  }
  return { ...log, sentences: recent };
}

/** Notes a chunk that went out. */
export function noteSent(log: SentLog, chunk: HeldChunk, now: number): SentLog {
  const voiced = chunk.pcm !== null && chunk.voiced;
  const last = log.sentences.at(-1);
  const before = log.sentences.slice(0, -1);
  if (!isOpen(last)) {
    if (!voiced) return prune(log, log.sentences, now);
    const sentence = { chunks: [chunk], quietRun: 0, spokenAt: now, understood: false, id: null };
    return prune(log, [...log.sentences, sentence], now);
  }
  const longer: Sentence = {
    ...last,
    chunks: [...last.chunks, chunk],
    quietRun: voiced ? 0 : last.quietRun + 1,
    spokenAt: voiced ? now : last.spokenAt,
  };
  return prune(log, [...before, longer], now);
}

/** Notes silence of ours in place of captured sound: the service hears the end of what was said before it. */
export function noteSilence(log: SentLog, now: number): SentLog {
  const pruned = prune(log, log.sentences, now);
  const { sentences } = pruned;
  const last = sentences.at(-1);
  if (!isOpen(last)) return pruned;
  return { ...pruned, sentences: sentences.with(-1, { ...last, quietRun: SENTENCE_PAUSE_CHUNKS }) };
}

/** Whether a chunk lets a service hear a pause. */
function isQuiet({ pcm, voiced }: HeldChunk): boolean {
  return pcm === null || !voiced;
}

/** How much of a sentence a service can have understood: up to its last pause, or to its own threshold and delay ago. */
function understoodLength({ chunks, quietRun }: Sentence, isNext: boolean): number {
  if (quietRun > 0) return chunks.length;
  const lastPause = chunks.findLastIndex(isQuiet);
  const isRecent = chunks.length - lastPause <= PROMPT_CHUNKS;
  if (lastPause >= 0 && (isRecent || !isNext)) return lastPause + 1;
  // Word of a pause so long ago would have come by now: the service has found another one since.
  if (lastPause >= 0) return lastPause + 1 + (dipEnd(chunks.slice(lastPause + 1)) ?? 0);
  if (!isNext) return 0;
  return hushEnd(chunks) ?? Math.max(dipEnd(chunks) ?? 0, chunks.length - BEHIND_CHUNKS);
}

/** The service has heard a pause where we could not be sure of one: it ends with the last chunk that stands out as quiet. */
function hushEnd(chunks: readonly HeldChunk[]): number | null {
  const loudest = chunks.map(({ levels }) => levels?.loudestDb ?? 0);
  return lastLow(loudest, Math.max(...loudest) - HUSH_DB);
}

/** Where a service cuts a long sentence at a pause too short to fill a chunk: at the last of the deepest dips. */
function dipEnd(chunks: readonly HeldChunk[]): number | null {
  const quietest = chunks.map(({ levels }) => levels?.quietestDb ?? 0);
  const usual = quietest.toSorted((one, other) => one - other)[chunks.length >> 1] ?? 0;
  return lastLow(quietest, usual - DIP_DB);
}

/** One after the last of those levels that are about as low as the lowest one, where that is low enough. */
function lastLow(levels: readonly number[], enough: number): number | null {
  const lowest = Math.min(...levels);
  if (lowest > enough) return null;
  return levels.findLastIndex((level) => level <= lowest + ALIKE_DB) + 1;
}

/** So many sentences are under way at most: said, understood, and not spoken to their end. */
const MOST_KNOWN = 16;

/** The service has understood a sentence: everything of ours that has had a pause after it is its, or older. */
export function noteUnderstood(log: SentLog, id: string | null): SentLog {
  return markUnderstood(log.isTold ? log : { ...log, isTold: true }, id);
}

/** A translation has come as text: a service that does not say what it has understood has understood that. */
export function noteTranslated(log: SentLog, id: string | null): SentLog {
  return log.isTold ? log : markUnderstood(log, id);
}

/** Each name counts once: word of a sentence can come behind its sound. */
function markUnderstood(log: SentLog, id: string | null): SentLog {
  if (id !== null && log.known.includes(id)) return log;
  const known = id === null ? log.known : [...log.known, id].slice(-MOST_KNOWN);
  const sentences = withUnderstood(log.sentences, id);
  if (!log.isAhead) return { ...log, known, sentences };
  return { ...log, known, isAhead: false, sentences: sentences.filter(({ understood }) => !understood) };
}

function withUnderstood(sentences: readonly Sentence[], id: string | null): readonly Sentence[] {
  const spokenAt = sentences.at(-1)?.spokenAt ?? 0;
  // What has been waiting for its word for longer than that was no sentence to the service.
  const next = sentences.find((one) => !one.understood && spokenAt - one.spokenAt < PROMPT_MS);
  return sentences.flatMap((sentence) => {
    if (sentence.understood) return [sentence];
    const length = understoodLength(sentence, sentence === next);
    const said = { ...sentence, chunks: sentence.chunks.slice(0, length), understood: true, id };
    const rest = { ...sentence, chunks: sentence.chunks.slice(length) };
    return [said, rest].filter(({ chunks }) => chunks.length > 0);
  });
}

/** Translated sound has come: what it says is done. Without a name it is for everything that was understood, or will be next. */
export function noteSpoken(given: SentLog, id: string | null, now: number): SentLog {
  const log = id === null ? noteNameless(given, now) : given;
  // What is spoken has been understood, whether or not the service has said so by now.
  const isSilent = !log.isTold && !log.sentences.some(({ understood }) => understood);
  const told = id !== null || isSilent ? markUnderstood(log, id) : log;
  return {
    ...told,
    sentences: told.sentences.filter(
      (sentence) => !sentence.understood || (id !== null && sentence.id !== null && sentence.id !== id),
    ),
  };
}

/** Word of a sentence can come behind its sound. */
function noteNameless(log: SentLog, now: number): SentLog {
  const isOther = log.soundAt === null || now - log.soundAt >= OTHER_SOUND_MS;
  const isAwaited = log.sentences.some(({ understood }) => understood);
  const isAhead = isOther ? log.isTold && !isAwaited && log.sentences.length > 0 : log.isAhead;
  return { ...log, soundAt: now, isAhead };
}

/** What would be lost if the stream ended now, oldest first. */
export function unspoken(log: SentLog): readonly HeldChunk[] {
  return log.sentences.flatMap(({ chunks }) => chunks);
}
