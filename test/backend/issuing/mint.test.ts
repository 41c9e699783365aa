/** Who makes a lane's session, decided on the rows that two backends share: each limit from both of its sides. */
import { describe, expect, it } from 'vitest';
import { type Claim, claim, LEASE_MS, type Wanted } from '../../../src/backend/issuing/mint/claim.ts';
import {
  findUnknown,
  holds,
  type Made,
  release,
  removeSessions,
  settle,
} from '../../../src/backend/issuing/mint/settle.ts';
import type { DeviceBook, MintRow, SessionRow, UnusedCounts } from '../../../src/ports/store.ts';

const NOW = 1_000_000;
const HOUR = 3_600_000;
const SETTLED_MS = 25_000;
const mint = (more: Partial<MintRow> = {}): MintRow => ({
  lane: 'main',
  request: 'r1',
  state: 'making',
  instance: 'other',
  leaseUntil: NOW + LEASE_MS,
  askedAt: NOW - 10,
  endsAt: NOW + HOUR,
  session: null,
  freshUntil: 0,
  recheckAt: null,
  ...more,
});
const session = (id: string, more: Partial<SessionRow> = {}): SessionRow => ({
  id,
  lane: 'main',
  madeAt: NOW - 1000,
  windowUntil: NOW + 60_000,
  endsAt: NOW + HOUR,
  overAt: NOW + HOUR + 60_000,
  isRollover: false,
  isPending: true,
  isUnknown: false,
  state: 'live',
  ...more,
});
const wanted = (more: Partial<Wanted> = {}): Wanted => ({
  instance: 'own',
  request: { id: 'r1', lane: 'main', reason: 'start', attempt: 1 },
  askedAgoMs: 10,
  allowance: { lanes: 2, sessionsAtOnce: 3, sessionsPerHour: 3 },
  maxMs: HOUR,
  isUnknown: false,
  mostPending: 4,
  anew: false,
  settledMs: SETTLED_MS,
  ...more,
});
const count = (number: number) => ({ count: number, firstUntil: NOW + 7000 });
const NONE: UnusedCounts = { all: count(0), unknown: count(0) };
const book = (mints: MintRow[] = [], sessions: SessionRow[] = []): DeviceBook => ({ mints, sessions });
const decide = (rows: DeviceBook, more: Partial<Wanted> = {}, unused = NONE) =>
  claim(wanted(more))(rows, NOW, unused);
const resultOf = (rows: DeviceBook, more: Partial<Wanted> = {}, unused = NONE): Claim =>
  decide(rows, more, unused).result;

describe('a request that another backend works on', () => {
  it('waits for the end of its lease, and is taken over at that moment', () => {
    expect(resultOf(book([mint({ leaseUntil: NOW + 1 })]))).toEqual({ kind: 'wait', ms: 51 });
    const { result, change } = decide(book([mint({ leaseUntil: NOW })]));
    // The dead one may have made a session.
    expect(result).toMatchObject({ kind: 'mint', list: true });
    expect(change.mints).toEqual([
      mint({ instance: 'own', leaseUntil: NOW + 3000, recheckAt: NOW + SETTLED_MS }),
    ]);
  });

  it('is taken over at once when the backend itself has left the row', () => {
    expect(resultOf(book([mint({ instance: 'own' })]))).toMatchObject({ kind: 'mint', list: true });
  });

  it('gives way to a later request of the lane, not to one of the same moment or of another lane', () => {
    const later = (askedAt: number, lane = 'main') =>
      resultOf(book([mint({ request: 'r2', askedAt, lane, state: 'over' })]));
    expect(later(NOW - 9)).toEqual({ kind: 'superseded' });
    expect(later(NOW - 10)).toMatchObject({ kind: 'mint' });
    expect(later(NOW, 'second')).toMatchObject({ kind: 'mint' });
  });

  it('ends the row of an earlier request, whose backend has its lease to write its session down', () => {
    const { result, change } = decide(book([mint({ request: 'r0', askedAt: NOW - 500 })]));
    expect(result).toMatchObject({ kind: 'mint', list: false });
    expect(change.mints).toEqual([
      mint({ request: 'r0', askedAt: NOW - 500, state: 'over', recheckAt: NOW + LEASE_MS }),
      mint({ instance: 'own', leaseUntil: NOW + LEASE_MS }),
    ]);
  });
});

