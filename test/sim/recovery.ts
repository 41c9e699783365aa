/** How long the lane takes to stream again when a fault is over, and what may be lost meanwhile. */
import type { Happening } from './swarm.ts';
import type { World } from './world.ts';

/**
 * Seconds from the end of a fault to the lane streaming again, at most, where the seed has no other kind: about twice the
 * longest that was measured. The next of the kind may come a minute after the last: waits grow over
 * several of them, up to two minutes while nobody speaks, as where one port after the other throws.
 */
const USUAL_S = 180;
/** A connection or a process is gone, and all that is needed to come back is there: 52 s were the longest. */
const SHORT_S = 100;
const SHORT: ReadonlySet<string> = new Set([
  ...['reset', 'reset_mid_speech', 'reset_mid_output', 'reset_between_languages', 'close', 'kill'],
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
const BOUND_S: Readonly<Record<string, number>> = {
  ...{ refused: PARKED_S, refused_bare: PARKED_S, balance_out: PARKED_S, account_blocked: PARKED_S },
  ...{
    token_denied: PARKED_S,
    operator: PARKED_S,
    token_of_another_intent: PARKED_S,
    zombie_service: ZOMBIE_S,
  },
};

export function recoveryBoundS(kind: string): number {
  return BOUND_S[kind] ?? (SHORT.has(kind) ? SHORT_S : USUAL_S);
}

/** Faults that began longer ago than this before the stream ended had nothing to do with it. */
const BLAMED_MS = 60_000;
/** What a stream was sent and has not said when it breaks off may be as old as the backlog is long, and a sentence more. */
const TAKEN_BACK_MS = 45_000;
/** Where kinds mix, one can follow the other before the lane has recovered. */
const MIXED_MS = 300_000;
/** Speech is judged within this much. */
const REMEMBERED_MS = 900_000;

const RESTS: ReadonlySet<string> = new Set(['standby', 'draining', 'idle']);

export interface Recovery {
  readonly worstS: Readonly<Record<string, number>>;
  happened(happening: Happening): void;
  /** Whether speech of that moment may be lost for want of a stream: in an outage, and this long after it as recovery may take. */
  mayLose(at: number): boolean;
  judge(): void;
}

/** @param kinds those that the seed has; what a single one takes can be told from nothing else */
export function createRecovery(world: World, kinds: readonly string[]): Recovery {
  const { clock, violations } = world;
  const worstS: Record<string, number> = {};
  let happenings: Happening[] = [];
  let lostAt = 0;
  /** It sleeps, or nobody wants it: that is no failure. */
  let atRest = true;
  let told = false;
  const alone = kinds.length === 1 ? (kinds[0] ?? null) : null;
  const boundMs = Math.max(...kinds.map(recoveryBoundS), 0) * 1000 + (alone === null ? MIXED_MS : 0);

  /** From what it has to recover: null while a fault lasts, or where none is to blame. */
  const recoversSince = (now: number): number | null => {
    const about = happenings.filter(({ begun, over }) => begun <= now && over > lostAt - BLAMED_MS);
    const overAt = about.reduce((latest, { over }) => Math.max(latest, over), Number.NEGATIVE_INFINITY);
    return about.length === 0 || overAt > now ? null : Math.max(overAt, lostAt);
  };
  const check = (since: number, now: number): void => {
    if (alone === null || now - since <= boundMs || told) return;
    told = true;
    violations.add('recovery', `${alone}: not streaming ${Math.round((now - since) / 1000)} s after its end`);
  };
  world.onTurn((now, streams) => {
    if (!streams) {
      lostAt = now;
      told = false;
      atRest = RESTS.has(world.device.phase ?? '');
      return;
    }
    const since = recoversSince(now);
    if (atRest || alone === null || since === null) return;
    worstS[alone] = Math.max(worstS[alone] ?? 0, Math.round((now - since) / 100) / 10);
    check(since, now);
  });

  return {
    worstS,
    happened(happening) {
      const { now } = clock;
      happenings = [...happenings.filter(({ over }) => over > now() - REMEMBERED_MS), happening];
    },
    mayLose: (at) =>
      happenings.some(({ begun, over }) => at >= begun - TAKEN_BACK_MS && at <= over + boundMs),
    judge() {
      // A lane that a voice has to wake sleeps from its start.
      atRest ||= RESTS.has(world.device.phase ?? '');
      if (world.liveSince !== null || atRest) return;
      const since = recoversSince(clock.now());
      if (since !== null) check(since, clock.now());
    },
  };
}
