/** Where a service has cut running speech and told no times: which word belongs to which sentence nobody can tell. */
import { PAUSE_MS } from '../../src/core/uplink/replay/replay-log.ts';
import { TICK_MS } from './sound.ts';
import type { SpeechOracleSetup } from './speech-ports.ts';
import { createTickList, type TickList } from './tick-list.ts';

/** Its word of the cut comes at most so long after it. */
const DOUBT_TICKS = 1500 / TICK_MS;
/** The next sentence begins within so much where speech goes on. */
const GAP_TICKS = 16;
/** Shorter pauses need not end a sentence: the service's silence threshold is about as long. */
const SHORT_PAUSE_TICKS = PAUSE_MS / TICK_MS;
const MOST_STREAMS = 100;

export interface Seams {
  rendered(rendering: {
    readonly stream: string;
    readonly language: string;
    readonly ticks: readonly number[];
  }): void;
  /**
   * It was not sent again with the sentence before the cut, because it may have been said with the one behind it; also where
   * that sentence was to be sent again, and too much waited.
   */
  isInDoubt(tick: number): boolean;
  /**
   * It follows a sentence in running speech, on a stream that broke off: where texts come late it is taken for the end of that
   * sentence. How late they came is not looked at, so this is asked last.
   */
  isBehindLateText(tick: number, isOver: (stream: string) => boolean): boolean;
  /** It was sent again with the sentence before the cut, because it may have been the end of that. */
  isSaidWithTheOther(tick: number): boolean;
  /**
   * It is the end of a sentence and was sent again, because a service that tells its end too early says by that, that it has
   * not spoken it: where the sentence was cut in running speech, or has a pause at which it may have ended.
   * @param earlier what its sentence was when it was said before
   */
  isBehindToldEnd(tick: number, earlier: readonly number[]): boolean;
  /** The rendering that it follows in running speech; undefined: a pause was before it. */
  before(ticks: readonly number[]): readonly number[] | undefined;
  /** It was sent again since it was rendered. */
  isAgain(ticks: readonly number[], tick: number): boolean;
  /** How often it had been sent when it was rendered. */
  timesBefore(ticks: readonly number[], tick: number): number;
  /**
   * It was sent again with the sentence before a short pause, at which that may have ended or not.
   * @param earlier what its sentence was when it was said before
   */
  isSaidWithTheOneBefore(tick: number, earlier: readonly number[]): boolean;
  /** Any of these, of a service without times, or with wrong ones: nobody can know that it was said before. */
  isDoubtful(tick: number, earlier: readonly number[], service: Times): boolean;
}

interface Cut {
  readonly before: readonly number[];
  /** The last piece of speech before it. */
  readonly last: number;
  readonly own: readonly number[];
}

/** What the times of a service are worth. */
type Times = Pick<SpeechOracleSetup, 'isExact' | 'isLying'>;

/**
 * @param timesSent how often each piece of speech was sent
 * @param isSpoken whether somebody spoke at that moment
 * @param isGivenUp whether it was lost because too much waited to be sent, for the first time or again
 */