describe('a repeated request', () => {
  const made = (more: Partial<MintRow> = {}) =>
    mint({ state: 'made', session: 's1', freshUntil: NOW + 1, ...more });
  it('gets the same session until it is no longer fresh', () => {
    expect(resultOf(book([made()], [session('s1')]))).toEqual({ kind: 'repeat', session: 's1', freshMs: 1 });
    expect(resultOf(book([made({ freshUntil: NOW })], [session('s1')]))).toMatchObject({
      kind: 'mint',
      unused: 's1',
      list: false,
    });
  });

  it.each(['leaving', 'gone'] as const)('gets another session when the first one is %s', (state) => {
    expect(resultOf(book([made()], [session('s1', { state })]))).toMatchObject({
      kind: 'mint',
      unused: null,
    });
  });

  it('gets another session when the answer cannot be repeated', () => {
    expect(resultOf(book([made()], [session('s1')]), { anew: true })).toMatchObject({ kind: 'mint' });
  });

  it('lets the service be searched when its first attempt went to a backend with another store', () => {
    const attempt = (number: number) => ({
      request: { id: 'r1', lane: 'main', reason: 'start' as const, attempt: number },
    });
    expect(resultOf(book(), attempt(1))).toMatchObject({ list: false });
    expect(resultOf(book(), attempt(2))).toMatchObject({ list: true });
    expect(resultOf(book([made({ freshUntil: NOW })]), attempt(2))).toMatchObject({ list: false });
  });

  it('lets the service be searched while a request of a dead backend is to be checked, and not while it lives', () => {
    const left = (leaseUntil: number) =>
      resultOf(book([mint({ request: 'r0', askedAt: 0, state: 'over', leaseUntil, recheckAt: NOW + 5 })]));
    expect(left(NOW)).toMatchObject({ list: true });
    expect(left(NOW + 1)).toMatchObject({ list: false });
    const again = decide(book([mint({ state: 'over', leaseUntil: NOW - 1, recheckAt: NOW + 5 })]));
    expect(again.change.mints).toEqual([mint({ instance: 'own', recheckAt: NOW + 5 })]);
  });
});

describe('limits', () => {
  const old = (id: string, madeAt: number) =>
    session(id, { madeAt, isPending: false, state: 'gone', overAt: NOW - 1 });
  it('count the sessions of an hour, and no older one', () => {
    const hour = (oldest: number) =>
      resultOf(book([], [old('s1', oldest), old('s2', NOW - 2), old('s3', NOW - 1)]));
    expect(hour(NOW - HOUR)).toMatchObject({ kind: 'mint' });
    expect(hour(NOW - HOUR + 1)).toMatchObject({
      kind: 'denied',
      error: { code: 'hourly_limit_reached', final: false, retry_after_s: 5 },
    });
    expect(hour(NOW - 60_000)).toMatchObject({ error: { retry_after_s: 3540 } });
  });

  it('count the sessions that are being made for other lanes, while their leases last', () => {
    const rows = (leaseUntil: number) =>
      book([mint({ lane: 'second', leaseUntil })], [old('s1', NOW - 3), old('s2', NOW - 2)]);
    expect(resultOf(rows(NOW + 1))).toMatchObject({ error: { code: 'hourly_limit_reached' } });
    expect(resultOf(rows(NOW))).toMatchObject({ kind: 'mint' });
    const own = book([mint({ instance: 'own' })], [old('s1', NOW - 3), old('s2', NOW - 2)]);
    expect(resultOf(own)).toMatchObject({ kind: 'mint' });
  });

  it('count lanes with a session that is not over', () => {
    const two = (overAt: number) =>
      book(
        [],
        [
          session('a', { lane: 'a', isPending: false }),
          session('b', { lane: 'b', isPending: false, overAt }),
        ],
      );
    expect(resultOf(two(NOW + 1))).toMatchObject({ error: { code: 'lane_limit_reached', final: true } });
    expect(resultOf(two(NOW))).toMatchObject({ kind: 'mint' });
  });

  it('count unused sessions of the device, of all devices, and of unknown ones, each up to its share', () => {
    const others = (number: number, windowUntil = NOW + 1) =>
      Array.from({ length: number }, (_, index) =>
        session(`s${index}`, { lane: 'b', windowUntil, madeAt: 1 }),
      );
    const pending = { code: 'pending_sessions_limit_reached', final: false };
    const few = { allowance: { lanes: 9, sessionsAtOnce: 9, sessionsPerHour: 9 } };
    expect(resultOf(book([], others(1)), few)).toMatchObject({ kind: 'mint' });
    expect(resultOf(book([], others(2)), few)).toMatchObject({ error: { ...pending, retry_after_s: 1 } });
    expect(resultOf(book([], others(2, NOW)), few)).toMatchObject({ kind: 'mint' });
    const all = (number: number) => resultOf(book(), few, { all: count(number), unknown: count(0) });
    expect([all(3).kind, all(4)]).toMatchObject(['mint', { error: { ...pending, retry_after_s: 7 } }]);
    const unknown = (number: number, isUnknown: boolean) =>
      resultOf(book(), { ...few, isUnknown }, { all: count(0), unknown: count(number) }).kind;
    expect([unknown(1, true), unknown(2, true), unknown(2, false)]).toEqual(['mint', 'denied', 'mint']);
  });
});

