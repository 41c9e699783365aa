import { createDice, type Dice } from './dice.ts';
import { FAULTS, mendAll } from './faults.ts';
import type { Excuse } from './speech-excuses.ts';
import type { Violation } from './violations.ts';
import { EAGER, OCCASIONAL } from './visitors.ts';
import { createWorld, type Meddling, type Tallies, type Terms, type World } from './world.ts';

/** What one seed came to. */
export interface RunResult {
  readonly seed: number;
  readonly hours: number;
  readonly violations: readonly Violation[];
  readonly faults: Readonly<Record<string, number>>;
  /** From a fault's end (or its moment) to the next time that the lane streams, seconds, the worst. */
  readonly worstRecoveryS: Readonly<Record<string, number>>;
  readonly tallies: Tallies;
  readonly spokenS: number;
  readonly saidS: number;
  readonly saidLateS: number;
  readonly excusedS: Readonly<Record<Excuse, number>>;
  readonly trace: number;
}

const HOUR_MS = 3_600_000;
/** At the end of each stretch of a run the faults cease for this long: the device must be well again. */
const CALM_MS = 720_000;
/**
 * A parked lane asks again within six minutes; where the backend asks for more (7.5 minutes for what a person has to mend)
 * within two minutes after that. Then it needs a token and a stream.
 */
const WELL_WITHIN_MS = 620_000;
const AWAKE_WITHIN_MS = 30_000;
const JUDGE_EVERY_MS = 20_000;
const BREAKS_EVERY_MS = 1_200_000;

const TEXTS: readonly string[] = [
  'validated_transcription',
  'partial_transcription',
  'translated_transcription',
  'partial_translated_transcription',
];

/**
 * The terms that a seed draws.
 * @param more dice for what came later: the rest of the old seeds stays as it was
 */
export function drawTerms(dice: Dice, more: Dice): Terms {
  const profile = dice.chance(0.75) ? 'live' : 'spec';
  const echo = dice.chance(0.6);
  return {
    profile,
    choices: {
      partialIntervalMs: 1000,
      setupMs: dice.pick([2500, 2100, 5000]),
      refusalDelivery: dice.pick(['http', 'message', 'close']),
      concurrent: 10,
      ...(profile === 'live' ? {} : { noAudioTimeoutMs: dice.pick([0, 10_000]) }),
    },
    lane: {
      echo: echo || dice.chance(0.5) ? 'half-duplex' : 'off',
      start: dice.chance(0.2) ? 'voice' : 'boot',
      standbyAfter: dice.pick([0, 0, 15, 60]),
      targets: dice.chance(0.85) ? ['es'] : ['es', 'fr'],
    },
    maxDurationS: dice.pick([null, 60, 120, 600]),
    singleUse: dice.chance(0.8),
    expiresS: dice.pick([60, 3600]),
    habits: dice.chance(0.5) ? EAGER : OCCASIONAL,
    echo,
    roomAmplitude: dice.pick([20, 60, 100]),
    pieceTicks: dice.pick([16, 16, 16, 5, 1]),
    bootsIn1970: dice.chance(0.3),
    untold: more.chance(0.9) ? [] : more.pick([TEXTS, TEXTS.slice(0, 1)]),
  };
}

/** The same world with a lane that cancels its echo. */
function cancelling(terms: Terms, dice: Dice): Terms {
  return {
    ...terms,
    echo: dice.chance(0.9),
    lane: { ...terms.lane, echo: 'cancel', bargeIn: dice.pick(['duck', 'flush']) },
  };
}

/** Now and then a canceller breaks, and somebody orders the lane to try again. */
function breakCancellers(world: World, dice: Dice): void {
  const { clock, device, operator } = world;
  clock.at(clock.now() + dice.wait(BREAKS_EVERY_MS), () => {
    device.breakCanceller();
    clock.at(clock.now() + dice.between(10_000, 300_000), () => operator.command('echo', { mode: 'cancel' }));
    breakCancellers(world, dice);
  });
}

interface Drawn {
  readonly kind: string;
  readonly meanMs: number;
}

/** Which faults are on, and how often each comes: none of two seeds test the same mixture. */
export function drawSwarm(dice: Dice): Drawn[] {
  // A third of the seeds have one kind alone: what it takes to recover from it can be told from nothing else.
  if (dice.chance(0.33)) {
    const kinds = Object.keys(FAULTS);
    return [
      { kind: kinds[dice.whole(0, kinds.length - 1)] ?? 'reset', meanMs: dice.pick([60_000, 300_000]) },
    ];
  }
  const share = dice.pick([0.05, 0.15, 0.4]);
  return Object.keys(FAULTS)
    .filter(() => dice.chance(share))
    .map((kind) => ({ kind, meanMs: dice.pick([60_000, 300_000, 900_000, 2_400_000]) }));
}

interface Happening {
  readonly kind: string;
  readonly begun: number;
  readonly over: number;
}

