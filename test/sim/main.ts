/** The simulator's command line. Worker threads, one per core, run the seeds. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { runDay, runRollovers } from './day.ts';
import { serveDesk, simulateDesk } from './desk/command.ts';
import { FAULTS } from './faults.ts';
import { recoveryBoundS } from './recovery.ts';
import { REGRESSIONS } from './regressions.ts';
import { type RunResult, runSeed } from './run-seed.ts';
import { EXCUSES } from './speech-excuses.ts';
import {
  type Generation,
  NEWEST,
  SERVICE_CASES,
  type ServiceCase,
  type Terms,
  withService,
} from './terms.ts';
import { addRun, createUnnamedSums, tooMuchUnnamed } from './unnamed.ts';

interface Options {
  readonly seeds: number;
  readonly hours: number;
  readonly seed: number;
  readonly threads: number;
  readonly json: boolean;
  readonly cancel: boolean;
  readonly generation: Generation;
  readonly faults: readonly string[] | undefined;
  readonly twoLanes: boolean;
  readonly serviceCase: ServiceCase | undefined;
}

const USAGE = `npm run sim -- [options]

Runs the agent's core and loop in a simulated world with faults drawn from a seed.
Exits with 1 if a rule is broken, and prints a line that reproduces it.

  --seeds N       number of seeds; each is a world (20)
  --hours H       simulated hours per seed (1)
  --seed S        the first seed (random)
  --threads T     worker threads (one per core)
  --json          print the result as {"sim": {...}}
  --cancel        all lanes cancel their echo (otherwise half-duplex or "off")
  --generation G  1: short sentences, fewer faults; 2: also natural speech, owners; 3: also opening hours, budgets, parts (3)
  --case a|b|c    the service has a: ids and times, b: ids, c: neither (otherwise drawn)
  --two-lanes     two lanes in every agent (otherwise in every eighth)
  --fault KINDS   only these faults, in every seed, such as documents,kill
  --day           a museum's day without faults: billed time, and cost of a rollover
  --desk          conversations of two people, --seeds N in each form (300 prove the figures)
  --regressions   all seeds that have found a defect
  --help
`;

/** Seeds between two lines of progress. */
const SEEDS_PER_PROGRESS_LINE = 100;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

function merge(into: Record<string, number>, from: Readonly<Record<string, number>>, add: boolean): void {
  for (const [key, value] of Object.entries(from)) {
    into[key] = add ? (into[key] ?? 0) + value : Math.max(into[key] ?? 0, value);
  }
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

function sorted(record: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Runs the seeds on worker threads; each thread takes the next seed when it is free. */
function runSeeds(
  { seeds, seed, threads, ...given }: Options,
  onResult: (result: RunResult) => void,
): Promise<void> {
  let next = 0;
  const wanted = Math.min(threads, seeds);
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(fileURLToPath(import.meta.url), { workerData: given });
      const give = (): void => {
        if (next >= seeds) {
          void worker.terminate();
          resolve();
        } else worker.postMessage(seed + next++);
      };
      worker.on('message', (result: RunResult) => {
        onResult(result);
        give();
      });
      worker.on('error', reject);
      give();
    });
  return Promise.all(Array.from({ length: wanted }, work)).then(() => {});
}

/** The options that reproduce a run. */
function optionsToReproduce({ cancel, generation, faults, twoLanes, serviceCase }: Options): string {
  const options = [
    cancel ? ' --cancel' : '',
    generation === NEWEST ? '' : ` --generation ${generation}`,
    twoLanes ? ' --two-lanes' : '',
    serviceCase === undefined ? '' : ` --case ${serviceCase}`,
    faults === undefined ? '' : ` --fault ${faults.join(',')}`,
  ];
  return options.join('');
}

