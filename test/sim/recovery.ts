/** Checks how long the lane takes to stream again after a fault, and which speech may be lost meanwhile. */
import { createOutages } from './outages.ts';
import type { Happening } from './swarm.ts';
import type { World } from './world.ts';

/**
 * Longest time (s) from the end of a fault until the lane streams again, if the seed has no other kind: about twice the
 * measured maximum. The next fault of the kind may come a minute later, so that waits grow up to two minutes.
 */
const USUAL_S = 180;
/** The same (s) for a lost connection or process when everything else works: measured maximum 52 s. */
const SHORT_S = 100;
const SHORT: ReadonlySet<string> = new Set([
  'drop',
  'reset',
  'reset_mid_speech',
  'reset_mid_output',
  'reset_between_languages',
  'close',
  'kill',
  'service_restart',
  'service_timeout',
  'service_error',
  'service_slow_read',
  'max_duration',
  'no_room_for_two',
  'revoke',
  'revoke_lingering',
  'zombie_stream',
  'translation_cut',
  'transcripts_late',
  'times_wrong',
  'token_doubled',
  'token_misaddressed',
]);
/** The same (s) for a silent service, whose end no message shows: measured maximum 117 s. */
const ZOMBIE_S = 240;
/**
 * The same (s) for causes that a person must remove. A try just before that is refused, and the backend asks for up to 450 s.
 * The lane then waits up to 120 s more, so that a fleet does not come back at once, and needs a token and a stream.
 * Measured maximum in 60 hours with only blocked accounts: 485 s. The command `start` retries at once.
 */
const PARKED_S = 450 + 120 + 30;
/** The same (s) for one token refused without a reason when the next one is good: measured maximum 25 s in 24 hours. */
const REFUSED_ONCE_S = 50;
/** Kind of a second refusal in a row, or of a second error of the service for its task. */
const REFUSED_AGAIN = 'refused_again';
const BOUND_S: Readonly<Record<string, number>> = {
  // `refuse` is the moment at which the service refuses.
  refused: PARKED_S,
  refuse: PARKED_S,
  [REFUSED_AGAIN]: PARKED_S,
  refused_bare: REFUSED_ONCE_S,
  balance_out: PARKED_S,
  account_blocked: PARKED_S,
  token_denied: PARKED_S,
  operator: PARKED_S,
  token_of_another_intent: PARKED_S,
  zombie_service: ZOMBIE_S,
};

/** Faults that end no stream: they excuse no loss. */
const HARMLESS: ReadonlySet<string> = new Set([
  'warning',
  'xrun',
  'microphone_unplugged',
  'microphone_hangs',
  'speaker_unplugged',
  'file_reread',
  'disk_troubled',
  'clock_jumps',
  'service_clock_skew',
]);

/** Faults that slow the uplink: the backlog overflows while the stream is up, and speech is lost without an outage. */
const SLOWING: ReadonlySet<string> = new Set(['uplink_slow', 'service_slow_read']);

/** Faults of a service that answers only get_task: the lane streams to it, and all that speech may be lost. */
const SWALLOWING: ReadonlySet<string> = new Set(['zombie_answering', 'zombies_answering']);

export function recoveryBoundS(kind: string): number {
  return BOUND_S[kind] ?? (SHORT.has(kind) ? SHORT_S : USUAL_S);
}

/** Time (ms) between the end of a fault and the end of the stream within which the fault counts as its cause. */
const BLAMED_MS = 60_000;
/** Age (ms) of the oldest speech that a broken stream may leave unsaid: the length of the backlog, and a sentence more. */
const TAKEN_BACK_MS = 45_000;
/**
 * Largest distance (ms) of lost speech from its outage: before it, a silent stream took the speech; after it, the backlog
 * overflows while a visitor speaks without a pause. Measured maxima: 75 s before, 69 s after.
 */
const AROUND_MS = 90_000;
/**
 * Speech (ms) that may be lost in addition to the length of the outage: a stream that had fallen silent took it. It may do so
 * for 15 s, for 30 s if that has happened before, and twice in a row. Measured maximum: 31 s.
 */
const BEYOND_MS = 45_000;
/** Losses of the stream within `OFTEN_MS` after which the lane waits up to two minutes for the next one. */
const OFTEN = 4;
const OFTEN_MS = 300_000;
/** Time for which faults are kept (ms): speech is judged sooner. */
const REMEMBERED_MS = 900_000;

/** The lane whose recovery time is checked. */
const MAIN = 'main';
const RESTS: ReadonlySet<string> = new Set(['standby', 'draining', 'idle']);

export interface Recovery {
  readonly worstS: Readonly<Record<string, number>>;
  happened(happening: Happening): void;
  /**
   * Whether a piece of speech of that moment may be lost for lack of a stream: it is near an outage of its lane, within the
   * bound of a fault that happened. A violation is added if more is lost than the outage explains.
   * Speech may also be lost while a fault slows the uplink.
   */
  mayLose(at: number, lane: string): boolean;
  judge(): void;
}

