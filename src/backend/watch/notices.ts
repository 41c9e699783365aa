/** Decides when to notify people of trouble: once per change, by only one of the backends. */

import { PendingWork } from '../../machine/pending-work.ts';
import type { Clock } from '../../ports/clock.ts';
import { FINE, type Store } from '../../ports/store.ts';
import type { Condition } from '../fleet/condition.ts';

/** A change is reported if it lasts this long (ms): a kiosk that reconnects sooner does not count as lost. */
export const HOLDS_MS = 30_000;

/** Subject of a retry that only reads the alerts sent so far. */
const NO_SUBJECT = '';

export interface Change {
  readonly subject: string;
  readonly condition: Condition;
  readonly before: string;
}

export interface NoticesParts {
  readonly store: Pick<Store, 'tell' | 'told'>;
  readonly clock: Clock;
  /** Null: not known yet. */
  readonly conditionOf: (subject: string) => Condition | null;
  readonly tell: (change: Change) => void;
  readonly storeFailed: (error: unknown) => void;
}

export interface Notices {
  /** Checks a subject whose condition may have changed. */
  look(subject: string): void;
  close(): Promise<void>;
}

export function createNotices({ store, clock, conditionOf, tell, storeFailed }: NoticesParts): Notices {
  const looks = new Map<string, () => void>();
  const pending = new PendingWork();
  let isClosed = false;
  /** The last alert on each subject, as known by this backend. */
  const lastSent = new Map<string, string>();
  let isRead = false;
  const lastSentOf = (subject: string): string => lastSent.get(subject) ?? FINE;

  /** Reads the alerts sent before this start: the trouble may be over. */
  const read = async (): Promise<void> => {
    for (const [subject, what] of await store.told()) lastSent.set(subject, what);
    isRead = true;
    for (const subject of lastSent.keys()) look(subject);
  };

  const settle = async (subject: string): Promise<void> => {
    try {
      if (!isRead) await read();
      const condition = conditionOf(subject);
      const before = lastSentOf(subject);
      if (condition === null || condition === before) return;
      const isNews = await store.tell(subject, condition);
      if (condition === FINE) lastSent.delete(subject);
      else lastSent.set(subject, condition);
      if (isNews) tell({ subject, condition, before });
    } catch (error) {
      storeFailed(error);
      plan(subject);
    }
  };

  const plan = (subject: string): void => {
    if (isClosed || looks.has(subject)) return;
    const cancel = clock.at(clock.now() + HOLDS_MS, () => {
      looks.delete(subject);
      pending.add(settle(subject));
    });
    looks.set(subject, cancel);
  };

  const look = (subject: string): void => {
    const condition = conditionOf(subject);
    if (condition !== null && condition !== lastSentOf(subject)) plan(subject);
  };
  const readAtStart = read().catch((error: unknown) => {
    storeFailed(error);
    plan(NO_SUBJECT);
  });
  pending.add(readAtStart);

  return {
    look,
    async close() {
      isClosed = true;
      for (const cancel of looks.values()) cancel();
      await pending.idle();
    },
  };
}
