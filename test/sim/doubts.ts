/**
 * What no device can know to have been said, of a service that tells no times (or not the truth). Each doubt is a pair of worlds in
 * which the same messages reach the device at the same moments: in one the speech was said, in the other it was not. Whoever does
 * not send it again loses it in the other one; so it may be said twice, up to the bound that is named, and no further. Where the
 * times of the sentence in question have reached the device, and are true, there is no doubt.
 */
import type { Seams } from './seams.ts';
import { TICK_MS } from './sound.ts';
import type { SpeechOracleSetup } from './speech-ports.ts';
import { createToldSentences, type ToldSentences } from './told-sentences.ts';

/** How a piece of speech was sent last. */
interface Sent {
  readonly connection: number;
  readonly at: number;
}

export interface DoubtsSetup {
  readonly seams: Pick<Seams, 'before' | 'isAgain' | 'timesBefore' | 'isDoubtful'>;
  readonly times: Pick<SpeechOracleSetup, 'isExact' | 'isLying' | 'isTruthful'>;
  sentOf(tick: number): Sent | undefined;
  /** Where in its stream it begins, as it was sent last, milliseconds. */
  placeOf(tick: number): number;
  isOver(connection: number): boolean;
}

export interface Doubts
  extends Pick<ToldSentences, 'rendered' | 'word' | 'sound' | 'isWritten' | 'isPlaced'> {
  /**
   * @param earlier the rendering by which it was said before
   * @param again the one by which it is said now
   */
  isDoubtful(tick: number, earlier: readonly number[], again: readonly number[]): boolean;
}

/** How far from where it seems to be a cut in running speech may lie: a chunk, and by what the delay of its word varies. */
const CUT_TICKS = 400 / TICK_MS;
/** What lies between the last partial text of a sentence and its end: the time between two of them, and a chunk. */
const UNWRITTEN_TICKS = 1600 / TICK_MS;
/** Newer speech is looked for so far: what somebody says after a longer pause than this is told apart. */
const NEWER_TICKS = 1500;

export function createDoubts({ seams, times, sentOf, placeOf, isOver }: DoubtsSetup): Doubts {
  const told = createToldSentences();
  /** When each piece of a rendering had been sent. */
  const sentAt = new WeakMap<readonly number[], readonly number[]>();
  /** Where in its stream. */
  const sentMs = new WeakMap<readonly number[], readonly number[]>();
  const isExact = (ticks: readonly number[]): boolean => times.isTruthful() && told.isTimed(ticks);

  /**
   * The sentence before it, in running speech, was to be said again, and the device was told of that one when this piece had been
   * sent already. Either world: the service had cut before the piece, or behind it.
   * Bound: what had been sent when word of the sentence before the cut came.
   */
  const isBehindLateWord = (tick: number, earlier: readonly number[]): boolean => {
    const before = seams.before(earlier);
    const last = before?.at(-1);
    if (before === undefined || last === undefined || isExact(before)) return false;
    if (!seams.isAgain(earlier, tick) || !seams.isAgain(before, last)) return false;
    const at = sentAt.get(earlier)?.[earlier.indexOf(tick)] ?? Number.POSITIVE_INFINITY;
    return at <= told.at(before);
  };

  /** The first that was spoken behind a piece of speech, within half a minute. */
  const nextOf = (tick: number): Sent | undefined => {
    for (let next = tick + 1; next <= tick + NEWER_TICKS; next++) {
      const sent = sentOf(next);
      if (sent !== undefined) return sent;
    }
    return undefined;
  };

  /**
   * A sentence was cut in running speech, or at a short pause, and what is sent of it with the next one begins a little before the
   * cut. Either world: the service had cut there, behind the last partial text of the sentence.
   * Bound: what a service says between two partial texts before each cut, 1.6 s.
   */
  const isSeam = (earlier: readonly number[], again: readonly number[]): boolean => {
    const [end, begin, goesOnTo] = [earlier.at(-1) ?? 0, again[0] ?? 0, again.at(-1) ?? 0];
    if (isExact(earlier) || isExact(again)) return false;
    if (begin <= (earlier[0] ?? 0) || begin > end || end - begin >= UNWRITTEN_TICKS) return false;
    if (goesOnTo > end + CUT_TICKS) return true;
    // The service may cut them apart once more: they were sent together, and nothing before them was.
    return !seams.isAgain(earlier, earlier[0] ?? 0) && nextOf(end)?.connection === sentOf(begin)?.connection;
  };

  /**
   * It had been sent again for another language's sake, the service cut what was sent again in two, and newer speech had been sent
   * when word of the second part came. Either world: that was the end of the repeat, to be muted, or the newer one's first words.
   * Bound: the second part.
   */
  const isEndOfRepeat = (again: readonly number[]): boolean => {
    const last = again.at(-1);
    if (last === undefined || seams.before(again) === undefined || isExact(again)) return false;
    if (!again.every((tick) => seams.timesBefore(again, tick) > 1)) return false;
    const toldAt = told.at(again);
    const sent = nextOf(last);
    return sent !== undefined && sent.connection === told.connectionOf(again) && sent.at < toldAt;
  };

  /**
   * The last that a stream spoke before it broke off, without a name, and its text had not come. Either world: the sound was of this
   * sentence, or the rest of what the one before it had promised.
   * Bound: one sentence for each stream that breaks off.
   */
  const isNamelessEnd = (earlier: readonly number[]): boolean => {
    const connection = told.connectionOf(earlier);
    return connection !== undefined && isOver(connection) && told.isUntold(earlier);
  };

  /**
   * The times that were told of it are those of other speech. Either world: the sound was of that, or of this.
   * Bound: what lies outside the times of its own sentence.
   */
  const isToldElsewhere = (tick: number, earlier: readonly number[]): boolean => {
    const span = told.spanOf(earlier);
    const ms = sentMs.get(earlier)?.[earlier.indexOf(tick)];
    if (times.isTruthful() || span === null || ms === undefined) return false;
    return ms < span.fromMs || ms + TICK_MS > span.toMs;
  };

  /**
   * The stream broke off between two parts of a translation: nobody can tell which words the part was of that had been spoken.
   * Either world: they are before a place in the sentence, or behind it.
   * Bound: what was spoken of the one sentence.
   */
  const isPartOfOwed = (earlier: readonly number[]): boolean => {
    const connection = told.connectionOf(earlier);
    if (connection === undefined || !isOver(connection) || isExact(earlier)) return false;
    return told.lacksAnotherPart(earlier);
  };

  return {
    rendered(connection, rendering, ticks) {
      sentMs.set(ticks, ticks.map(placeOf));
      const at = ticks.map((tick) => sentOf(tick)?.at ?? Number.POSITIVE_INFINITY);
      sentAt.set(ticks, at);
      told.rendered(connection, rendering, ticks);
    },
    word: told.word,
    sound: told.sound,
    isWritten: told.isWritten,
    isPlaced: told.isPlaced,
    isDoubtful: (tick, earlier, again) =>
      seams.isDoubtful(tick, earlier, times) ||
      isBehindLateWord(tick, earlier) ||
      isSeam(earlier, again) ||
      isEndOfRepeat(again) ||
      isNamelessEnd(earlier) ||
      isPartOfOwed(earlier) ||
      isToldElsewhere(tick, earlier),
  };
}