export function createSeams(
  timesSent: TickList<number>,
  isSpoken: (tick: number) => boolean,
  isGivenUp: (tick: number) => boolean = () => false,
): Seams {
  /** Of the end of a sentence that was cut in running speech: that rendering. */
  const doubtful = createTickList<readonly number[] | undefined>(undefined);
  /** Of what follows a cut: its rendering, and the one before the cut. */
  const behind = createTickList<Cut | undefined>(undefined);
  /** Of what follows a sentence: where that ended, and on which stream, when it was spoken first. */
  const firstBehind = createTickList<{ readonly end: number; readonly stream: string } | undefined>(
    undefined,
  );
  const lastOf = new Map<string, readonly number[]>();
  /** How often each piece of a rendering had been sent when the service made it. */
  const sentBy = new WeakMap<readonly number[], readonly number[]>();
  const beforeOf = new WeakMap<readonly number[], readonly number[]>();
  /** The same, also behind a short pause. */
  const nearOf = new WeakMap<readonly number[], readonly number[]>();
  const timesBefore = (ticks: readonly number[], tick: number): number =>
    sentBy.get(ticks)?.[ticks.indexOf(tick)] ?? Number.POSITIVE_INFINITY;
  /** Whether it was sent since it was rendered; where `due`, also whether it was to be, and was lost. */
  const isAgain = (ticks: readonly number[], tick: number, due = false): boolean => {
    const times = timesSent.get(tick) + (due && timesSent.get(tick) > 0 && isGivenUp(tick) ? 1 : 0);
    return times > timesBefore(ticks, tick);
  };
  /** Whether somebody speaks, or is silent, at one of these moments. */
  const isSpokenWithin = (from: number, to: number, spoken: boolean): boolean => {
    for (let tick = from; tick <= to; tick++) if (isSpoken(tick) === spoken) return true;
    return false;
  };
  const seams: Seams = {
    rendered({ stream, language, ticks }) {
      sentBy.set(
        ticks,
        ticks.map((tick) => timesSent.get(tick)),
      );
      const end = ticks.at(-1) ?? 0;
      for (let tick = end + 1; tick <= end + DOUBT_TICKS; tick++)
        if (firstBehind.get(tick) === undefined) firstBehind.set(tick, { end, stream });
      const key = `${stream} ${language}`;
      const before = lastOf.get(key) ?? [];
      lastOf.set(key, ticks);
      if (lastOf.size > MOST_STREAMS) lastOf.delete(lastOf.keys().next().value ?? '');
      const last = before.at(-1);
      const gap = last === undefined ? Number.POSITIVE_INFINITY : (ticks[0] ?? 0) - last;
      if (gap <= SHORT_PAUSE_TICKS) nearOf.set(ticks, before);
      if (last === undefined || gap > GAP_TICKS) return;
      beforeOf.set(ticks, before);
      for (const tick of before.slice(-DOUBT_TICKS)) doubtful.set(tick, before);
      for (const tick of ticks.slice(0, DOUBT_TICKS)) behind.set(tick, { before, last, own: ticks });
    },
    before: (ticks) => beforeOf.get(ticks),
    isAgain: (ticks, tick) => isAgain(ticks, tick),
    timesBefore,
    isInDoubt(tick) {
      const sentence = doubtful.get(tick);
      if (sentence === undefined || isAgain(sentence, tick)) return false;
      return sentence.some((one) => tick > one && tick - one <= DOUBT_TICKS && isAgain(sentence, one, true));
    },
    isBehindLateText(tick, isOver) {
      const first = firstBehind.get(tick);
      if (first === undefined || !isOver(first.stream)) return false;
      return isSpokenWithin(first.end + 1, first.end + GAP_TICKS, true);
    },
    isSaidWithTheOther(tick) {
      const cut = behind.get(tick);
      return cut !== undefined && isAgain(cut.own, tick) && isAgain(cut.before, cut.last);
    },
    isSaidWithTheOneBefore(tick, earlier) {
      const before = nearOf.get(earlier) ?? [];
      const [first, last] = [earlier[0], before.at(-1)];
      if (first === undefined || last === undefined || tick - first >= DOUBT_TICKS) return false;
      return isAgain(earlier, tick) && isAgain(before, last);
    },
    isBehindToldEnd(tick, earlier) {
      const [first, last] = [earlier[0], earlier.at(-1)];
      if (first === undefined || last === undefined || last - tick >= DOUBT_TICKS) return false;
      if (isAgain(earlier, first) || !isAgain(earlier, tick)) return false;
      const again = earlier.find((one) => isAgain(earlier, one)) ?? last;
      return (
        isSpokenWithin(last + 1, last + GAP_TICKS, true) || isSpokenWithin(again - GAP_TICKS, again, false)
      );
    },
    isDoubtful(tick, earlier, { isExact, isLying }) {
      if (!isExact() && (seams.isSaidWithTheOther(tick) || seams.isSaidWithTheOneBefore(tick, earlier)))
        return true;
      return isLying() && seams.isBehindToldEnd(tick, earlier);
    },
  };
  return seams;
}

/** What is known of how a translation came. */
interface Delivery {
  readonly deliveredTicks: number;
  readonly lengthTicks: number;
  readonly ticks: readonly number[];
}

interface Part extends Delivery {
  readonly stream: string;
  readonly sentence: string;
  readonly language: string;
}

/** Of a sentence that has neither a name nor an end, nobody can tell that more than this share is not all: voices differ. */
const PLAINLY_CUT_SHARE = 0.55;

/**
 * Whether it was the next part of a translation of which one part had come to its end when the stream broke off: of a service
 * that tells no times nobody can know that there was to be another one.
 */
export function isNextPart(
  renderings: readonly Part[],
  tick: number,
  isOver: (stream: string) => boolean,
): boolean {
  const isWhole = (one: Part, other: Part): boolean =>
    one.deliveredTicks >= one.lengthTicks &&
    one.stream === other.stream &&
    one.sentence === other.sentence &&
    one.language === other.language;
  return renderings.some(
    (part) =>
      part.deliveredTicks === 0 &&
      part.ticks.includes(tick) &&
      isOver(part.stream) &&
      renderings.some((one) => isWhole(one, part)),
  );
}

/** Whether the last part of a translation of it is missing, and most of it came. */
export function lacksItsEnd(renderings: Iterable<Delivery>, tick: number): boolean {
  for (const { deliveredTicks, lengthTicks, ticks } of renderings)
    if (
      deliveredTicks < lengthTicks &&
      deliveredTicks >= lengthTicks * PLAINLY_CUT_SHARE &&
      ticks.includes(tick)
    )
      return true;
  return false;
}

/** Whether a translation of it was cut off. */
export function wasCut(renderings: Iterable<Delivery>, tick: number): boolean {
  for (const { deliveredTicks, lengthTicks, ticks } of renderings)
    if (deliveredTicks < lengthTicks && ticks.includes(tick)) return true;
  return false;
}
