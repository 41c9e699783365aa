import type { StreamFault } from './fault.ts';
import type { OutMessage, SpokenPart } from './outbox.ts';

type CutOrder = StreamFault & { kind: 'cut_speech' };

/** Changes outgoing speech as faults request: cuts sentences off, or removes the `last_chunk`. */
export interface SpeechFaults {
  cut(order: CutOrder): void;
  /** The next `times` sentences end without `last_chunk`. */
  omitLast(times: number): void;
  /** @returns the message to send; null when a cut removes it */
  apply(message: OutMessage): OutMessage | null;
  /** Cancels all ordered faults. */
  reset(): void;
}

/** One ordered cut, and the sentences that it has affected. */
interface Cut {
  readonly order: CutOrder;
  readonly sentences: Set<string>;
}

/** How much speech of one sentence in one language has been sent. */
interface Passed {
  sentMs: number;
  isOver: boolean;
}

/** Maximum number of ordered cuts that are kept. */
const MOST_CUTS = 50;
/** Maximum number of sentences that are spoken at the same time, in all languages. */
const MOST_SENTENCES = 50;

/** The first `ms` of a chunk, in whole sample frames of up to two channels. */
function beginning(message: OutMessage, ms: number, wholeMs: number): Uint8Array {
  const pcm = message.pcm ?? new Uint8Array(0);
  const bytes = wholeMs > 0 ? Math.floor((pcm.byteLength * ms) / wholeMs / 4) * 4 : 0;
  return pcm.subarray(0, Math.max(0, bytes));
}

export function createSpeechFaults(): SpeechFaults {
  let cuts: Cut[] = [];
  let omissions = 0;
  const passedOf = new Map<string, Passed>();

  /** The ordered cut that applies to a sentence in a language. */
  const cutOf = ({ sentence, language }: SpokenPart): CutOrder | null => {
    for (const { order, sentences } of cuts) {
      if (order.language !== undefined && order.language !== language) continue;
      if (sentences.has(sentence)) return order;
      if (sentences.size >= order.times) continue;
      sentences.add(sentence);
      return order;
    }
    return null;
  };

  /** The part of a chunk that remains after a cut; null: nothing. */
  const shorten = (message: OutMessage): OutMessage | null => {
    const part = message.spoken;
    if (part === undefined) return message;
    const key = `${part.sentence} ${part.language}`;
    const passed = passedOf.get(key) ?? { sentMs: 0, isOver: false };
    passedOf.set(key, passed);
    if (passedOf.size > MOST_SENTENCES) passedOf.delete(passedOf.keys().next().value ?? '');
    const order = cutOf(part);
    const { sentMs } = passed;
    passed.sentMs += part.ms;
    if (order === null || passed.sentMs < order.ms || (part.isLast && passed.sentMs === order.ms))
      return message;
    if (passed.isOver) return null;
    passed.isOver = true;
    const pcm = beginning(message, Math.max(0, order.ms - sentMs), part.ms);
    if (pcm.byteLength === 0 && !order.last_chunk) return null;
    const data = 'last_chunk' in message.data ? { last_chunk: order.last_chunk } : {};
    return { ...message, pcm, data: { ...message.data, ...data } };
  };

  return {
    cut(order) {
      cuts.push({ order, sentences: new Set() });
      if (cuts.length > MOST_CUTS) cuts.shift();
    },
    omitLast(times) {
      omissions += times;
    },
    apply(given) {
      const message = shorten(given);
      if (message === null || omissions === 0 || message.data['last_chunk'] !== true) return message;
      omissions--;
      return { ...message, data: { ...message.data, last_chunk: false } };
    },
    reset() {
      omissions = 0;
      cuts = [];
    },
  };
}