async function simulate(options: Options): Promise<number> {
  const { seeds, hours, seed, json } = options;
  const faults: Record<string, number> = {};
  const worst: Record<string, number> = {};
  const excused: Record<string, number> = {};
  const unnamed = createUnnamedSums();
  const totals = { hours: 0, violations: 0, spokenS: 0, saidS: 0, saidLateS: 0, rollovers: 0, sessions: 0 };
  const overlap = { splits: 0, times: 0, ms: 0, longestMs: 0 };
  let done = 0;
  const startedAt = process.hrtime.bigint();
  if (!json) write(`${seeds} seeds from ${seed}, ${hours} h each, ${options.threads} threads`);
  await runSeeds(options, (result) => {
    merge(faults, result.faults, true);
    merge(worst, result.worstRecoveryS, false);
    merge(excused, result.excusedS, true);
    totals.hours += result.hours;
    totals.spokenS += result.spokenS;
    totals.saidS += result.saidS;
    totals.saidLateS += result.saidLateS;
    addRun(unnamed, result);
    totals.rollovers += result.tallies.rollovers;
    totals.sessions += result.tallies.sessions;
    overlap.splits += result.tallies.splits;
    overlap.times += result.tallies.overlaps;
    overlap.ms += result.tallies.overlapMs;
    overlap.longestMs = Math.max(overlap.longestMs, result.tallies.longestOverlapMs);
    const [first] = result.violations;
    if (first !== undefined) totals.violations += 1;
    if (++done % SEEDS_PER_PROGRESS_LINE === 0 && !json)
      write(`${done} seeds, ${totals.hours.toFixed(0)} h, ${totals.violations} with violations`);
    if (first === undefined) return;
    write(
      `npm run sim -- --seed ${result.seed} --seeds 1 --hours ${hours}${optionsToReproduce(options)}   # ${first.rule} at ${(first.atMs / 1000).toFixed(1)} s: ${first.text.split('\n')[0]}`,
    );
  });
  const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
  const speedup = Math.round((totals.hours * 3600) / seconds);
  const tooMuch = tooMuchUnnamed(unnamed);
  if (json) {
    const sim = {
      seeds,
      hours: Math.round(totals.hours * 100) / 100,
      speedup,
      violations: totals.violations,
      faults: sorted(faults),
      worst_recovery_s: sorted(worst),
      unnamed: Object.fromEntries(
        Object.entries(unnamed).map(([one, { hours: of, unsaidS, twiceS }]) => [
          one,
          { hours: tenths(of), unsaid_s: tenths(unsaidS), twice_s: tenths(twiceS) },
        ]),
      ),
      too_much_unnamed: tooMuch,
    };
    write(JSON.stringify({ sim }));
  } else {
    write(`${totals.hours.toFixed(1)} device-hours in ${seconds.toFixed(1)} s: ${speedup} times real time`);
    write(
      `${totals.sessions} sessions, ${totals.rollovers} rollovers, ${totals.violations} seeds with violations`,
    );
    const mean = overlap.ms / Math.max(1, overlap.times) / 1000;
    write(
      `two streams at once: mean ${mean.toFixed(1)} s, longest ${(overlap.longestMs / 1000).toFixed(1)} s; sentences cut in two: ${overlap.splits}`,
    );
    const list = (names: readonly string[], of: Record<string, number>): string =>
      names.map((name) => `${name} ${(of[name] ?? 0).toFixed(1)}`).join(', ');
    write(
      `speech ${Math.round(totals.spokenS)} s, said ${Math.round(totals.saidS)} s (${totals.saidLateS.toFixed(1)} s late); unsaid with a reason (s): ${list(EXCUSES, excused)}`,
    );
    for (const [one, { hours: of, unsaidS, twiceS }] of Object.entries(unnamed))
      write(
        `case ${one}: ${of.toFixed(1)} h, in doubt ${unsaidS.toFixed(1)} s unsaid, ${twiceS.toFixed(1)} s said twice`,
      );
    for (const line of tooMuch) write(`too much in doubt: ${line}`);
    const isCounted = (kind: string): boolean => Object.hasOwn(faults, kind);
    for (const kind of Object.keys(worst)) if (!isCounted(kind)) faults[kind] = 0;
    for (const [kind, count] of Object.entries(sorted(faults))) {
      const recovery = `worst recovery ${worst[kind] ?? '-'} s of ${recoveryBoundS(kind)} s`;
      write(`  ${kind.padEnd(26)} ${String(count).padStart(7)}   ${recovery}`);
    }
  }
  return totals.violations + tooMuch.length === 0 ? 0 : 1;
}

