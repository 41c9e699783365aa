import { expect, it } from 'vitest';
import type { IssuerEffect } from '../../../src/backend/issuing/issue-event.ts';
import { fc } from '../../properties.ts';
import { makeAsk, makeConfig, makeSession, trouble } from './issuer-parts.ts';
import { createIssuerWithBooks, type OuterEffect } from './memory-books.ts';

/** @param numRuns number of drawn orders of events */
export function testAnyOrder(numRuns: number): void {
  it('keeps its invariants in any order of events: limited work, each job ends once, one unused session per lane', () => {
    const step = fc.record({
      what: fc.constantFrom('ask', 'ask', 'settle', 'fail', 'use', 'pass'),
      device: fc.constantFrom('a', 'b', 'c'),
      id: fc.integer({ min: 1, max: 6 }).map(String),
      lane: fc.constantFrom('main', 'second'),
      pick: fc.nat({ max: 50 }),
    });
    void fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const issuer = createIssuerWithBooks(
          makeConfig({ limits: { burst: 20, perMinute: 60, concurrency: 2 } }),
        );
        /** The simulated service: unused sessions by reference, with their end. */
        const unused = new Map<string, { id: string; until: number }[]>();
        const open: Extract<IssuerEffect, { type: 'create' | 'end' }>[] = [];
        let now = 0;
        let made = 0;
        const alive = (reference: string) =>
          (unused.get(reference) ?? []).filter((session) => session.until > now);
        const take = (effects: OuterEffect[]): void => {
          for (const effect of effects)
            if (effect.type === 'create' || effect.type === 'end') open.push(effect);
        };
        for (const { what, device, id, lane, pick } of steps) {
          if (what === 'ask')
            take(issuer.handle({ type: 'asked', ask: makeAsk(id, { lane }, device), draw: 0 }, now));
          if (what === 'pass') now += pick * 1000;
          if (what === 'use') unused.delete(`museum/${device}/${lane}`);
          if (what !== 'settle' && what !== 'fail') continue;
          const [effect] = open.splice(pick % Math.max(1, open.length), 1);
          if (effect === undefined) continue;
          if (effect.type === 'end') {
            const reference = `museum/${effect.who.device}/${effect.lane}`;
            const ids = (unused.get(reference) ?? []).map((session) => session.id);
            unused.delete(reference);
            issuer.gone(effect.who, ids, now);
            take(issuer.handle({ type: 'ended', job: effect.job, draw: 0 }, now));
          } else if (what === 'fail') {
            const failure = {
              type: 'failed',
              job: effect.job,
              trouble: trouble('timeout'),
              draw: 0,
            } as const;
            take(issuer.handle(failure, now));
          } else {
            made += 1;
            const reference = effect.input.client_reference_id ?? '';
            unused.set(reference, [...alive(reference), { id: `s${made}`, until: now + 60_000 }]);
            const session = makeSession(`s${made}`);
            const effects = issuer.handle({ type: 'created', job: effect.job, session, draw: 0 }, now);
            expect(effects.filter((one) => one.type === 'answer' && !one.repeated)).toHaveLength(1);
            take(effects);
            expect(alive(reference).length).toBeLessThanOrEqual(1);
          }
          expect(open.length).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns },
    );
  });
}