function inject(
  world: World,
  swarm: readonly Drawn[],
  until: number,
  counts: Record<string, number>,
  happenings: Happening[],
  onFault: Meddling['onFault'],
): void {
  const { clock, dice } = world;
  const plan = (drawn: Drawn): void => {
    const at = clock.now() + dice.wait(drawn.meanMs);
    if (at >= until) return;
    clock.at(at, () => {
      counts[drawn.kind] = (counts[drawn.kind] ?? 0) + 1;
      const lasts = FAULTS[drawn.kind]?.(world);
      const begun = clock.now();
      onFault?.(drawn.kind, lasts?.forMs ?? 0, begun);
      const over = begun + (lasts?.forMs ?? 0);
      happenings.push({ kind: drawn.kind, begun, over });
      if (lasts === undefined) return plan(drawn);
      clock.at(over, () => {
        lasts.end();
        plan(drawn);
      });
    });
  };
  for (const drawn of swarm) plan(drawn);
}

/** Faults that began longer ago than this before the stream ended had nothing to do with it. */
const BLAMED_MS = 60_000;

/**
 * From the end of what ended the stream to the next time that the lane streams. It is counted only in seeds with one kind
 * of fault, so that each kind answers for itself.
 */
function followRecovery(world: World, happenings: Happening[], worst: Record<string, number>): void {
  let lostAt = 0;
  /** It sleeps, or nobody wants it: that is no failure. */
  let atRest = false;
  world.onTurn((now, streams) => {
    if (!streams) {
      lostAt = now;
      const phase = world.device.lane?.phase;
      atRest = phase === 'standby' || phase === 'draining' || phase === 'idle';
      return;
    }
    if (atRest) return;
    const about = happenings.filter(({ begun, over }) => begun <= now && over > lostAt - BLAMED_MS);
    happenings.splice(0, happenings.length, ...happenings.filter(({ over }) => over > now - BLAMED_MS));
    const [first] = about;
    if (first === undefined || about.some(({ kind }) => kind !== first.kind)) return;
    const overAt = about.reduce((latest, { over }) => Math.max(latest, over), 0);
    if (overAt > now || overAt < lostAt - BLAMED_MS) return;
    const tookS = Math.round((now - Math.max(overAt, lostAt)) / 100) / 10;
    worst[first.kind] = Math.max(worst[first.kind] ?? 0, tookS);
  });
}

/** A lane that is well: it streams, or sleeps because nobody speaks. */
function isWell(world: World): boolean {
  const { lane } = world.device;
  return lane !== null && (world.liveSince !== null || lane.phase === 'standby');
}

async function calm(world: World, until: number): Promise<void> {
  const { clock, device, operator, violations } = world;
  mendAll(world);
  device.start();
  clock.at(clock.now() + 20_000, () => {
    // A SIGTERM may have been under way.
    device.start();
    operator.command('unmute');
    operator.command('languages', { source: 'en', targets: ['es'] });
    if (device.lane?.wanted === false) operator.command('start');
  });
  clock.at(clock.now() + 30_000, () => {
    device.start();
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
    const phase = device.lane?.phase ?? 'no process';
    violations.check(
      'liveness',
      wellAt > calmAt,
      () => `not streaming ${WELL_WITHIN_MS / 1000} s after the last fault: ${phase}`,
    );
  });
  await clock.run(until);
  // At this very moment it may be waking.
  violations.check(
    'liveness',
    clock.now() - wellAt < AWAKE_WITHIN_MS,
    () => `the lane is ${device.lane?.phase ?? 'gone'} after a calm time`,
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

/**
 * One seed: stretches of up to an hour with faults, each with twelve calm minutes at its end.

 */
export async function runSeed(seed: number, hours: number, meddling: Meddling = {}): Promise<RunResult> {
  const dice = createDice(seed);
  const drawn = drawTerms(dice, createDice(seed + 2 ** 34));
  const echoDice = createDice(seed + 2 ** 35);
  const cancels = meddling.cancels === true;
  const world = createWorld(seed, cancels ? cancelling(drawn, echoDice) : drawn, meddling);
  const swarm = drawSwarm(dice);
  const faults: Record<string, number> = {};
  const worstRecoveryS: Record<string, number> = {};
  const happenings: Happening[] = [];
  const { clock, violations, speech, tallies } = world;
  if (swarm.length === 1) followRecovery(world, happenings, worstRecoveryS);
  world.device.start();
  if (cancels) breakCancellers(world, echoDice);
  const judge = (): void => {
    world.judge();
    clock.at(clock.now() + JUDGE_EVERY_MS, judge);
  };
  judge();
  const end = clock.now() + hours * HOUR_MS - 1;
  try {
    while (clock.now() < end && violations.list.length === 0) {
      const stretch = Math.min(HOUR_MS, end - clock.now());
      const startedAt = clock.now();
      const calmAt = startedAt + Math.max(stretch / 2, stretch - CALM_MS);
      inject(world, swarm, calmAt, faults, happenings, meddling.onFault);
      await clock.run(calmAt);
      await calm(world, startedAt + stretch);
    }
  } catch (error) {
    violations.add('crash', error instanceof Error ? `${error.message} ${error.stack ?? ''}` : String(error));
  }
  world.judge();
  return {
    ...{ seed, hours: (clock.now() - 1000) / HOUR_MS, violations: violations.list, faults, worstRecoveryS },
    ...{ tallies, trace: world.trace },
    spokenS: seconds(speech.spokenTicks),
    saidS: seconds(speech.saidTicks),
    saidLateS: seconds(speech.saidLate),
    excusedS: inSeconds(speech.excused),
  };
}
