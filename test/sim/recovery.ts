/** How long the lane takes to stream again when a fault is over, and what may be lost meanwhile. */
import { createOutages } from './outages.ts';
import type { Happening } from './swarm.ts';
import type { World } from './world.ts';

/**
 * Seconds from the end of a fault to the lane streaming again, at most, where the seed has no other kind: about twice the
 * longest that was measured. The next of the kind may come a minute after the last: waits grow over
 * several of them, up to two minutes in silence, as where one port after the other throws.
 */
const USUAL_S = 180;
/** A connection or a process is gone, and all that is needed to come back is there: 52 s were the longest. */
const SHORT_S = 100;
const SHORT: ReadonlySet<string> = new Set([
  ...['drop', 'reset', 'reset_mid_speech', 'reset_mid_output', 'reset_between_languages', 'close', 'kill'],
  ...[
    'service_restart',
    'service_timeout',
    'service_error',
    'service_slow_read',
    'max_duration',
    'no_room_for_two',
  ],
  ...['revoke', 'revoke_lingering', 'zombie_stream', 'translation_cut', 'transcripts_late', 'times_wrong'],
  ...['token_doubled', 'token_misaddressed'],
]);
/** Nothing shows at its end that a service speaks again which has taken what it was sent for minutes: 117 s. */
const ZOMBIE_S = 240;
/**
 * It takes a person to remove the cause. A try just before that is refused, and the backend asks for up to 450 s, behind which
 * the lane waits up to 120 s more, so that a fleet does not come back at once; then it needs a token and a stream. Of 60 hours with
 * nothing but blocked accounts the longest was 485 s. The command `start` tries at once.
 */
const PARKED_S = 450 + 120 + 30;
/** One token was refused without a reason, and the next one is good: 25 s were the longest of 24 hours. */
const REFUSED_ONCE_S = 50;
/** The same where the next one is refused as well; so with a word of the service against its task. */
const REFUSED_AGAIN = 'refused_again';
const BOUND_S: Readonly<Record<string, number>> = {
  // `refuse` is the moment in which the service does it.
  ...{ refused: PARKED_S, refuse: PARKED_S, [REFUSED_AGAIN]: PARKED_S, refused_bare: REFUSED_ONCE_S },
  ...{ balance_out: PARKED_S, account_blocked: PARKED_S },
  ...{
    token_denied: PARKED_S,
    operator: PARKED_S,
    token_of_another_intent: PARKED_S,
    zombie_service: ZOMBIE_S,
  },
};

/** Whatever they do to a device, they take no stream from it: they excuse no loss. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['warning', 'xrun', 'microphone_unplugged', 'microphone_hangs', 'speaker_unplugged'],
  ...['file_reread', 'disk_troubled', 'clock_jumps', 'service_clock_skew'],
]);

/** Less leaves than is said, while the stream is up: what the backlog has no room for is lost without any outage. */
const SLOWING: ReadonlySet<string> = new Set(['uplink_slow', 'service_slow_read']);

/** A service that tells its task and nothing else: the lane streams to it, and all that it is sent may be lost. */
const SWALLOWING: ReadonlySet<string> = new Set(['zombie_answering', 'zombies_answering']);

export function recoveryBoundS(kind: string): number {
  return BOUND_S[kind] ?? (SHORT.has(kind) ? SHORT_S : USUAL_S);
}

/** Faults that began longer ago than this before the stream ended had nothing to do with it. */
const BLAMED_MS = 60_000;
/** What a stream was sent and has not said when it breaks off may be as old as the backlog is long, and a sentence more. */
const TAKEN_BACK_MS = 45_000;
/**
 * So far from an outage speech can be lost with it: before it, what a silent stream took; behind it, while somebody speaks
 * on without a pause, what the backlog has no room for. 75 s and 69 s were the furthest.
 */
const AROUND_MS = 90_000;
/**
 * Beyond what an outage has lasted as much can be lost with it as a stream took that had fallen silent: for 15 s, or where one had
 * done so before for twice as long, and that of two in a row. 31 s were the most.
 */
const BEYOND_MS = 45_000;
/** A lane that loses its stream that often, without a minute in between, waits up to two minutes for the next one. */
const OFTEN = 4;
const OFTEN_MS = 300_000;
/** Speech is judged within this much. */
const REMEMBERED_MS = 900_000;

/** The lane whose recovery is judged. */
const MAIN = 'main';
const RESTS: ReadonlySet<string> = new Set(['standby', 'draining', 'idle']);

export interface Recovery {
  readonly worstS: Readonly<Record<string, number>>;
  happened(happening: Happening): void;
  /**
   * A piece of speech of that moment was lost for want of a stream. Whether it may be: its lane had none about then, for no
   * longer than the recovery from a fault may take that happened, and with that outage no more is lost than it has lasted.
   * Or it was up and took less than was said.
   */
  mayLose(at: number, lane: string): boolean;
  judge(): void;
}

/** @param kinds those that the seed has; only a single one shows how long it takes */
export function createRecovery(world: World, kinds: readonly string[]): Recovery {
  const { clock, violations } = world;
  const worstS: Record<string, number> = {};
  const outages = createOutages();
  /** Outages with which too much was lost. */
  const tooMuch = new Set<string>();
  let happenings: (Happening & { readonly boundMs: number })[] = [];
  let lostAt = 0;
  /** It sleeps, or is not wanted: that is no failure. */
  let atRest = true;
  let told = false;
  const alone = kinds.length === 1 ? (kinds[0] ?? null) : null;
  /** The lane streams to a service that hears nothing: no outage shows it. What that takes is judged by silent-ends.ts. */
  const isSwallowing = kinds.some((kind) => SWALLOWING.has(kind));
  /** Since the lane streamed last: refused tokens, and words against its task, of which each may be the second in a row. */
  let refusals = 0;
  let rejections = 0;

  /** When the stream was lost of late. */
  let losses: number[] = [];

  /** Its own, or the one of what that has come to. */
  const kindNow = (kind: string): string => {
    const isAgain = kind === 'refused_bare' ? refusals > 1 : kind === 'service_error' && rejections > 1;
    return isAgain || losses.length >= OFTEN ? REFUSED_AGAIN : kind;
  };
  /** From what it has to recover: null while a fault lasts, or where none is to blame. */
  const recoversSince = (now: number): number | null => {
    const about = happenings.filter(({ begun, over }) => begun <= now && over > lostAt - BLAMED_MS);
    const overAt = about.reduce((latest, { over }) => Math.max(latest, over), Number.NEGATIVE_INFINITY);
    return about.length === 0 || overAt > now ? null : Math.max(overAt, lostAt);
  };
  const check = (kind: string, since: number, now: number): void => {
    if (now - since <= recoveryBoundS(kind) * 1000 || told) return;
    told = true;
    violations.add('recovery', `${kind}: not streaming ${Math.round((now - since) / 1000)} s after its end`);
  };
  const turned = (now: number, streams: boolean): void => {
    if (!streams) {
      lostAt = now;
      losses = [...losses.filter((at) => now - at < OFTEN_MS), now];
      told = false;
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
      // It is ordered for the next connection, and strikes then.
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
        violations.add('recovery', `${lostS} s of speech were lost with an outage of ${lastedS} s`);
      }
      return distanceMs <= AROUND_MS && isCovered(at, isHarmful);
    },
    judge() {
      // A lane that a voice has to wake sleeps from its start.
      atRest ||= RESTS.has(world.device.phase ?? '');
      if (world.liveSince !== null || atRest || alone === null) return;
      const since = recoversSince(clock.now());
      if (since !== null) check(kindNow(alone), since, clock.now());
    },
  };
}
