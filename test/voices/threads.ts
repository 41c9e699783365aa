/** Distributes jobs to worker threads, which run the same bundle as the main thread. */
import { fileURLToPath } from 'node:url';
import { parentPort, Worker } from 'node:worker_threads';

/** Idle time after which a thread no longer compiles code (ms). */
const IDLE_MS = 500;

/** In a worker: performs each job and returns its answer. */
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

/** In the main thread: runs all jobs. @returns the answers in the order of the jobs @param workerData data for each worker */
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
        // Node 20 may crash if a thread ends while its code is still being compiled.
        setTimeout(() => void worker.terminate().then(() => resolve()), IDLE_MS);
      });
    });
  await Promise.all(Array.from({ length: Math.min(threads, jobs.length) }, runOne));
  return answers;
}
