/** The command line of `npm run voices`: distributes jobs to one worker thread per core. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, workerData } from 'node:worker_threads';
import { loadSpeechDetector } from '../../src/adapters/voice/speech-detector.ts';
import { withTalk } from '../../src/sound/speech/talk-detector.ts';
import {
  hearMix,
  hearNoise,
  hearOther,
  hearUtterance,
  MIXES,
  type Mix,
  type UtteranceResult,
} from './draws.ts';
import { openLibrary } from './material.ts';
import { KINDS, type Kind } from './noises.ts';
import { OTHERS, type OtherName } from './others.ts';
import { fetchRecordings } from './packages.ts';
import {
  type Answer,
  misses,
  NO_TOLERANCE,
  printOthers,
  printTables,
  summarise,
  TOLERANCE,
} from './tables.ts';
import { serveJobs, shareJobs } from './threads.ts';

const USAGE = `npm run voices -- [options]

Plays recorded people and the noises of rooms to the shipped voice detector and lane, in virtual time. Measures whether each
utterance wakes a lane in standby and reaches the service whole, and how often noise wakes it. The recordings come from Debian
packages, by "apt-get download". Exits with 1 if a goal is missed, and with 0 and a message if the recordings are not available.

  --draws N     number of draws: half utterances, half 72 s of noise (1000)
   --seed S      seed of the first draw (1)
   --only NAME   only "utterances", a kind of noise or a mix; may be repeated
   --threads T   number of threads (one per core)
   --others N    only the sounds that the detector was not tuned on, N times each; they have no goal
   --tolerant    for few draws: exits with 1 only if a goal is missed by far
   --list        list each utterance that was not whole
  --json        the result as {"voices": {...}} on the last line
`;

type Job =
  | { readonly what: 'utterances'; readonly from: number; readonly until: number }
  | { readonly what: 'noise'; readonly kind: Kind; readonly stretches: number }
  | { readonly what: 'mix'; readonly mix: Mix; readonly talks: number }
  | { readonly what: 'other'; readonly name: OtherName; readonly times: number };

interface Task {
  readonly folder: string;
  readonly seed: number;
}

const UTTERANCES_A_JOB = 25;

function jobsFor(draws: number): Job[] {
  const utterances = Math.round(draws / 2);
  const stretches = Math.max(1, Math.round((draws - utterances) / KINDS.length));
  const jobs: Job[] = KINDS.map((kind) => ({ what: 'noise', kind, stretches }));
  for (const mix of Object.keys(MIXES)) {
    jobs.push({ what: 'mix', mix: mix as Mix, talks: Math.max(2, Math.round(stretches / 6)) });
  }
  for (let from = 0; from < utterances; from += UTTERANCES_A_JOB) {
    jobs.push({ what: 'utterances', from, until: Math.min(utterances, from + UTTERANCES_A_JOB) });
  }
  // Babble and music take the longest time to make.
  return jobs.sort((one, other) => weight(other) - weight(one));
}

function otherJobs(times: number): Job[] {
  return Object.keys(OTHERS).map((name) => ({ what: 'other', name: name as OtherName, times }));
}

function nameOf(job: Job): string {
  if (job.what === 'other') return job.name;
  if (job.what === 'utterances') return job.what;
  return job.what === 'noise' ? job.kind : job.mix;
}

function chosen(jobs: readonly Job[], only: readonly string[]): readonly Job[] {
  const names = new Set(jobs.map(nameOf));
  const unknown = only.find((name) => !names.has(name));
  if (unknown !== undefined)
    throw new Error(`--only ${unknown} must be one of ${[...names].sort().join(', ')}`);
  return only.length === 0 ? jobs : jobs.filter((job) => only.includes(nameOf(job)));
}

function weight(job: Job): number {
  if (job.what === 'mix') return 2;
  if (job.what === 'noise') return job.kind === 'babble' || job.kind === 'music' ? 3 : 1;
  return 0;
}

async function work({ folder, seed }: Task): Promise<void> {
  const library = openLibrary(folder);
  const { create, name } = await loadSpeechDetector();
  if (name !== 'fvad') throw new Error('the voice detector fvad.wasm is not beside the program');
  const world = { library, seed, createVoiceDetector: withTalk(create) };
  const perform = async (job: Job): Promise<Answer> => {
    switch (job.what) {
      case 'noise':
        return { what: 'noise', result: await hearNoise(world, job.kind, job.stretches) };
      case 'mix':
        return { what: 'mix', result: await hearMix(world, job.mix, job.talks) };
      case 'other':
        return { what: 'other', result: await hearOther(world, job.name, job.times) };
      case 'utterances': {
        const results: UtteranceResult[] = [];
        for (let index = job.from; index < job.until; index++)
          results.push(await hearUtterance(world, index));
        return { what: 'utterances', results };
      }
    }
  };
  serveJobs(perform);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      draws: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', multiple: true, default: [] },
      threads: { type: 'string', default: String(availableParallelism()) },
      others: { type: 'string', default: '0' },
      tolerant: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(USAGE);
  const [draws, seed, threads, others] = [values.draws, values.seed, values.threads, values.others].map(
    Number,
  ) as [number, number, number, number];
  if (![draws, seed, threads, others + 1].every((number) => Number.isInteger(number) && number > 0)) {
    process.stderr.write(
      `--draws, --seed and --threads are whole numbers from 1, --others from 0\n\n${USAGE}`,
    );
    process.exitCode = 2;
    return;
  }
  const jobs = chosen(others > 0 ? otherJobs(others) : jobsFor(draws), values.only);
  const fetched = await fetchRecordings();
  if ('missing' in fetched) {
    process.stdout.write(`skipped: ${fetched.missing}\n`);
    if (values.json) process.stdout.write(`${JSON.stringify({ skipped: fetched.missing })}\n`);
    return;
  }
  const task: Task = { folder: fetched.folder, seed };
  const answers = await shareJobs<Job, Answer>(jobs, task, threads);
  if (others > 0) return void process.stdout.write(printOthers(answers));
  const summary = summarise(answers);
  process.stdout.write(printTables(summary, values.list));
  const missed = misses(summary, values.tolerant ? TOLERANCE : NO_TOLERANCE);
  for (const miss of missed) process.stdout.write(`missed: ${miss}\n`);
  if (missed.length > 0) process.exitCode = 1;
  if (values.json) process.stdout.write(`${JSON.stringify({ voices: summary.figures })}\n`);
}

try {
  await (isMainThread ? main() : work(workerData as Task));
} catch (error) {
  if (!isMainThread) throw error;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 2;
}
