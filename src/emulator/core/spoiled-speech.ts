import type { StreamFault } from './fault.ts';
import type { OutMessage, SpokenPart } from './outbox.ts';

/** What is done to the next this many pieces of speech; `cut` counts sentences. */
export interface SpeechImpairments {
  reorder: number;
  omitLast: number;
  duplicate: number;
  lose: number;
  cut: number;
}

type CutOrder = StreamFault & { kind: 'cut_speech' };

/** Lets speech through as faults order: chunks late, twice or not at all, sentences cut off. */
export interface SpeechSpoiler {
  readonly impairments: SpeechImpairments;
  cut(order: CutOrder): void;
  /** @param go sends what remains of a chunk, in the order of the calls */
  pass(message: OutMessage, go: (message: OutMessage) => void): void;
  /** Forgets a chunk that waits to change places with its neighbour. */
  dropHeld(): void;
  /** Forgets all orders. */
  reset(): void;
}

/** One order to cut, with the sentences that it has hit. */
interface Cut {
  readonly order: CutOrder;
  readonly sentences: Set<string>;
}

/** What of one sentence in one language has been let through. */
interface Voiced {
  sentMs: number;
  isOver: boolean;
}

/** Cuts whose sentences are all over and that nothing can be about any more. */
const MOST_CUTS = 50;
/** Sentences that are being spoken at a time, in all languages. */
const MOST_VOICED = 50;

/** The first `ms` of a chunk, in whole sample frames of up to two channels. */
function beginning(message: OutMessage, ms: number, wholeMs: number): Uint8Array {
  const pcm = message.pcm ?? new Uint8Array(0);
  const bytes = wholeMs > 0 ? Math.floor((pcm.byteLength * ms) / wholeMs / 4) * 4 : 0;
  return pcm.subarray(0, Math.max(0, bytes));
}

export function createSpeechSpoiler(): SpeechSpoiler {
  const impairments: SpeechImpairments = { reorder: 0, omitLast: 0, duplicate: 0, lose: 0, cut: 0 };
  let heldBack: OutMessage | null = null;
  let cuts: Cut[] = [];
  const voicedOf = new Map<string, Voiced>();

  /** The order that a sentence in a language falls under. */
  const cutOf = ({ sentence, language }: SpokenPart): CutOrder | null => {
    for (const { order, sentences } of cuts) {
      if (order.language !== undefined && order.language !== language) continue;
      if (sentences.has(sentence)) return order;
      if (sentences.size >= order.times) continue;
      sentences.add(sentence);
      impairments.cut--;
      return order;
    }
    return null;
  };

  /** What a cut leaves of a chunk; null for nothing. */
  const shorten = (message: OutMessage): OutMessage | null => {
    const part = message.spoken;
    if (part === undefined) return message;
    const key = `${part.sentence} ${part.language}`;
    const voiced = voicedOf.get(key) ?? { sentMs: 0, isOver: false };
    voicedOf.set(key, voiced);
    if (voicedOf.size > MOST_VOICED) voicedOf.delete(voicedOf.keys().next().value ?? '');
    const order = cutOf(part);
    const { sentMs } = voiced;
    voiced.sentMs += part.ms;
    if (order === null || voiced.sentMs < order.ms || (part.isLast && voiced.sentMs === order.ms))
      return message;
    if (voiced.isOver) return null;
    voiced.isOver = true;
    const pcm = beginning(message, Math.max(0, order.ms - sentMs), part.ms);
    if (pcm.byteLength === 0 && !order.last_chunk) return null;
    const data = 'last_chunk' in message.data ? { last_chunk: order.last_chunk } : {};
    return { ...message, pcm, data: { ...message.data, ...data } };
  };

  return {
    impairments,
    cut(order) {
      cuts.push({ order, sentences: new Set() });
      impairments.cut += order.times;
      if (cuts.length > MOST_CUTS) cuts.shift();
    },
    pass(given, go) {
      const message = shorten(given);
      if (message === null) return;
      const last = message.data['last_chunk'] === true;
      if (impairments.lose > 0) {
        impairments.lose--;
        return;
      }
      if (impairments.reorder > 0 && heldBack === null && !last) {
        heldBack = message;
        return;
      }
      if (last && impairments.omitLast > 0) {
        impairments.omitLast--;
        go({ ...message, data: { ...message.data, last_chunk: false } });
      } else {
        go(message);
      }
      if (heldBack !== null) {
        impairments.reorder--;
        const late = heldBack;
        heldBack = null;
        go(late);
      }
      if (impairments.duplicate > 0) {
        impairments.duplicate--;
        go(message);
      }
    },
    dropHeld() {
      heldBack = null;
    },
    reset() {
      Object.assign(impairments, { reorder: 0, omitLast: 0, duplicate: 0, lose: 0, cut: 0 });
      cuts = [];
    },
  };
}
