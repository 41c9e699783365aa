import { createDice, type Dice } from './dice.ts';
import { fixAll } from './faults.ts';
import type { ReachedPhases } from './moments.ts';
import { createRecovery } from './recovery.ts';
import type { Excuse } from './speech-excuses.ts';
import { watchStrikes } from './strikes.ts';
import { drawSwarm, inject, kindsOf, oftenAtRandom } from './swarm.ts';
import type { Tallies } from './tallies.ts';
import {
  cancelling,
  commandedTerms,
  drawTerms,
  NEWEST,
  naturalTerms,
  partedTerms,
  type ServiceCase,
  serviceCaseOf,
} from './terms.ts';
import type { Violation } from './violations.ts';
import { createWorld, type RunOptions, type World } from './world.ts';

/** Result of one seed. */
export interface RunResult {
  readonly seed: number;
  readonly hours: number;
  readonly violations: readonly Violation[];
  readonly faults: Readonly<Record<string, number>>;
  /** Longest time from a fault's end until the lane streams again (s), by kind. */
  readonly worstRecoveryS: Readonly<Record<string, number>>;
  readonly tallies: Tallies;
  readonly spokenS: number;
  readonly saidS: number;
  readonly saidLateS: number;
  /** Case of the seed's service. */
  readonly serviceCase: ServiceCase;
  /** Speech translated twice by a service without ids or times (s). */
  readonly repeatedS: number;
  readonly excusedS: Readonly<Record<Excuse, number>>;
  /** Messages of the owner by the phase of the lane that they reached. */
  readonly reached: ReachedPhases;
  readonly trace: number;
}

const HOUR_MS = 3_600_000;
/** Time without faults at the end of each stretch (ms): the device must recover in it. */
const CALM_MS = 720_000;
/**
 * Longest recovery after the last fault (ms). A parked lane retries within six minutes. If the backend asks for more (7.5
 * minutes for causes that a person must remove), it retries within two minutes after that. Then it needs a token and a stream.
 */
const WELL_WITHIN_MS = 620_000;
/** Time within which delayed commands are over (ms): a delay of a minute at most, and 40 s until `start` follows `stop`. */
const ORDERS_OVER_MS = 105_000;
const AWAKE_WITHIN_MS = 30_000;
const JUDGE_EVERY_MS = 20_000;
const BREAKS_EVERY_MS = 1_200_000;

/** Breaks cancellers now and then; the operator later orders the lane to try again. */
function breakCancellers(world: World, dice: Dice): void {
  const { clock, device, operator } = world;
  clock.at(clock.now() + dice.wait(BREAKS_EVERY_MS), () => {
    device.breakCanceller();
    clock.at(clock.now() + dice.between(10_000, 300_000), () => operator.command('echo', { mode: 'cancel' }));
    breakCancellers(world, dice);
  });
}

/** Whether the lane works: it streams, or is in standby. */
function isWell(world: World): boolean {
  const { phase } = world.device;
  return phase !== null && (world.liveSince !== null || phase === 'standby');
}

/** Runs up to a moment, or until a violation is enough. */
type RunUntil = (until: number) => Promise<void>;

function runner({ clock, violations }: World, isEnough: RunOptions['isEnough']): RunUntil {
  if (isEnough === undefined) return (until) => clock.run(until);
  return async (until) => {
    while (clock.now() < until && !violations.list.some(isEnough))
      await clock.run(Math.min(until, clock.now() + JUDGE_EVERY_MS));
  };
}

async function calm(world: World, runUntil: RunUntil, until: number): Promise<void> {
  const { clock, device, operator, violations } = world;
  fixAll(world);
  device.start();
  clock.at(clock.now() + 20_000, () => {
    // A shutdown may still have been running.
    device.start();
    operator.command('unmute');
    operator.command('languages', { source: 'en', targets: ['es'] });
    if (device.lane?.wanted === false) operator.command('start');
  });
  clock.at(clock.now() + 30_000, () => {
    device.start();
    if (device.lane?.wanted === false) operator.command('start');
  });
  // A delayed `stop` may have come late, and the `start` that follows it may have expired.
  clock.at(clock.now() + ORDERS_OVER_MS, () => {
    if (device.lane?.wanted === false) operator.command('start');
  });
  let wellAt = Number.NEGATIVE_INFINITY;
  const calmAt = clock.now();
  const look = (): void => {
    if (isWell(world)) wellAt = clock.now();
    if (clock.now() < until) clock.at(clock.now() + 1000, look);
  };
  look();
  clock.at(clock.now() + WELL_WITHIN_MS, () => {
    const phase = device.phase ?? 'no process';
    violations.check(
      'liveness',
      wellAt > calmAt,
      () => `not streaming ${WELL_WITHIN_MS / 1000} s after the last fault: ${phase}`,
    );
  });
  await runUntil(until);
  if (clock.now() < until) return;
  // The lane may be waking at this moment.
  violations.check(
    'liveness',
    clock.now() - wellAt < AWAKE_WITHIN_MS,
    () => `the lane is ${device.phase ?? 'not running'} after the calm time`,
  );
}