describe('unused sessions', () => {
  const few = { allowance: { lanes: 9, sessionsAtOnce: 9, sessionsPerHour: 9 } };
  const all = (number: number): UnusedCounts => ({ all: count(number), unknown: count(0) });

  it('of the lane that asks do not count, nor does its own request', () => {
    const own = session('own');
    const other = session('other', { lane: 'b' });
    expect(resultOf(book([], [own, other]), few, all(4))).toMatchObject({ kind: 'mint' });
    expect(resultOf(book([mint({ instance: 'own' })], [other]), few, all(4))).toMatchObject({ kind: 'mint' });
    expect(resultOf(book([], [other]), few, all(4))).toMatchObject({ kind: 'denied' });
  });

  it('of other lanes are waited for until the first of them is over', () => {
    const rows = [
      session('own', { windowUntil: NOW + 1000 }),
      session('late', { lane: 'b', windowUntil: NOW + 9000 }),
      session('first', { lane: 'c', windowUntil: NOW + 5000 }),
    ];
    expect(resultOf(book([], rows), few)).toMatchObject({ error: { retry_after_s: 5 } });
  });

  it('of the lane are used or ended when it asks again: the newest one is ended, and none counts', () => {
    const rows = [session('old'), session('new'), session('other', { lane: 'second' })];
    const { result, change } = decide(book([], rows), { ...few, mostPending: 9 });
    expect(result).toMatchObject({ kind: 'mint', unused: 'new', revoke: [] });
    expect(change.sessions).toEqual([
      session('old', { isPending: false }),
      session('new', { isPending: false }),
    ]);
  });
});

describe('sessions at once', () => {
  const three = { allowance: { lanes: 2, sessionsAtOnce: 3, sessionsPerHour: 9 }, mostPending: 9 };
  it('make room by the oldest session that the lane has replaced, which counts no longer', () => {
    const rows = [session('old'), session('new'), session('other', { lane: 'second' })];
    const { result, change } = decide(book([], rows), three);
    expect(result).toMatchObject({ kind: 'mint', revoke: ['old'] });
    expect(change.sessions).toEqual([
      session('old', { isPending: false, state: 'leaving' }),
      session('new', { isPending: false }),
    ]);
  });

  it('do not count those that are being revoked', () => {
    const rows = [
      session('leaves', { state: 'leaving', isPending: false }),
      session('speaks', { isPending: false }),
      session('other', { lane: 'second', isPending: false }),
    ];
    const request = { id: 'r1', lane: 'main', reason: 'rollover' as const, attempt: 1 };
    expect(resultOf(book([], rows), { ...three, request })).toMatchObject({ kind: 'mint', revoke: [] });
  });
});

describe('the longest stream of a session', () => {
  const MINUTE = 60_000;
  const chosen = (maxMs: number, ...ends: number[]) => {
    const rows = ends.map((end, index) =>
      session(`s${index}`, { lane: `b${index}`, isPending: false, endsAt: NOW + end }),
    );
    const allowance = { lanes: 9, sessionsAtOnce: 9, sessionsPerHour: 9 };
    const result = resultOf(book([], rows), { maxMs, allowance });
    return result.kind === 'mint' ? result.durationMs : result.kind;
  };

  it('ends two minutes before those of other lanes, so that their rollovers do not coincide', () => {
    expect(chosen(60 * MINUTE, 60 * MINUTE)).toBe(58 * MINUTE);
    expect(chosen(60 * MINUTE, 62 * MINUTE - 1)).toBe(60 * MINUTE - 1);
    expect([chosen(60 * MINUTE, 62 * MINUTE), chosen(60 * MINUTE, 58 * MINUTE)]).toEqual([
      60 * MINUTE,
      60 * MINUTE,
    ]);
    expect(chosen(60 * MINUTE, 57 * MINUTE, 59 * MINUTE)).toBe(55 * MINUTE);
  });

  it('is that of the policy when it is short, or would lose more than half', () => {
    expect([chosen(10 * MINUTE, 10 * MINUTE), chosen(10 * MINUTE - 1, 10 * MINUTE)]).toEqual([
      8 * MINUTE,
      10 * MINUTE - 1,
    ]);
    expect(chosen(10 * MINUTE, 10 * MINUTE, 8 * MINUTE, 6 * MINUTE)).toBe(10 * MINUTE);
  });

  it('leaves out the ends of the own lane, and counts sessions that are being made for others', () => {
    const making = (lane: string) =>
      resultOf(book([mint({ lane, request: 'r9', askedAt: 0, endsAt: NOW + 60 * MINUTE })], []), {
        maxMs: 60 * MINUTE,
      });
    expect([making('main'), making('second')]).toMatchObject([
      { durationMs: 60 * MINUTE },
      { durationMs: 58 * MINUTE },
    ]);
    const own = session('own', { isPending: false, endsAt: NOW + 60 * MINUTE });
    expect(resultOf(book([], [own]), { maxMs: 60 * MINUTE })).toMatchObject({ durationMs: 60 * MINUTE });
  });
});

