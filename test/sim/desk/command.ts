/** `npm run sim -- --desk`: conversations of two people in each form, on worker threads. */
import { parentPort, Worker } from 'node:worker_threads';
import { type DeskResult, runDesk } from './desk.ts';
import type { Form } from './people.ts';
import { addFigures, brokenPromises, FORMS, noFigures } from './sum.ts';

/** Data of a worker thread that runs conversations. */
export const DESK_WORK = { desk: true } as const;

interface Order {
  readonly seed: number;
  readonly form: Form;
}

export interface DeskCommand {
  /** Conversations in each form. */
  readonly seeds: number;
  readonly seed: number;
  readonly threads: number;
  readonly json: boolean;
  /** The bundle of this program. */
  readonly file: string;
  write(line: string): void;
}

/** Every second conversation has an outage. */
const hasFaults = (seed: number): boolean => seed % 2 === 1;

export async function simulateDesk({
  seeds,
  seed,
  threads,
  json,
  file,
  write,
}: DeskCommand): Promise<number> {
  const orders: Order[] = Array.from({ length: seeds }, (_, index) =>
    FORMS.map((form) => ({ seed: seed + index, form })),
  ).flat();
  const sums = noFigures();
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(file, { workerData: DESK_WORK });
      let order: Order | undefined;
      const give = (): void => {
        order = orders.shift();
        if (order !== undefined) return worker.postMessage(order);
        void worker.terminate();
        resolve();
      };
      worker.on('message', ({ figures, problems }: DeskResult) => {
        const sum = sums.get(figures.form);
        if (sum !== undefined) sums.set(figures.form, addFigures(sum, figures));
        for (const problem of json ? [] : problems) write(`seed ${order?.seed} ${figures.form}: ${problem}`);
        give();
      });
      worker.on('error', reject);
      give();
    });
  await Promise.all(Array.from({ length: Math.min(threads, seeds) }, work));
  const broken = [...sums.values()].flatMap(brokenPromises);
  if (json) write(JSON.stringify({ desk: { seed, seeds, forms: Object.fromEntries(sums), broken } }));
  else {
    for (const figures of sums.values()) write(JSON.stringify(figures));
    for (const line of broken) write(`broken: ${line}`);
  }
  return broken.length === 0 ? 0 : 1;
}

/** Runs conversations for the main thread. */
export function serveDesk(): void {
  parentPort?.on('message', ({ seed, form }: Order) => {
    runDesk(seed, form, { faults: hasFaults(seed) }).then(
      (result) => parentPort?.postMessage(result),
      (error: unknown) => {
        throw error;
      },
    );
  });
}
