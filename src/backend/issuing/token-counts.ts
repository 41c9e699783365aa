/** Counts the outcomes of token requests, and measures the time to the answer. */
import { createCounter, createHistogram } from '../../adapters/watch/instruments.ts';
import type { Family } from '../../adapters/watch/open-metrics.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import { CONSEQUENCES } from '../service/service-trouble.ts';
import type { IssuerEffect, IssuerEvent } from './issue-event.ts';

const ANSWER_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const RESULTS = ['granted', 'repeated', 'denied', 'confirmed'];
const IGNORED = ['flood', 'in_progress', 'superseded', 'elsewhere', 'stale'];
/** Maximum number of open requests. The oldest are dropped, as another backend may have answered them. */
const MOST_OPEN = 5000;

export interface TokenCounts {
  /** @param now monotonic milliseconds, here and below */
  event(event: IssuerEvent, now: number): void;
  effect(effect: IssuerEffect, now: number): void;
  families(): Family[];
}

export function createTokenCounts(): TokenCounts {
  const answers = createCounter(RESULTS.map((result) => ({ result })));
  const denials = createCounter();
  const ignored = createCounter(IGNORED.map((why) => ({ why })));
  const seconds = createHistogram(ANSWER_BOUNDS_S);
  const creates = createHistogram(ANSWER_BOUNDS_S);
  const troubles = createCounter(Object.keys(CONSEQUENCES).map((kind) => ({ kind })));
  /** Arrival time of each open request. */
  const open = new Map<string, number>();
  const creating = new Map<number, number>();

  const created = (job: number, now: number): void => {
    const since = creating.get(job);
    creating.delete(job);
    if (since !== undefined) creates.observe((now - since) / 1000);
  };
  const end = (who: DeviceName, id: string, now: number): void => {
    const since = open.get(keyOf(who, id));
    open.delete(keyOf(who, id));
    if (since !== undefined) seconds.observe((now - since) / 1000);
  };

  return {
    event(event, now) {
      switch (event.type) {
        case 'asked': {
          const { who, request } = event.ask;
          const key = keyOf(who, request.id);
          if (open.has(key)) return;
          for (const oldest of open.size < MOST_OPEN ? [] : [...open.keys()].slice(0, 1)) open.delete(oldest);
          open.set(key, now);
          return;
        }
        case 'created':
          return created(event.job, now);
        case 'failed':
          creating.delete(event.job);
          troubles.add({ kind: event.trouble.kind });
      }
    },
    effect(effect, now) {
      switch (effect.type) {
        case 'answer': {
          const { answer, repeated, who, id } = effect;
          answers.add({ result: repeated ? 'repeated' : answer.ok ? 'granted' : 'denied' });
          if (!answer.ok && !repeated) denials.add({ code: answer.error.code });
          return end(who, id, now);
        }
        case 'confirm':
          answers.add({ result: 'confirmed' });
          open.delete(keyOf(effect.ask.who, effect.ask.request.id));
          return;
        case 'create':
          creating.set(effect.job, now);
          return;
        case 'ignore':
          ignored.add({ why: effect.why });
          // The request stays open: this backend may still answer it.
          if (effect.why !== 'elsewhere' && effect.why !== 'in_progress')
            open.delete(keyOf(effect.who, effect.id));
      }
    },
    families: () => [
      {
        name: 'dragoman_backend_token_answers',
        type: 'counter',
        samples: answers.samples(),
        help: 'Answers to token requests. repeated: the same answer again; confirmed: a check without a session.',
      },
      {
        name: 'dragoman_backend_token_denials',
        type: 'counter',
        samples: denials.samples(),
        help: 'Denials by their code, see docs/backend.md.',
      },
      {
        name: 'dragoman_backend_token_ignored',
        type: 'counter',
        samples: ignored.samples(),
        help: 'Requests that this backend did not answer. elsewhere: another backend answers.',
      },
      {
        name: 'dragoman_backend_token_answer_seconds',
        type: 'histogram',
        unit: 'seconds',
        help: 'Time from the arrival of a request to its first answer.',
        samples: seconds.samples(),
      },
      {
        name: 'dragoman_backend_service_create_seconds',
        type: 'histogram',
        unit: 'seconds',
        help: 'Time that the service took to create a session.',
        samples: creates.samples(),
      },
      {
        name: 'dragoman_backend_service_failures',
        type: 'counter',
        samples: troubles.samples(),
        help: 'Requests to the service that failed, by kind.',
      },
    ],
  };
}

const keyOf = ({ tenant, device }: DeviceName, id: string): string => `${tenant}/${device}/${id}`;