async function showDay(seed: number): Promise<number> {
  const day = await runDay(seed);
  const rollover = await runRollovers(seed);
  write(JSON.stringify({ day, rollover }));
  return day.violations + rollover.violations === 0 ? 0 : 1;
}

function readOptions(): Options & { day: boolean; desk: boolean; regressions: boolean; help: boolean } {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '20' },
      hours: { type: 'string', default: '1' },
      seed: { type: 'string' },
      threads: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'boolean', default: false },
      cancel: { type: 'boolean', default: false },
      generation: { type: 'string', default: String(NEWEST) },
      fault: { type: 'string' },
      'two-lanes': { type: 'boolean', default: false },
      case: { type: 'string' },
      day: { type: 'boolean', default: false },
      desk: { type: 'boolean', default: false },
      regressions: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const kinds = values.fault?.split(',');
  const unknown = kinds?.find((kind) => !Object.hasOwn(FAULTS, kind));
  if (unknown !== undefined)
    throw new Error(`--fault: unknown kind "${unknown}"; use ${Object.keys(FAULTS).join(', ')}`);
  const serviceCase = SERVICE_CASES.find((one) => one === values.case);
  if (values.case !== undefined && serviceCase === undefined)
    throw new Error(`--case must be a, b or c, not "${values.case}"`);
  const number = (name: string, text: string, least: number): number => {
    const value = Number(text);
    if (!(value >= least)) throw new Error(`--${name} must be a number of at least ${least}, not "${text}"`);
    return value;
  };
  return {
    seeds: number('seeds', values.seeds, 1),
    hours: number('hours', values.hours, 0.01),
    // A random seed by default; the output names it, and each failure names its own.
    seed: values.seed === undefined ? Math.floor(Math.random() * 1e9) : number('seed', values.seed, 0),
    threads: number('threads', values.threads, 1),
    generation: Math.min(NEWEST, Math.round(number('generation', values.generation, 1))) as Generation,
    json: values.json,
    cancel: values.cancel,
    faults: kinds,
    twoLanes: values['two-lanes'],
    serviceCase,
    day: values.day,
    desk: values.desk,
    regressions: values.regressions,
    help: values.help,
  };
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (options.day) return showDay(options.seed);
  if (options.desk) return simulateDesk({ ...options, file: fileURLToPath(import.meta.url), write });
  if (!options.regressions) return simulate(options);
  let code = 0;
  for (const { seed, hours, generation } of REGRESSIONS)
    code = Math.max(code, await simulate({ ...options, seed, hours, generation, seeds: 1 }));
  return code;
}

if (isMainThread) {
  // A closed pipe (such as `head`) is not a failure.
  process.stdout.on('error', () => process.exit());
  process.exitCode = await main();
} else if ((workerData as { desk?: unknown }).desk) {
  serveDesk();
} else {
  type Given = Omit<Options, 'seeds' | 'seed' | 'threads'>;
  const { hours, cancel, generation, faults, twoLanes, serviceCase } = workerData as Given;
  const changeTerms = serviceCase && { changeTerms: (drawn: Terms) => withService(drawn, serviceCase) };
  parentPort?.on('message', (seed: number) => {
    runSeed(seed, hours, { cancels: cancel, generation, faults, twoLanes, ...changeTerms }).then(
      (result) => parentPort?.postMessage(result),
      (error: unknown) => {
        throw error;
      },
    );
  });
}