/** @param kinds kinds of faults of the seed; only a single kind shows how long recovery takes */
export function createRecovery(world: World, kinds: readonly string[]): Recovery {
  const { clock, violations } = world;
  const worstS: Record<string, number> = {};
  const outages = createOutages();
  /** Outages that are reported already. */
  const tooMuch = new Set<string>();
  let happenings: (Happening & { readonly boundMs: number })[] = [];
  let lostAt = 0;
  /** The lane sleeps or is stopped: not streaming is not a failure. */
  let atRest = true;
  /** The current outage is reported already. */
  let isReported = false;
  const alone = kinds.length === 1 ? (kinds[0] ?? null) : null;
  /** The lane streams to a service that ignores it, without an outage; see silent-ends.test.ts. */
  const isSwallowing = kinds.some((kind) => SWALLOWING.has(kind));
  /** Refused tokens and task errors since the lane last streamed: each may be the second in a row. */
  let refusals = 0;
  let rejections = 0;

  /** When the stream was lost recently. */
  let losses: number[] = [];

  /** The kind whose bound applies: its own, or that of a repeated refusal. */
  const kindNow = (kind: string): string => {
    const isAgain = kind === 'refused_bare' ? refusals > 1 : kind === 'service_error' && rejections > 1;
    return isAgain || losses.length >= OFTEN ? REFUSED_AGAIN : kind;
  };
  /** When the recovery began; null: a fault still lasts, or no fault is the cause. */
  const recoversSince = (now: number): number | null => {
    const about = happenings.filter(({ begun, over }) => begun <= now && over > lostAt - BLAMED_MS);
    const overAt = about.reduce((latest, { over }) => Math.max(latest, over), Number.NEGATIVE_INFINITY);
    return about.length === 0 || overAt > now ? null : Math.max(overAt, lostAt);
  };
  const check = (kind: string, since: number, now: number): void => {
    if (now - since <= recoveryBoundS(kind) * 1000 || isReported) return;
    isReported = true;
    violations.add('recovery', `${kind}: not streaming ${Math.round((now - since) / 1000)} s after its end`);
  };
  const turned = (now: number, streams: boolean): void => {
    if (!streams) {
      lostAt = now;
      losses = [...losses.filter((at) => now - at < OFTEN_MS), now];
      isReported = false;
      atRest = RESTS.has(world.device.phase ?? '');
      return;
    }
    const since = recoversSince(now);
    if (!atRest && alone !== null && since !== null) {
      const kind = kindNow(alone);
      worstS[kind] = Math.max(worstS[kind] ?? 0, Math.round((now - since) / 100) / 10);
      check(kind, since, now);
    }
    refusals = 0;
    rejections = 0;
  };
  world.onTurn((now, streams, lane) => {
    outages.turned(lane, now, streams);
    if (lane === MAIN) turned(now, streams);
  });
  const isCovered = (at: number, mayBe: (kind: string) => boolean): boolean =>
    happenings.some(
      ({ kind, begun, over, boundMs }) => mayBe(kind) && at >= begun - TAKEN_BACK_MS && at <= over + boundMs,
    );
  const isHarmful = (kind: string): boolean => !HARMLESS.has(kind);
  const isSlowing = (kind: string): boolean => SLOWING.has(kind);

  return {
    worstS,
    happened(happening) {
      const { now } = clock;
      if (happening.kind === 'refuse') refusals += 1;
      if (happening.kind === 'service_error' && world.liveSince === null) rejections += 1;
      // The fault is ordered for the next connection and strikes then.
      if (happening.kind === 'refused_bare' && alone !== null) return;
      const boundMs = recoveryBoundS(kindNow(alone ?? happening.kind)) * 1000;
      happenings = happenings.filter(({ over }) => over > now() - REMEMBERED_MS);
      happenings.push({ ...happening, boundMs });
    },
    mayLose(at, lane) {
      if (isCovered(at, isSlowing)) return true;
      if (isSwallowing) return isCovered(at, isHarmful);
      const { from, distanceMs, lostMs, lastedMs } = outages.lost(lane, at);
      if (lostMs > lastedMs + BEYOND_MS && !tooMuch.has(`${lane} ${from}`)) {
        tooMuch.add(`${lane} ${from}`);
        const [lostS, lastedS] = [lostMs, lastedMs].map((ms) => Math.round(ms / 1000));
        violations.add('recovery', `${lostS} s of speech were lost in an outage of ${lastedS} s`);
      }
      return distanceMs <= AROUND_MS && isCovered(at, isHarmful);
    },
    judge() {
      // A lane that waits for a voice sleeps from its start.
      atRest ||= RESTS.has(world.device.phase ?? '');
      if (world.liveSince !== null || atRest || alone === null) return;
      const since = recoversSince(clock.now());
      if (since !== null) check(kindNow(alone), since, clock.now());
    },
  };
}
