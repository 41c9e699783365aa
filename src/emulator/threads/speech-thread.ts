import { Worker } from 'node:worker_threads';
import { endWorker } from '../../adapters/worker-end.ts';
import { type RenderJob, render } from '../core/render.ts';
import type { FromSpeech, ToSpeech } from './message.ts';

/** Makes the speech of a job. Never rejects. */
export interface SpeechMaker {
  make(job: RenderJob): Promise<Uint8Array>;
  /** Number of jobs to give it at once. */
  readonly atOnce: number;
  readonly thread: boolean;
  close(): void;
}

/** Makes speech in this thread, each rendering in a separate turn, so that sockets are served in between. */
const hereMaker = (): SpeechMaker => ({
  make: (job) => new Promise((resolve) => setImmediate(() => resolve(render(job)))),
  atOnce: 1,
  thread: false,
  close() {},
});

/** Jobs given to the thread at once: it works on one while the next arrives. */
const AT_ONCE = 2;

/** @param thread the thread's code; null: no thread */
export function createSpeechMaker(thread: URL | null, complain: (sentence: string) => void): SpeechMaker {
  if (thread === null) return hereMaker();
  const here = hereMaker();
  const jobs = new Map<number, { job: RenderJob; resolve: (pcm: Uint8Array) => void }>();
  let worker: Worker | null = new Worker(thread, { name: 'speech', workerData: 'speech' });

  const takeOver = (why: string): void => {
    if (worker === null) return;
    worker = null;
    complain(
      `the thread that makes speech has ended (${why}); its work is done in the main thread from now on`,
    );
    for (const { job, resolve } of jobs.values()) void here.make(job).then(resolve);
    jobs.clear();
  };
  worker.unref();
  worker.on('message', ({ id, pcm }: FromSpeech) => {
    jobs.get(id)?.resolve(pcm);
    jobs.delete(id);
  });
  worker.on('error', (error) => takeOver(error.message));
  worker.on('exit', (code) => takeOver(`code ${code}`));

  return {
    make(job) {
      if (worker === null) return here.make(job);
      return new Promise((resolve) => {
        jobs.set(job.id, { job, resolve });
        worker?.postMessage(job satisfies ToSpeech);
      });
    },
    atOnce: AT_ONCE,
    get thread() {
      return worker !== null;
    },
    close() {
      const ended = worker;
      worker = null;
      jobs.clear();
      if (ended !== null) endWorker(ended);
    },
  };
}
