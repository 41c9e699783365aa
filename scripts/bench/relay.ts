import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/** A message on a stream. Times are milliseconds of CLOCK_MONOTONIC, like those of the virtual cards. */
export type Passing =
  | { readonly kind: 'set_task'; readonly name: string; readonly atMs: number }
  | {
      readonly kind: 'sent';
      readonly name: string;
      readonly atMs: number;
      /** The chunk's first samples; null for silence. */
      readonly head: Int16Array | null;
      readonly samples: number;
    }
  | {
      readonly kind: 'received';
      readonly name: string;
      readonly atMs: number;
      /** Id of the sentence of this chunk. */
      readonly sentence: string;
      readonly pcm: Int16Array;
    };
export type Sent = Extract<Passing, { kind: 'sent' }>;
export type Received = Extract<Passing, { kind: 'received' }>;

export interface RelayTask {
  readonly service: { readonly hostname: string; readonly port: string };
  /** Names of the programs whose streams are relayed; each gets its own address. */
  readonly names: readonly string[];
}

export interface RelayReady {
  readonly isUrgent: boolean;
  readonly urls: Readonly<Record<string, string>>;
}

/** A relay between the measured programs and the service. */
export interface Relay extends RelayReady {
  /** All messages so far, in order. */
  readonly passed: readonly Passing[];
  /** The first matching message after now; rejects when it takes too long. */
  next(fits: (passing: Passing) => boolean, limitMs: number): Promise<Passing>;
  close(): Promise<void>;
}

export async function startRelay(task: RelayTask): Promise<Relay> {
  const worker = new Worker(fileURLToPath(new URL('./relay-thread.mjs', import.meta.url)), {
    workerData: task,
  });
  const passed: Passing[] = [];
  const waiting = new Set<(passing: Passing) => void>();
  const ready = await new Promise<RelayReady>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  worker.on('message', (passing: Passing) => {
    passed.push(passing);
    for (const look of waiting) look(passing);
  });
  return {
    ...ready,
    passed,
    next: (fits, limitMs) =>
      new Promise((resolve, reject) => {
        const end = (): void => {
          clearTimeout(limit);
          waiting.delete(look);
        };
        const limit = setTimeout(() => {
          end();
          reject(new Error(`no matching message within ${limitMs / 1000} s`));
        }, limitMs);
        const look = (passing: Passing): void => {
          if (!fits(passing)) return;
          end();
          resolve(passing);
        };
        waiting.add(look);
      }),
    close: async () => void (await worker.terminate()),
  };
}
