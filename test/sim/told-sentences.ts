/** When the device was first told of each sentence: of a service without times that is all by which it can know what was said. */

/** A transcript of a sentence, as it reached the device. */
export interface Word {
  readonly kind: string;
  readonly language: string;
  /** The service's name for it; null: it gives none. */
  readonly sentence: string | null;
  /** It tells which seconds of the stream it covers. */
  readonly timed: boolean;
  /** These, in milliseconds of the stream. */
  readonly span?: ToldSpan | null;
}

interface ToldSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a piece of sound says. */
export interface Rendered {
  /** The service's own name, whether or not it tells it. */
  readonly sentence: string;
  readonly language: string;
}

export interface ToldSentences {
  rendered(connection: number, rendering: Rendered, ticks: readonly number[]): void;
  word(connection: number, word: Word, now: number): void;
  /** @param isNamed the service has told whose sound that is */
  sound(ticks: readonly number[], isNamed: boolean, now: number): void;
  /** When its text, or any sound of it, came first; infinite: never. */
  at(ticks: readonly number[]): number;
  /** A text of its translation has come. */
  isWritten(ticks: readonly number[]): boolean;
  /** One has, with times that tell which seconds it translates. */
  isPlaced(ticks: readonly number[]): boolean;
  /** Its times were told. */
  isTimed(ticks: readonly number[]): boolean;
  /** Which, as they were told last; null: none. */
  spanOf(ticks: readonly number[]): ToldSpan | null;
  /** It was the last that sounded on its connection, without a name, and its text never came. */
  isUntold(ticks: readonly number[]): boolean;
  /** It was one part of its sentence, and of another one no sound has come. */
  lacksAnotherPart(ticks: readonly number[]): boolean;
  connectionOf(ticks: readonly number[]): number | undefined;
}

interface Place extends Rendered {
  readonly connection: number;
}

const MOST_CONNECTIONS = 100;

export function createToldSentences(): ToldSentences {
  const places = new WeakMap<readonly number[], Place>();
  /** The parts of each sentence in each language. */
  const partsOf = new Map<string, readonly (readonly number[])[]>();
  const sounded = new WeakSet<readonly number[]>();
  /** The sentences of each connection, in their order. */
  const inOrder = new Map<number, string[]>();
  /** How many texts without a name came on each, of each kind. */
  const counts = new Map<string, number>();
  const textAt = new Map<string, number>();
  const soundAt = new Map<string, number>();
  const [written, placed, timed] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const spans = new Map<string, ToldSpan>();
  const lastSound = new Map<number, { readonly sentence: string; readonly isNamed: boolean }>();
  const nameOf = ({ sentence, language }: Rendered): string => `${sentence} ${language}`;
  const partsIn = (one: Rendered): readonly (readonly number[])[] => partsOf.get(nameOf(one)) ?? [];
  const orderOf = (connection: number): string[] => {
    const known = inOrder.get(connection) ?? [];
    inOrder.set(connection, known);
    if (inOrder.size > MOST_CONNECTIONS) inOrder.delete(inOrder.keys().next().value ?? 0);
    return known;
  };
  /** A text without a name is of the next sentence of which none of that kind came. */
  const sentenceOf = (connection: number, { kind, language, sentence }: Word): string | undefined => {
    if (sentence !== null) return sentence;
    const key = `${connection} ${kind} ${language}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return orderOf(connection)[count];
  };
  const first = (of: Map<string, number>, sentence: string, now: number): void => {
    if (!of.has(sentence)) of.set(sentence, now);
  };

  return {
    rendered(connection, { sentence, language }, ticks) {
      const place = { connection, sentence, language };
      places.set(ticks, place);
      partsOf.set(nameOf(place), [...partsIn(place), ticks]);
      const known = orderOf(connection);
      if (!known.includes(sentence)) known.push(sentence);
    },
    word(connection, word, now) {
      const sentence = sentenceOf(connection, word);
      if (sentence === undefined) return;
      first(textAt, sentence, now);
      if (word.kind === 'translated_transcription') {
        written.add(sentence);
        if (word.timed) placed.add(sentence);
      }
      if (word.timed) timed.add(sentence);
      if (word.span != null) spans.set(sentence, word.span);
    },
    sound(ticks, isNamed, now) {
      const place = places.get(ticks);
      if (place === undefined) return;
      sounded.add(ticks);
      first(soundAt, place.sentence, now);
      lastSound.set(place.connection, { sentence: place.sentence, isNamed });
    },
    at(ticks) {
      const sentence = places.get(ticks)?.sentence ?? '';
      const never = Number.POSITIVE_INFINITY;
      return Math.min(textAt.get(sentence) ?? never, soundAt.get(sentence) ?? never);
    },
    isWritten: (ticks) => written.has(places.get(ticks)?.sentence ?? ''),
    isPlaced: (ticks) => placed.has(places.get(ticks)?.sentence ?? ''),
    isTimed: (ticks) => timed.has(places.get(ticks)?.sentence ?? ''),
    spanOf: (ticks) => spans.get(places.get(ticks)?.sentence ?? '') ?? null,
    isUntold(ticks) {
      const place = places.get(ticks);
      if (place === undefined || textAt.has(place.sentence)) return false;
      const last = lastSound.get(place.connection);
      return last?.sentence === place.sentence && !last.isNamed;
    },
    lacksAnotherPart(ticks) {
      const place = places.get(ticks);
      return place !== undefined && partsIn(place).some((one) => !sounded.has(one));
    },
    connectionOf: (ticks) => places.get(ticks)?.connection,
  };
}
