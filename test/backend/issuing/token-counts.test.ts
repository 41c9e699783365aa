/** How long requests take, by what the issuer receives and does. Sums are computed by hand. */
import { expect, it } from 'vitest';
import type { IssuerEffect } from '../../../src/backend/issuing/issue-event.ts';
import { createTokenCounts } from '../../../src/backend/issuing/token-counts.ts';
import { makeAsk, makeSession, trouble } from './issuer-parts.ts';

const input = { intent: 's2s', connection_type: 'ws' } as const;

function openCounts() {
  const counts = createTokenCounts();
  const answer = (id: string, repeated = false): IssuerEffect => {
    const { who, reply } = makeAsk(id);
    return {
      type: 'answer',
      who,
      id,
      reply,
      answer: { ok: true, session: makeSession('s') },
      about: null,
      repeated,
    };
  };
  const samplesOf = (name: string) =>
    counts.families().find((family) => family.name === `dragoman_backend_${name}`)?.samples ?? [];
  return {
    asked: (id: string, at: number) => counts.event({ type: 'asked', ask: makeAsk(id), draw: 0 }, at),
    answered: (id: string, at: number, repeated = false) => counts.effect(answer(id, repeated), at),
    confirmed: (id: string, at: number) =>
      counts.effect({ type: 'confirm', ask: makeAsk(id), probe: { session: 'none' } }, at),
    ignored: (id: string, why: Extract<IssuerEffect, { type: 'ignore' }>['why'], at: number) =>
      counts.effect({ type: 'ignore', who: makeAsk(id).who, id, why }, at),
    counts,
    sumOf: (name: string) => {
      const of = (suffix: string) => samplesOf(name).find((sample) => sample.suffix === suffix)?.value;
      return [of('_count'), of('_sum')];
    },
    bucketsOf: (name: string) =>
      samplesOf(name)
        .filter(({ suffix }) => suffix === '_bucket')
        .map(({ labels, value }) => [labels?.['le'], value]),
  };
}

it('a request takes from its arrival to its first answer', () => {
  const { asked, answered, sumOf, bucketsOf } = openCounts();
  asked('r1', 1000);
  // The device repeats it.
  asked('r1', 1500);
  answered('r1', 2250);
  answered('r1', 9000, true);
  asked('r2', 2000);
  answered('r2', 2750);
  expect(sumOf('token_answer_seconds')).toEqual([2, 2]);
  expect(bucketsOf('token_answer_seconds')).toEqual([
    ['0.05', 0],
    ['0.1', 0],
    ['0.25', 0],
    ['0.5', 0],
    ['1.0', 1],
    ['2.5', 2],
    ['5.0', 2],
    ['10.0', 2],
    ['20.0', 2],
    ['+Inf', 2],
  ]);
});

it.each([
  ['was confirmed', 'confirmed', 500],
  ['was too old', 'stale', 500],
  ['was replaced by a newer one', 'superseded', 500],
  ['is worked on by another backend', 'elsewhere', 3000],
  ['is being worked on', 'in_progress', 3000],
] as const)('a request that %s before its id comes again counts from the right arrival', (_what, end, ms) => {
  const { asked, answered, confirmed, ignored, sumOf } = openCounts();
  asked('r1', 1000);
  if (end === 'confirmed') confirmed('r1', 1100);
  else ignored('r1', end, 1100);
  asked('r1', 3500);
  answered('r1', 4000);
  expect(sumOf('token_answer_seconds')).toEqual([1, ms / 1000]);
});

it('the service takes from the request to the session, and one that fails is counted by its kind', () => {
  const { counts, sumOf } = openCounts();
  counts.effect({ type: 'create', job: 1, input }, 1000);
  counts.effect({ type: 'create', job: 2, input }, 1000);
  counts.event({ type: 'failed', job: 2, trouble: trouble('timeout'), draw: 0 }, 2000);
  for (const job of [1, 2]) counts.event({ type: 'created', job, session: makeSession('s'), draw: 0 }, 2500);
  expect(sumOf('service_create_seconds')).toEqual([1, 1.5]);
  const failures = counts.families().find(({ name }) => name === 'dragoman_backend_service_failures');
  expect(failures?.samples.filter(({ value }) => value > 0)).toEqual([
    { labels: { kind: 'timeout' }, value: 1 },
  ]);
});
