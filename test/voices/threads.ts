/** Jobs shared out among worker threads, each of which runs the same bundle as the main thread. */
import { fileURLToPath } from 'node:url';
import { parentPort, Worker } from 'node:worker_threads';

/** A thread that has had nothing to do for so long compiles nothing any more. */
const IDLE_MS = 500;

/** In a worker: does each job that comes, and says what came of it. */
export function serveJobs<Job, Answer>(perform: (job: Job) => Promise<Answer>): void {
  parentPort?.on('message', (job: Job) => {
    perform(job).then(
      (answer) => parentPort?.postMessage(answer),
      (error: unknown) => {
        throw error;
      },
    );
  });
  parentPort?.postMessage(null);
}

/** In the main thread: the answers to all jobs, in the order in which they came. @param workerData for each worker */
export async function shareJobs<Job, Answer>(
  jobs: readonly Job[],
  workerData: unknown,
  threads: number,
): Promise<Answer[]> {
  const queue = [...jobs];
  const answers: Answer[] = [];
  const runOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(fileURLToPath(import.meta.url), { workerData });
      worker.on('error', reject);
      worker.on('message', (answer: Answer | null) => {
        if (answer !== null) answers.push(answer);
        const next = queue.shift();
        if (next !== undefined) return worker.postMessage(next);
        // Node 20 may end the whole program when a thread ends while its code is still being compiled.
        setTimeout(() => void worker.terminate().then(() => resolve()), IDLE_MS);
      });
    });
  await Promise.all(Array.from({ length: Math.min(threads, jobs.length) }, runOne));
  return answers;
}
