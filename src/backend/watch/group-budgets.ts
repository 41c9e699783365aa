/** Budget used this month by each group with a budget, from the ledger. */
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import type { BillLine } from '../../protocol/bill.ts';
import { billOf, readMonth } from '../bill/bill.ts';

const EVERY_MS = 600_000;
/** Pause after reading the sums, as a multiple of the reading time: reading takes at most 1 % of the database's time. */
const REST = 100;

export interface GroupBudgets {
  /** Groups with a budget that had sessions this month. */
  readonly lines: readonly BillLine[];
  /** Whether the ledger has been read. */
  readonly areKnown: boolean;
  close(): Promise<void>;
}

export function watchBudgets(parts: {
  readonly config: Pick<BackendConfig, 'groups' | 'devices'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly changed: (group: string) => void;
  readonly storeFailed: (error: unknown) => void;
}): GroupBudgets {
  const { config, store, clock, changed, storeFailed } = parts;
  const budgeted = new Set(
    config.groups.filter((one) => one.minutesPerMonth !== undefined).map(({ name }) => name),
  );
  let lines: readonly BillLine[] = [];
  let areKnown = false;
  let isClosed = false;
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    const began = clock.now();
    try {
      const now = clock.wall();
      const month = now === null ? null : readMonth(new Date(now).toISOString().slice(0, 7));
      if (now !== null && month !== null) {
        const sums = await store.sums(month.from, month.to);
        const all = billOf(sums, config, 'group', month, now);
        lines = [...budgeted].flatMap((name) => all.find((line) => line.name === name) ?? []);
        areKnown = true;
        for (const name of budgeted) changed(name);
      }
    } catch (error) {
      storeFailed(error);
    }
    if (isClosed) return;
    const took = clock.now() - began;
    cancel = clock.at(clock.now() + Math.max(EVERY_MS, took * REST), begin);
  };
  const begin = (): void => {
    running = look();
  };
  if (budgeted.size > 0) begin();

  return {
    get lines() {
      return lines;
    },
    get areKnown() {
      return areKnown;
    },
    async close() {
      isClosed = true;
      cancel();
      await running;
    },
  };
}