/** Ticks of 20 ms in seconds. */
function seconds(ticks: number): number {
  return Math.round(ticks / 5) / 10;
}

function inSeconds<Name extends string>(ticks: Readonly<Record<Name, number>>): Record<Name, number> {
  const entries = Object.entries<number>(ticks).map(([name, count]) => [name, seconds(count)]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

/** Faults with which the device cannot count unsaid speech, or has no time to report it. */
const UNCOUNTED: ReadonlySet<string> = new Set(['kill', 'sigterm', 'translation_cut', 'last_chunk_omitted']);

/** Whether the device must have counted all unsaid speech. */
function isComparable(serviceCase: ServiceCase, swarm: readonly { readonly kind: string }[]): boolean {
  return serviceCase === 'a' && !swarm.some(({ kind }) => UNCOUNTED.has(kind));
}

/**
 * Runs one seed: stretches of up to an hour with faults, each with twelve calm minutes at its end.
 */
export async function runSeed(seed: number, hours: number, options: RunOptions = {}): Promise<RunResult> {
  const dice = createDice(seed);
  const generation = options.generation ?? NEWEST;
  const asDrawn = drawTerms(dice);
  const first = options.twoLanes === true ? { ...asDrawn, twoLanes: true } : asDrawn;
  const natural = generation === 1 ? first : naturalTerms(first, createDice(seed + 2 ** 36));
  const commanded = generation === 1 ? natural : commandedTerms(natural, createDice(seed + 2 ** 40));
  const parted = generation < NEWEST ? commanded : partedTerms(commanded, createDice(seed + 2 ** 41));
  const drawn = options.changeTerms?.(parted) ?? parted;
  const echoDice = createDice(seed + 2 ** 35);
  const cancels = options.cancels === true;
  const world = createWorld(seed, cancels ? cancelling(drawn, echoDice) : drawn, options);
  const swarm = options.faults?.map(oftenAtRandom(dice)) ?? drawSwarm(dice, kindsOf(generation));
  const faults: Record<string, number> = {};
  const { clock, violations, speech, tallies } = world;
  const recovery = createRecovery(
    world,
    swarm.map(({ kind }) => kind),
  );
  world.mayLose = recovery.mayLose;
  world.struck = (kind, forMs) => {
    const now = clock.now();
    recovery.happened({ kind, begun: now, over: now + forMs });
  };
  watchStrikes(world.host.service.faults, world.struck);
  world.host.output.struck = world.struck;
  world.device.start();
  if (cancels) breakCancellers(world, echoDice);
  const judge = (): void => {
    world.judge();
    recovery.judge();
    clock.at(clock.now() + JUDGE_EVERY_MS, judge);
  };
  judge();
  const end = clock.now() + hours * HOUR_MS - 1;
  const runUntil = runner(world, options.isEnough);
  try {
    while (clock.now() < end && violations.list.length === 0) {
      const stretch = Math.min(HOUR_MS, end - clock.now());
      const startedAt = clock.now();
      const calmAt = startedAt + Math.max(stretch / 2, stretch - CALM_MS);
      inject(world, swarm, calmAt, faults, recovery.happened, options.onFault);
      await runUntil(calmAt);
      if (clock.now() >= calmAt) await calm(world, runUntil, startedAt + stretch);
    }
  } catch (error) {
    violations.add('crash', error instanceof Error ? `${error.message} ${error.stack ?? ''}` : String(error));
  }
  world.judge();
  if (isComparable(serviceCaseOf(drawn), swarm)) world.compareCounts();
  return {
    seed,
    hours: (clock.now() - 1000) / HOUR_MS,
    violations: violations.list,
    faults,
    worstRecoveryS: recovery.worstS,
    tallies,
    trace: world.trace,
    reached: world.owner?.reached ?? {},
    serviceCase: serviceCaseOf(drawn),
    spokenS: seconds(speech.spokenTicks),
    saidS: seconds(speech.saidTicks),
    saidLateS: seconds(speech.saidLate),
    repeatedS: seconds(speech.repeatedTicks),
    excusedS: inSeconds(speech.excused),
  };
}
