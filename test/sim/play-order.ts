/** Checks that sentences are played in the order in which they were spoken, whole and once; late ones need a reason. */
import { TICK_MS } from './sound.ts';
import type { Violations } from './violations.ts';

/** Pause (ms) after which sound without an id begins another sentence. */
const NAMELESS_GAP_MS = 1000;
/** Stall (ms) after which a sentence of another stream may be played: the agent's own limit is no shorter. */
const STALLED_MS = 400;

/** Sound of one stream up to a pause: without ids the device treats it as one sentence. */
interface Run {
  soundAt: number;
  playedAt: number | null;
}

/** A translation that the service has rendered. */
export interface Rendering {
  readonly id: number;
  readonly stream: string;
  /** The pieces of speech that it translates. */
  readonly ticks: readonly number[];
}

/** A part of a rendering: its place and length (ticks). */
export interface Stretch {
  readonly place: number;
  readonly ticks: number;
}

interface Progress {
  readonly rendering: Rendering;
  readonly deliveredAt: number;
  readonly run: Run;
  playedAt: number | null;
  playedUpTo: number;
  /** Ticks of it that the wire has delivered. */
  deliveredTicks: number;
  /** Its sound stopped for too long; the rest has arrived, and has not been played yet. */
  hasStalled: boolean;
}

export interface PlayOrder {
  /** Pieces of speech that were played after newer ones because their stream was late or broke. */
  readonly lateTicks: number;
  /** The wire has delivered some of it. */
  delivered(rendering: Rendering, ticks: number, now: number): void;
  /** Some of it was written to the loudspeaker. @returns whether that was its first sound */
  written(rendering: Rendering, stretch: Stretch, now: number): boolean;
}

const MOST_KNOWN = 200;
const UNDELIVERED = { deliveredTicks: 0, hasStalled: false };

/** @param connectionOf number of a stream's connection; newer ones are greater */
export function createPlayOrder(
  { violations, named }: { readonly violations: Violations; readonly named: boolean },
  connectionOf: (stream: string) => number,
): PlayOrder {
  const known = new Map<number, Progress>();
  const runs = new Map<string, Run>();
  let last: Progress | null = null;
  let newest: Progress | null = null;
  let lateTicks = 0;

  const runOf = (stream: string, now: number): Run => {
    const before = runs.get(stream);
    const goesOn = before !== undefined && now - before.soundAt < NAMELESS_GAP_MS;
    const run = goesOn ? before : { soundAt: now, playedAt: null };
    run.soundAt = now;
    runs.set(stream, run);
    return run;
  };
  const progressOf = (rendering: Rendering, now: number): Progress => {
    const run = runOf(rendering.stream, now);
    const fresh = { rendering, deliveredAt: now, run, playedAt: null, playedUpTo: -1, ...UNDELIVERED };
    const progress = known.get(rendering.id) ?? fresh;
    known.set(rendering.id, progress);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value ?? 0);
    return progress;
  };
  /** Whether older speech may be played after newer speech. */
  const isRightlyLate = (one: Progress, newer: Progress): boolean => {
    // It arrived when the newer one was already being played: an older stream was late.
    const soundsSince = named ? newer.playedAt : newer.run.playedAt;
    if (soundsSince !== null && one.deliveredAt > soundsSince) return true;
    // The service translated it later: it was replayed after an older stream broke.
    const { rendering } = one;
    const ahead = connectionOf(rendering.stream) - connectionOf(newer.rendering.stream);
    return ahead > 0 || (ahead === 0 && rendering.id > newer.rendering.id);
  };
  /** Whether another stream played while this one stalled: the device cannot know that more of it comes. */
  const isOvertaken = ({ rendering, hasStalled }: Progress): boolean =>
    hasStalled && rendering.stream !== last?.rendering.stream;
  const begin = (one: Progress, now: number): void => {
    one.playedAt = now;
    one.run.playedAt ??= now;
    const [first] = one.rendering.ticks;
    // A rendering without speech is an owner's text.
    if (first === undefined) return;
    const newestSaid = newest?.rendering.ticks[0] ?? 0;
    if (newest === null || first >= newestSaid) {
      newest = one;
    } else if (isRightlyLate(one, newest)) {
      lateTicks += one.rendering.ticks.length;
    } else {
      const { id } = one.rendering;
      violations.add('order', `rendering ${id} of tick ${first} was played after that of tick ${newestSaid}`);
    }
  };

  return {
    get lateTicks() {
      return lateTicks;
    },
    delivered(rendering, ticks, now) {
      const one = progressOf(rendering, now);
      const soundedAt = (one.playedAt ?? now) + one.deliveredTicks * TICK_MS;
      if (now - soundedAt >= STALLED_MS) one.hasStalled = true;
      one.deliveredTicks += ticks;
    },
    written(rendering, { place, ticks }, now) {
      const one = known.get(rendering.id) ?? progressOf(rendering, now);
      const isFirst = one.playedAt === null;
      const { id } = rendering;
      if (isFirst) begin(one, now);
      else if (one !== last && !isOvertaken(one))
        violations.add('interleaved', `rendering ${id} continued after rendering ${last?.rendering.id}`);
      if (place <= one.playedUpTo)
        violations.add('repeated', `rendering ${id} was played again from ${place * TICK_MS} ms`);
      one.hasStalled = false;
      one.playedUpTo = Math.max(one.playedUpTo, place + ticks - 1);
      last = one;
      return isFirst;
    },
  };
}
