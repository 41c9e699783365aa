/** One conversation at a desk, from the first word to the end. The record contains no text of the conversation. */

export type BegunBy = 'voice' | 'key' | 'touch' | 'command';

export interface Conversation {
  readonly begunBy: BegunBy;
  readonly startedAt: number;
  /** Time of the last speech or action at the desk. */
  readonly activeAt: number;
  /** Stream time of the desk's lanes when the conversation began (ms). */
  readonly billedMs: number;
  readonly sentences: number;
  /** Languages that were spoken or heard, in the order of their first use. */
  readonly languages: readonly string[];
  /** Sentences whose translation has not begun to play, oldest first. */
  readonly awaited: readonly AwaitedSentence[];
  /** Delays from the end of a sentence to its translation, for the latest sentences (ms). */
  readonly delays: readonly number[];
}

interface AwaitedSentence {
  /** The service's id; null: it sends none. */
  readonly id: string | null;
  /** When the sentence's last word was heard. */
  readonly endedAt: number;
}

/** Maximum number of delays kept: enough for a median. */
const MOST_DELAYS = 512;
/** Maximum number of awaited sentences: those that the service never speaks must not pile up. */
const MOST_AWAITED = 16;
/** Maximum number of languages: more are recognition errors of the service. */
const MOST_LANGUAGES = 16;

export function beginConversation(begunBy: BegunBy, now: number, billedMs: number): Conversation {
  return {
    begunBy,
    startedAt: now,
    activeAt: now,
    billedMs,
    sentences: 0,
    languages: [],
    awaited: [],
    delays: [],
  };
}

/** Notes speech or an action at the desk. */
export function noteActivity(talk: Conversation, at: number): Conversation {
  return at <= talk.activeAt ? talk : { ...talk, activeAt: at };
}

/** Notes a language that was spoken or heard. */
export function noteLanguage(talk: Conversation, language: string): Conversation {
  const { languages } = talk;
  if (languages.includes(language) || languages.length >= MOST_LANGUAGES) return talk;
  return { ...talk, languages: [...languages, language] };
}

/** Notes a sentence that the service has transcribed completely. */
export function noteSentence(
  talk: Conversation,
  { id, language, endedAt }: AwaitedSentence & { readonly language: string },
): Conversation {
  const awaited = [...talk.awaited, { id, endedAt }].slice(-MOST_AWAITED);
  return { ...noteLanguage(talk, language), sentences: talk.sentences + 1, awaited };
}

/** Notes that sound of a sentence is heard from this moment. Only its first sound counts. */
export function noteSound(talk: Conversation, id: string | null, heardAt: number): Conversation {
  const at = talk.awaited.findIndex((sentence) => sentence.id === id);
  const sentence = talk.awaited[at];
  if (sentence === undefined) return talk;
  const delays = [...talk.delays, Math.max(0, heardAt - sentence.endedAt)].slice(-MOST_DELAYS);
  return { ...talk, awaited: talk.awaited.slice(at + 1), delays };
}

/** The fields of the event at the end of the conversation. */
export function summarize(talk: Conversation, now: number, billedMs: number) {
  return {
    duration_s: inSeconds(now - talk.startedAt),
    languages: talk.languages,
    sentences: talk.sentences,
    delay_ms: median(talk.delays),
    billed_s: inSeconds(billedMs - talk.billedMs),
  };
}

const inSeconds = (ms: number): number => Math.round(ms / 100) / 10;

function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  const lower = sorted.length % 2 === 1 ? upper : (sorted[half - 1] ?? 0);
  return Math.round((lower + upper) / 2);
}
