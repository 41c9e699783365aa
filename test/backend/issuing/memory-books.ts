/** The rows of a store in memory, for an issuer in virtual time: the same decisions, without a database. */
import type { IssuerEffect, IssuerEvent } from '../../../src/backend/issuing/issue-event.ts';
import { createIssuer, type Issuer } from '../../../src/backend/issuing/issuer.ts';
import type { IssuerOptions } from '../../../src/backend/issuing/issuer-state.ts';
import { claim } from '../../../src/backend/issuing/mint/claim.ts';
import { holds, release, removeSessions, settle } from '../../../src/backend/issuing/mint/settle.ts';
import type {
  DecideCounted,
  DeviceBook,
  LaneToCheck,
  MintRow,
  SessionRow,
  SessionToRevoke,
  UnusedCount,
} from '../../../src/ports/store.ts';

const HOUR_MS = 3_600_000;

export function createMemoryBooks() {
  const mints = new Map<string, Map<string, MintRow>>();
  const sessions = new Map<string, Map<string, SessionRow>>();

  const rowsOf = <T>(all: Map<string, Map<string, T>>, device: string): Map<string, T> => {
    const rows = all.get(device) ?? new Map<string, T>();
    all.set(device, rows);
    return rows;
  };
  const countUnused = (now: number, unknownOnly: boolean): UnusedCount => {
    const unused = [...sessions.values()]
      .flatMap((rows) => [...rows.values()])
      .filter((row) => row.isPending && row.windowUntil > now && (!unknownOnly || row.isUnknown));
    const making = [...mints]
      .filter(([device]) => !unknownOnly || !sessions.get(device)?.size)
      .flatMap(([, rows]) => [...rows.values()])
      .filter(({ state, recheckAt }) => state === 'making' || recheckAt !== null);
    return {
      count: unused.length + making.length,
      firstUntil: Math.min(...unused.map(({ windowUntil }) => windowUntil)),
    };
  };

  const change = <T>(device: string, now: number, decide: DecideCounted<T>): T => {
    const lanes = rowsOf(mints, device);
    const own = rowsOf(sessions, device);
    for (const [key, row] of lanes) if (row.askedAt <= now - HOUR_MS) lanes.delete(key);
    for (const [id, row] of own) if (row.madeAt <= now - HOUR_MS && row.overAt <= now) own.delete(id);
    const book: DeviceBook = {
      mints: [...lanes.values()].sort((one, other) => one.askedAt - other.askedAt),
      sessions: [...own.values()].sort((one, other) => one.madeAt - other.madeAt),
    };
    const unused = { all: countUnused(now, false), unknown: countUnused(now, true) };
    const { change: rows, result } = decide(book, now, unused);
    for (const row of rows.mints ?? []) lanes.set(`${row.lane}/${row.request}`, row);
    for (const row of rows.sessions ?? []) own.set(row.id, row);
    return result;
  };
  const changeAll = (update: (row: MintRow) => Partial<MintRow> | null): LaneToCheck[] => {
    const changed: LaneToCheck[] = [];
    for (const [device, lanes] of mints)
      for (const [key, row] of lanes) {
        const more = update(row);
        if (more === null) continue;
        lanes.set(key, { ...row, ...more });
        changed.push({ device, lane: row.lane, request: row.request });
      }
    return changed;
  };
  return {
    change,
    renew: (instance: string, leaseMs: number, now: number) =>
      changeAll((row) =>
        row.state === 'making' && row.instance === instance && row.leaseUntil > now
          ? { leaseUntil: now + leaseMs }
          : null,
      ),
    takeAbandoned(graceMs: number, againMs: number, now: number): LaneToCheck[] {
      changeAll((row) =>
        row.state === 'making' && row.leaseUntil < now - graceMs ? { state: 'over', recheckAt: now } : null,
      );
      return changeAll(({ recheckAt }) =>
        recheckAt !== null && recheckAt <= now ? { recheckAt: now + againMs } : null,
      );
    },
    takeLeaving: (): SessionToRevoke[] =>
      [...sessions].flatMap(([device, rows]) =>
        [...rows.values()].filter(({ state }) => state === 'leaving').map(({ id }) => ({ device, id })),
      ),
  };
}
export type MemoryBooks = ReturnType<typeof createMemoryBooks>;

/** Effects that remain for the service and the device. */
export type OuterEffect = Exclude<IssuerEffect, { type: 'claim' | 'settle' | 'release' }>;

export interface IssuerWithBooks extends Omit<Issuer, 'handle'> {
  handle(event: IssuerEvent, now: number): OuterEffect[];
  /** Sessions that no longer exist at the service. */
  gone(who: { tenant: string; device: string }, ids: readonly string[], now: number): void;
  /** Whether the issuer still holds the request of an `end`. */
  holds(end: Extract<IssuerEffect, { type: 'end' }>, now: number): boolean;
}

/** An issuer whose store answers at once. */
export function createIssuerWithBooks(
  options: IssuerOptions,
  books: MemoryBooks = createMemoryBooks(),
  instance = 'here',
): IssuerWithBooks {
  const issuer = createIssuer(options, instance);
  const nameOf = ({ tenant, device }: { tenant: string; device: string }) => `${tenant}/${device}`;
  const handle = (event: IssuerEvent, now: number): OuterEffect[] =>
    issuer.handle(event, now).flatMap((effect): OuterEffect[] => {
      switch (effect.type) {
        case 'claim': {
          const result = books.change(nameOf(effect.who), now, claim(effect.wanted));
          return handle({ type: 'claimed', job: effect.job, claim: result, draw: 0 }, now);
        }
        case 'settle': {
          const kept = books.change(nameOf(effect.who), now, settle(effect.made));
          return handle({ type: 'settled', job: effect.job, session: effect.session, kept, draw: 0 }, now);
        }
        case 'release': {
          const { lane, request } = effect;
          books.change(nameOf(effect.who), now, release({ instance, lane, request }));
          return [];
        }
        default:
          return [effect];
      }
    });
  return {
    handle,
    know: (names, now) => issuer.know(names, now),
    gone: (who, ids, now) => books.change(nameOf(who), now, removeSessions(ids)),
    holds: ({ who, lane, request }, now) =>
      books.change(nameOf(who), now, holds({ instance, lane, request })),
    get jobs() {
      return issuer.jobs;
    },
  };
}
