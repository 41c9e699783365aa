/** The command line of `npm run echo`: distributes cells to one worker thread per core. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, workerData } from 'node:worker_threads';
import { openLibrary } from '../voices/material.ts';
import { fetchRecordings } from '../voices/packages.ts';
import { RATE_HZ } from '../voices/recordings.ts';
import { serveJobs, shareJobs } from '../voices/threads.ts';
import {
  type Cell,
  CHANGING_CELLS,
  ECHO_CELLS,
  HOUR_CELL,
  MICROPHONE_CELLS,
  SECRET_CELL,
  SHORT_CELLS,
  VISITOR_CELLS,
} from './cell.ts';
import { drawCell } from './drawn.ts';
import { fallbacks, heardThrough, judgeEcho, judgeFallback, judgeVisitor } from './judge.ts';
import { BLOCK_SAMPLES, type Performance, perform, type Voices } from './perform.ts';
import { misses, printTables, type Result } from './tables.ts';

const USAGE = `npm run echo -- [options]

Plays recorded people through a loudspeaker, a room and a microphone to a lane with echo cancelling, in virtual time. Measures
how much of each sentence is removed, how much of a visitor is sent, and whether the lane falls back to half-duplex. The
recordings come from Debian packages, by "apt-get download". Exits with 1 if a goal is missed, and with 0 and a message if the
recordings are not available.

  --seed S      seed for the speech and its times (1)
   --only TEXTS  only cells whose names contain one of these texts, separated by semicolons
   --drawn N     also N random kiosks: rooms with walls, distorting loudspeakers, busy machines (12)
   --short       only some cells, within two minutes
   --threads T   number of threads (one per core)
  --json        the result as {"echo": {...}} on the last line
`;

interface Job {
  readonly cell: Cell;
  readonly number: number;
}
interface Task {
  readonly folder: string;
  readonly seed: number;
}

/** Pairs of speakers for the service and the visitor. */
const PAIRS = [
  ['es', 'en'],
  ['it', 'fr'],
  ['fr', 'ru'],
  ['ru', 'it'],
] as const;

/** Shortest sentence of the service (s). `ANSWERS`: share of short answers, which may be shorter. */
const SENTENCE_S = 2;
const ANSWERS = 0.4;

function voicesOf(folder: string, number: number): Voices {
  const library = openLibrary(folder);
  const [loudspeaker, visitor] = PAIRS[number % PAIRS.length] ?? PAIRS[0];
  return {
    loudspeaker(dice) {
      if (dice.chance(ANSWERS)) return library.answer(dice, loudspeaker).sound;
      while (true) {
        const { sound } = library.utterance(dice, loudspeaker);
        if (sound.length >= SENTENCE_S * RATE_HZ) return sound;
      }
    },
    visitor: (dice) => library.utterance(dice, visitor).sound,
  };
}

function resultOf(performance: Performance): Result {
  const { cell, driftPpm, workMsPerS, breaks } = performance;
  return {
    name: cell.name,
    driftPpm,
    workMsPerS,
    fallbacks: fallbacks(performance),
    heardS: heardThrough(performance),
    breaksS: breaks.map((block) => (block * BLOCK_SAMPLES) / RATE_HZ),
    sentences: judgeEcho(performance),
    visit: judgeVisitor(performance),
    ...judgeFallback(performance),
  };
}

function work({ folder, seed }: Task): void {
  const run = async ({ cell, number }: Job): Promise<Result> => {
    return resultOf(await perform(cell, voicesOf(folder, number), seed * 1000 + number));
  };
  serveJobs(run);
}

/** Runs the longest jobs first. @returns the results in the order of the jobs */
async function share(jobs: readonly Job[], task: Task, threads: number): Promise<Result[]> {
  const longestFirst = jobs.toSorted((one, other) => other.cell.seconds - one.cell.seconds);
  const results = await shareJobs<Job, Result>(longestFirst, task, threads);
  return jobs.flatMap(({ cell }) => results.filter(({ name }) => name === cell.name));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      drawn: { type: 'string', default: '12' },
      short: { type: 'boolean', default: false },
      threads: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(USAGE);
  const [seed = 0, threads = 0, draws = 0] = [values.seed, values.threads, values.drawn].map(Number);
  const drawn = Array.from({ length: draws }, (_, index) => drawCell(seed * 100 + index));
  const all = values.short
    ? SHORT_CELLS
    : [
        ...ECHO_CELLS,
        ...CHANGING_CELLS,
        SECRET_CELL,
        ...VISITOR_CELLS,
        HOUR_CELL,
        ...MICROPHONE_CELLS,
        ...drawn,
      ];
  const only = values.only.split(';');
  const jobs = all
    .map((cell, number) => ({ cell, number }))
    .filter(({ cell }) => only.some((text) => cell.name.includes(text)));
  if (![seed, threads].every((number) => Number.isInteger(number) && number > 0) || jobs.length === 0) {
    process.stderr.write(`--seed and --threads are whole numbers from 1; --only must fit a cell\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const fetched = await fetchRecordings();
  if ('missing' in fetched) {
    process.stdout.write(`skipped: ${fetched.missing}\n`);
    if (values.json) process.stdout.write(`${JSON.stringify({ skipped: fetched.missing })}\n`);
    return;
  }
  const results = await share(jobs, { folder: fetched.folder, seed }, threads);
  process.stdout.write(printTables(results));
  const missed = misses(results);
  for (const miss of missed) process.stdout.write(`missed: ${miss}\n`);
  if (missed.length > 0) process.exitCode = 1;
  if (values.json) process.stdout.write(`${JSON.stringify({ echo: { seed, results } })}\n`);
}

try {
  await (isMainThread ? main() : work(workerData as Task));
} catch (error) {
  if (!isMainThread) throw error;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 2;
}
