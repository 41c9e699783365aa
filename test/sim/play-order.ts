/** In which order sentences may sound: as they were spoken, each whole, none twice; what comes late is late for a reason. */
import { TICK_MS } from './sound.ts';
import type { Violations } from './violations.ts';

/** Sound without a name that comes this long after the last begins another sentence. */
const NAMELESS_GAP_MS = 1000;
/** What has run dry for so long holds up no sentence of another stream: the agent's own limit is no shorter. */
const STALLED_MS = 400;

/** Sound of one stream without a longer pause in it: without names it is one sentence to the device. */
interface Run {
  soundAt: number;
  playedAt: number | null;
}

/** A translation as the service rendered it. */
export interface Rendering {
  readonly id: number;
  readonly stream: string;
  /** The pieces of speech that it says. */
  readonly ticks: readonly number[];
}

/** Where a rendering is found in a sound, in ticks. */
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
  /** So much of it came off the wire. */
  deliveredTicks: number;
  /** More of it came long after what had come before had sounded, and has not been played yet. */
  hasStalled: boolean;
}

export interface PlayOrder {
  /** Pieces of speech that were said after newer ones, because the stream that owed them was late or broke off. */
  readonly lateTicks: number;
  /** Some of it came off the wire. */
  delivered(rendering: Rendering, ticks: number, now: number): void;
  /** Some of it was handed to the loudspeaker; true: for the first time. */
  written(rendering: Rendering, stretch: Stretch, now: number): boolean;
}

const MOST_KNOWN = 200;
const UNDELIVERED = { deliveredTicks: 0, hasStalled: false };

/** @param connectionOf number of the connection of a stream; newer ones are greater */
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
  /** What was spoken earlier is rightly said later in two cases. */
  const isRightlyBehind = (one: Progress, newer: Progress): boolean => {
    // It came when the newer one was sounding already: an older stream was late.
    const soundsSince = named ? newer.playedAt : newer.run.playedAt;
    if (soundsSince !== null && one.deliveredAt > soundsSince) return true;
    // The service translated it later: an older stream owed it when it broke off, and it was sent again.
    const { rendering } = one;
    const ahead = connectionOf(rendering.stream) - connectionOf(newer.rendering.stream);
    return ahead > 0 || (ahead === 0 && rendering.id > newer.rendering.id);
  };
  /** A lossy network holds up one stream for a second and more while another one speaks: the device cannot know that more comes. */
  const isOvertaken = ({ rendering, hasStalled }: Progress): boolean =>
    hasStalled && rendering.stream !== last?.rendering.stream;
  const begin = (one: Progress, now: number): void => {
    one.playedAt = now;
    one.run.playedAt ??= now;
    const [first] = one.rendering.ticks;
    // Without speech it is an owner's text.
    if (first === undefined) return;
    const newestSaid = newest?.rendering.ticks[0] ?? 0;
    if (newest === null || first >= newestSaid) {
      newest = one;
    } else if (isRightlyBehind(one, newest)) {
      lateTicks += one.rendering.ticks.length;
    } else {
      const { id } = one.rendering;
      violations.add('order', `rendering ${id} (tick ${first}) was played after tick ${newestSaid}`);
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
        violations.add('interleaved', `rendering ${id} went on after ${last?.rendering.id}`);
      if (place <= one.playedUpTo)
        violations.add('repeated', `rendering ${id} was played again from ${place * TICK_MS} ms`);
      one.hasStalled = false;
      one.playedUpTo = Math.max(one.playedUpTo, place + ticks - 1);
      last = one;
      return isFirst;
    },
  };
}
