/** What a killed backend leaves at the service is looked for, whatever the others do meanwhile. */
import { describe, expect, it } from 'vitest';
import type { Claim } from '../../../src/backend/issuing/mint/claim.ts';
import { claim, LEASE_MS, settledMs } from '../../../src/backend/issuing/mint/claim.ts';
import { ORPHANS } from '../../../src/backend/issuing/mint/orphans.ts';
import { judge } from '../../../src/backend/issuing/mint/policy.ts';
import { release, settle } from '../../../src/backend/issuing/mint/settle.ts';
import { makeAsk, makeConfig } from './issuer-parts.ts';
import { createMemoryBooks } from './memory-books.ts';

const DEVICE = 'museum/kiosk';
const SETTLED_MS = settledMs(10);

/** `dead` claims a request and dies; `heir` takes it over. */
function afterADeath() {
  const books = createMemoryBooks();
  const verdict = judge(makeConfig(), makeAsk('r').who, makeAsk('r').request);
  if (!verdict.ok) throw new Error('denied');
  let now = 1000;
  const ask = (instance: string, id: string, attempt: number): Claim => {
    const { request } = makeAsk(id, { attempt });
    const terms = { anew: false, isUnknown: false, mostPending: 100, maxMs: 60_000, settledMs: SETTLED_MS };
    return books.change(
      DEVICE,
      now,
      claim({ ...terms, instance, request, allowance: verdict.allowance, askedAgoMs: 0 }),
    );
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  const looks = () =>
    books.takeAbandoned(ORPHANS.graceMs, ORPHANS.againMs, now).map(({ request }) => request);
  expect(ask('dead', 'r1', 1)).toMatchObject({ kind: 'mint', list: false });
  pass(LEASE_MS + 1);
  expect(ask('heir', 'r1', 2)).toMatchObject({ kind: 'mint', list: true });
  pass(200);
  return { books, ask, pass, looks, now: () => now };
}

const MADE = {
  instance: 'heir',
  lane: 'main',
  request: 'r1',
  session: 's2',
  answers: 'r1',
  askedAgoMs: 500,
  isRollover: false,
  isUnknown: false,
  madeInMs: 100,
  windowMs: 60_000,
  durationMs: 60_000,
};

describe('the session of a backend that died', () => {
  it('is looked for when the heir of its request is replaced before it is done', () => {
    const { books, ask, pass, looks, now } = afterADeath();
    expect(ask('third', 'r2', 1)).toMatchObject({ kind: 'mint', list: false });
    expect(books.change(DEVICE, now(), settle(MADE))).toBe(false);
    expect(
      books.change(DEVICE, now(), settle({ ...MADE, instance: 'third', request: 'r2', answers: 'r2' })),
    ).toBe(true);
    pass(SETTLED_MS);
    expect(looks()).toEqual(['r2']);
  });

  it('is looked for when the service makes no session for the heir of its request', () => {
    const { books, pass, looks, now } = afterADeath();
    books.change(DEVICE, now(), release({ instance: 'heir', lane: 'main', request: 'r1' }));
    pass(SETTLED_MS);
    expect(looks()).toEqual(['r1']);
  });

  it('is looked for at the end of the lease when the lane has asked anew before', () => {
    const books = afterADeath();
    expect(books.ask('third', 'r2', 1)).toMatchObject({ kind: 'mint' });
    books.pass(LEASE_MS);
    expect(books.looks()).toContain('r1');
  });
});