describe('a session that was made', () => {
  const made: Made = {
    instance: 'own',
    lane: 'main',
    request: 'r1',
    session: '0123456789abcdef',
    answers: 'r1',
    askedAgoMs: 400,
    isRollover: false,
    isUnknown: true,
    madeInMs: 300,
    windowMs: 60_000,
    durationMs: HOUR,
  };
  const own = mint({ instance: 'own' });

  it("is the lane's while no other backend has taken over, and is billed once", () => {
    const { change, result } = settle(made)(book([own]), NOW);
    expect(result).toBe(true);
    expect(change).toEqual({
      mints: [
        {
          ...own,
          state: 'made',
          session: '0123456789abcdef',
          askedAt: NOW - 400,
          freshUntil: NOW - 300 + 30_000,
        },
      ],
      sessions: [
        {
          id: '0123456789abcdef',
          lane: 'main',
          isRollover: false,
          isUnknown: true,
          isPending: true,
          state: 'live',
          madeAt: NOW,
          windowUntil: NOW + 60_000,
          endsAt: NOW + HOUR,
          overAt: NOW + 60_000 + HOUR,
        },
      ],
      ledger: [
        {
          id: 'given/0123456789abcdef',
          lane: 'main',
          session: '01234567...',
          source: 'backend',
          ms: HOUR,
        },
      ],
    });
  });

  it.each([
    ['another backend', mint()],
    ['another request', { ...own, state: 'over' as const }],
    ['another lane', { ...own, lane: 'second' }],
  ])('is removed and not billed when %s has the row', (_who, row) => {
    const { change, result } = settle(made)(book([row]), NOW);
    expect(result).toBe(false);
    expect(change.ledger).toEqual([]);
    expect(change.sessions).toMatchObject([{ state: 'leaving', isPending: false }]);
    expect(holds(made)(book([row]), NOW).result).toBe(false);
  });

  it('answers the newer request that has come meanwhile, and ends the row of the older one', () => {
    const { change } = settle({ ...made, answers: 'r2' })(book([own]), NOW);
    expect(change.mints).toMatchObject([
      { request: 'r1', state: 'over', recheckAt: null },
      { request: 'r2', state: 'made', session: '0123456789abcdef' },
    ]);
  });

  it('releases only the own row, and forgets a search only when nothing was being made', () => {
    const { change } = release(made)(
      book([own, mint({ request: 'r1' }), { ...own, lane: 'second' }, { ...own, recheckAt: NOW }]),
      NOW,
    );
    expect(change.mints).toEqual([
      { ...own, state: 'over' },
      { ...own, state: 'over', recheckAt: NOW },
    ]);
    const over = release(made)(book([{ ...own, state: 'over', recheckAt: NOW }]), NOW);
    expect(over.change.mints).toMatchObject([{ recheckAt: null }]);
  });

  it('counts again when it could not be revoked', () => {
    const rows = book(
      [],
      [session('a', { state: 'leaving' }), session('b', { state: 'leaving' }), session('c')],
    );
    expect(removeSessions(['a'], ['b'])(rows, NOW).change.sessions).toMatchObject([
      { id: 'a', state: 'gone', isPending: false },
      { id: 'b', state: 'live' },
    ]);
  });
});

describe('a search after the death of a backend', () => {
  const row = mint({ state: 'over', leaseUntil: NOW - SETTLED_MS, recheckAt: NOW });
  const search = (mints: MintRow[], sessions: SessionRow[] = []) =>
    findUnknown({ lane: 'main', request: 'r1' }, ['s1', 's2'], SETTLED_MS)(book(mints, sessions), NOW);

  it('finds the sessions that no row names, whatever their state', () => {
    expect(search([row], [session('s1', { state: 'gone' })]).result).toEqual(['s2']);
  });

  it('waits while a session is being made for the lane', () => {
    const busy = (leaseUntil: number, lane = 'main') =>
      search([row, mint({ request: 'r2', leaseUntil, lane })]).result.length;
    expect([busy(NOW + 1), busy(NOW), busy(NOW + 1, 'second')]).toEqual([0, 2, 2]);
  });

  it('goes on until the service has surely ended the request', () => {
    expect(search([row]).change).toEqual({});
    const later = { ...row, leaseUntil: NOW - SETTLED_MS - 1 };
    expect(search([later]).change.mints).toEqual([{ ...later, recheckAt: null }]);
  });
});
