import type { Worker } from 'node:worker_threads';

/** A thread that has not ended by itself after this long is ended in whatever it does. */
const GRACE_MS = 10_000;

/** What a thread is told when it is to end: it closes its port, and ends when its work is done. */
export const END = null;
export type End = typeof END;

/**
 * Ends a thread. `terminate()` alone would end it in whatever it does, and Node.js 20 aborts the whole process where V8
 * is just compiling for it.
 */
export function endWorker(worker: Worker, graceMs = GRACE_MS): void {
  const late = setTimeout(() => void worker.terminate(), graceMs);
  late.unref();
  worker.once('exit', () => clearTimeout(late));
  worker.postMessage(END);
}
