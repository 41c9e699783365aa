/** A store in memory and virtual time for very many devices: one transaction after the other, each of which takes its time. */

import type { Clock } from '../../../src/ports/clock.ts';
import type {
  BookChange,
  DecideCounted,
  LaneToCheck,
  MintRow,
  SessionRow,
  SessionToRevoke,
  Store,
  UnusedCount,
  UnusedCounts,
} from '../../../src/ports/store.ts';

/** As measured with SQLite: 260 sessions a second, each with three transactions. */
const TRANSACTION_MS = 1.25;
const REVOKED_WITHIN_MS = 3000;

interface Book {
  readonly mints: Map<string, MintRow>;
  readonly sessions: Map<string, SessionRow>;
  isKnown: boolean;
}
interface Found<T> {
  readonly device: string;
  readonly row: T;
}

/** @param known devices that had a session on an earlier day */
export function createVirtualStore(clock: Clock & { settle(): void }, known: readonly string[]): Store {
  const books = new Map<string, Book>();
  /** Requests that are being made or looked for, sessions that wait for their stream, and sessions that leave. */
  const making = new Map<string, Found<MintRow>>();
  const pending = new Map<string, SessionRow>();
  const leaving = new Map<string, { device: string; retryAt: number }>();
  const told = new Map<string, string>();
  let freeAt = 0;
  for (const device of known) books.set(device, { mints: new Map(), sessions: new Map(), isKnown: true });

  const transact = <T>(act: (now: number) => T): Promise<T> =>
    new Promise((resolve, reject) => {
      freeAt = Math.max(freeAt, clock.now()) + TRANSACTION_MS;
      clock.at(freeAt, () => {
        try {
          resolve(act(clock.now()));
        } catch (error) {
          reject(error);
        }
        clock.settle();
      });
    });
  const bookOf = (device: string): Book => {
    const book = books.get(device) ?? { mints: new Map(), sessions: new Map(), isKnown: false };
    books.set(device, book);
    return book;
  };
  const put = (device: string, book: Book, row: MintRow): void => {
    const key = `${device} ${row.lane} ${row.request}`;
    book.mints.set(`${row.lane} ${row.request}`, row);
    if (row.state === 'making' || row.recheckAt !== null) making.set(key, { device, row });
    else making.delete(key);
  };
  const write = (device: string, change: BookChange, now: number): void => {
    const book = bookOf(device);
    for (const row of change.mints ?? []) put(device, book, row);
    for (const row of change.sessions ?? []) {
      book.sessions.set(row.id, row);
      book.isKnown = true;
      if (row.isPending) pending.set(row.id, row);
      else pending.delete(row.id);
      if (row.state === 'leaving') leaving.set(row.id, { device, retryAt: now + REVOKED_WITHIN_MS });
      else leaving.delete(row.id);
    }
  };
  const count = (now: number): UnusedCounts => {
    // All windows are of one length: the first row ends first.
    for (const [id, { windowUntil }] of pending) {
      if (windowUntil > now) break;
      pending.delete(id);
    }
    let [all, unknown] = [pending.size + making.size, 0];
    for (const { device } of making.values()) if (!bookOf(device).isKnown) unknown += 1;
    const [first] = pending.values();
    const firstUntil = first?.windowUntil ?? now;
    const of = (number: number): UnusedCount => ({ count: number, firstUntil });
    return { all: of(all), unknown: of(unknown) };
  };
  const change = <T>(device: string, decide: DecideCounted<T>): Promise<T> =>
    transact((now) => {
      const { mints, sessions } = bookOf(device);
      const book = { mints: [...mints.values()], sessions: [...sessions.values()] };
      const { change: rows, result } = decide(book, now, count(now));
      write(device, rows, now);
      return result;
    });

  return {
    open: async () => {},
    check: async () => {},
    change: (device, decide) => change(device, decide),
    changeCounted: change,
    renew: (instance, leaseMs) =>
      transact((now) => {
        for (const { device, row } of [...making.values()])
          if (row.state === 'making' && row.instance === instance && row.leaseUntil > now)
            put(device, bookOf(device), { ...row, leaseUntil: now + leaseMs });
      }),
    knownDevices: (most) =>
      transact(() => [...books].flatMap(([name, { isKnown }]) => (isKnown ? [name] : [])).slice(0, most)),
    takeAbandoned: (graceMs, againMs, most) =>
      transact((now) => {
        const found: LaneToCheck[] = [];
        for (const { device, row } of [...making.values()]) {
          const isDead = row.state === 'making' && row.leaseUntil < now - graceMs;
          const isDue = isDead || (row.recheckAt !== null && row.recheckAt <= now);
          if (!isDue || found.length >= most) continue;
          put(device, bookOf(device), {
            ...row,
            state: isDead ? 'over' : row.state,
            recheckAt: now + againMs,
          });
          found.push({ device, lane: row.lane, request: row.request });
        }
        return found;
      }),
    takeLeaving: (againMs, most) =>
      transact((now) => {
        const found: SessionToRevoke[] = [];
        for (const [id, one] of leaving) {
          if (one.retryAt > now || found.length >= most) continue;
          one.retryAt = now + againMs;
          found.push({ device: one.device, id });
        }
        return found;
      }),
    append: () => transact(() => true),
    report: () => transact(() => 'new'),
    addImplausible: async () => {},
    recentStreams: async () => ({ sessions: 0, ms: 0 }),
    sums: async () => [],
    tell: async (subject, what) => {
      const isNew = told.get(subject) !== what;
      told.set(subject, what);
      return isNew;
    },
    told: async () => told,
    prune: async () => {},
    close: async () => {},
  };
}
