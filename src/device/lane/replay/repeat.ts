import type { BacklogChunk } from '../uplink/backlog.ts';
import { MOST_KNOWN } from './claims.ts';
import { addUnspoken, unspokenOf } from './missing.ts';
import { owedChunks } from './owed.ts';
import type { ReplayLog, Sentence, Spoken } from './record.ts';
import { keepPieces } from './replay-log.ts';
import { CUT_AFTER_MS, ENDS_TO_TRUST, isOver, isShort, lacksPart } from './sentence.ts';
import { changeSpoken, settle } from './spoken.ts';

/** Longest time (ms) from the text of a translation to its sound. */
const SOUND_AFTER_MS = 20_000;

/** Result of rule 12 on an open stream. */
export interface Repeat {
  readonly log: ReplayLog;
  /** Chunks to send again. */
  readonly again: readonly BacklogChunk[];
}

/**
 * Rule 12: sends a sentence again, once, if less than half of its sound came. A sentence without any sound is sent again only
 * if its language is spoken at all. Other missing sound is counted.
 * @param settledAt all messages that were written before this moment have arrived
 */
export function repeatCutSentences(given: ReplayLog, settledAt: number): Repeat {
  let log = given;
  const again: BacklogChunk[] = [];
  for (const sentence of given.sentences) {
    const cut = sentence.languages.filter((spoken) => isCut(sentence, spoken, log, settledAt));
    if (cut.length === 0) continue;
    const isRepeatable = cut.some((spoken) => isWorthRepeating(sentence, spoken, log));
    const repeat = isRepeatable ? withdraw(log, sentence.id) : null;
    if (repeat !== null) again.push(...repeat.again);
    log = repeat?.log ?? giveUp(log, sentence, cut);
  }
  return { log, again };
}

/** Whether a sentence is incomplete in a language, and no more of its sound will arrive. */
function isCut(sentence: Sentence, spoken: Spoken, log: ReplayLog, now: number): boolean {
  const { soundAt, textAt } = spoken;
  const isDone = isOver(spoken);
  if (soundAt === null) {
    // A service that has sent no sound since the text may still start to speak this sentence.
    const isPassedBy = textAt !== null && log.voices.some((voice) => voice.soundAt > textAt);
    return isPassedBy && !isDone && now - textAt >= SOUND_AFTER_MS;
  }
  if (!isDone && now - soundAt < CUT_AFTER_MS) return false;
  if (isShort(spoken, log) || (!isDone && log.endsMarked >= ENDS_TO_TRUST)) return true;
  return lacksPart(sentence, spoken, log) && now - soundAt >= SOUND_AFTER_MS;
}

function isWorthRepeating(sentence: Sentence, spoken: Spoken, log: ReplayLog): boolean {
  const { soundAt, textAt, language } = spoken;
  if (soundAt !== null) return isShort(spoken, log) || lacksPart(sentence, spoken, log);
  return log.voices.some((voice) => voice.language === language && voice.soundAt > (textAt ?? 0));
}

/** Takes a sentence out of the log; null: it was repeated before, or no speech is known that belongs to it alone. */
function withdraw(log: ReplayLog, id: string): Repeat | null {
  const own = log.pieces.filter(({ claims }) => claims.length === 1 && claims[0] === id);
  if (own.some(({ chunk }) => chunk.again === true)) return null;
  const again = owedChunks({ ...log, pieces: own }).map((chunk) => ({ ...chunk, again: true }));
  if (again.length === 0) return null;
  const withdrawn = [...log.withdrawn, id].slice(-MOST_KNOWN);
  return {
    again,
    log: {
      ...keepPieces(
        log,
        log.pieces.filter((piece) => !own.includes(piece)),
      ),
      withdrawn,
    },
  };
}

/** Counts a sentence's missing speech, and marks the sentence as finished in these languages. */
function giveUp(log: ReplayLog, { id }: Sentence, cut: readonly Spoken[]): ReplayLog {
  const languages = cut.map(({ language }) => language);
  const own = log.pieces.filter(({ claims }) => claims.includes(id));
  const missing = unspokenOf(log, own).filter(
    (one) => languages.includes(one.language) || languages.includes(null),
  );
  const ended = languages.reduce(
    (next, language) => changeSpoken(next, id, language, finished),
    addUnspoken(log, missing),
  );
  return settle(ended, id);
}

const NO_TEXT = { letters: 0, span: null, over: true };

function finished(spoken: Spoken): Spoken {
  const [first = { id: null, ms: 0 }] = spoken.parts;
  const parts = spoken.parts.length > 0 ? spoken.parts : [{ ...first, ...NO_TEXT }];
  return { ...spoken, parts: parts.map((part) => ({ ...part, ...NO_TEXT })) };
}
