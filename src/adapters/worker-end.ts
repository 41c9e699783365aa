import type { Worker } from 'node:worker_threads';

/** Time for a thread to end by itself (milliseconds); then it is terminated. */
const GRACE_MS = 10_000;

/** The message that asks a thread to end: it closes its port, and ends when its work is done. */
export const END = null;
export type End = typeof END;

/**
 * Ends a thread. `terminate()` alone would interrupt it anywhere, and Node.js 20 aborts the whole process if V8 is compiling for
 * that thread at the time.
 */
export function endWorker(worker: Worker, graceMs = GRACE_MS): void {
  const late = setTimeout(() => void worker.terminate(), graceMs);
  late.unref();
  worker.once('exit', () => clearTimeout(late));
  worker.postMessage(END);
}
