/** An issuer between simulated devices and a simulated service, in virtual time. */
import type { Ask } from '../../../src/backend/issuing/issue-event.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import type { TokenError } from '../../../src/protocol/mqtt/token.ts';
import type { SessionWithToken } from '../../../src/protocol/service/session.ts';
import { createIssuerWithBooks, createMemoryBooks, type OuterEffect } from './memory-books.ts';

export interface Answered {
  readonly device: string;
  readonly lane: string;
  readonly id: string;
  readonly at: number;
  readonly session: SessionWithToken | null;
  readonly error: TokenError | null;
}

export type IssueCase = Partial<Ask['request']> & { device?: string };

export function openIssuerHarness(more: object = {}, createMs = 300) {
  const config = backendConfigSchema.parse({
    mqtt: { url: 'mqtts://broker.example' },
    service: { url: 'https://api.example', streamUrl: 'wss://stream.example/{random_hash}/stream' },
    allow: ['museum/*'],
    ...more,
  });
  let books = createMemoryBooks();
  let issuer = createIssuerWithBooks(config, books);
  let now = 1000;
  const made = new Map<string, SessionWithToken>();
  let asks = 0;
  let creates = 0;
  let answering = (_: Answered): void => {};
  const due: { at: number; act: () => void }[] = [];
  const answers: Answered[] = [];
  const ignored: string[] = [];
  const revoked: string[] = [];
  const at = (when: number, act: () => void): void => {
    const place = due.findIndex((other) => other.at > when);
    due.splice(place === -1 ? due.length : place, 0, { at: when, act });
  };
  const dispatch = (event: Parameters<typeof issuer.handle>[0]): void => {
    for (const effect of issuer.handle(event, now)) run(effect);
  };
  const run = (effect: OuterEffect): void => {
    if (effect.type === 'wake') return at(now + effect.afterMs, () => dispatch({ type: 'woken', draw: 0 }));
    if (effect.type === 'ignore') return void ignored.push(effect.who.device);
    if (effect.type === 'revoke') {
      revoked.push(...effect.ids);
      const { who, ids } = effect;
      return at(now + 100, () => issuer.gone(who, ids, now));
    }
    if (effect.type === 'end') {
      const { job } = effect;
      return at(now + 100, () => dispatch({ type: 'ended', job, draw: 0 }));
    }
    if (effect.type === 'probe') {
      const { job } = effect;
      creates += 1;
      return at(now + createMs, () => dispatch({ type: 'probed', job, deleted: true, draw: 0 }));
    }
    if (effect.type === 'create') {
      const { job, input } = effect;
      creates += 1;
      const session = {
        id: `s${made.size + 1}`,
        token: 't',
        intent: 's2s',
        connection_type: 'ws',
        single_use: true,
        status: 'pending',
        created_at: '2026-01-01T00:00:00Z',
        connect_by: '2026-01-01T00:01:00Z',
        max_session_duration_seconds: input.max_session_duration_seconds,
      } as SessionWithToken;
      made.set(session.id, session);
      return at(now + createMs, () => dispatch({ type: 'created', job, session, draw: 0 }));
    }
    if (effect.type === 'hold' || effect.type === 'discard')
      throw new Error(`${effect.type} with one backend`);
    if (effect.type === 'fetch')
      return at(now + 100, () =>
        dispatch({ type: 'fetched', job: effect.job, session: made.get(effect.session) ?? null, draw: 0 }),
      );
    const { who, request } =
      effect.type === 'confirm' ? effect.ask : { who: effect.who, request: { id: effect.id, lane: '' } };
    const given = effect.type === 'answer' ? effect.answer : null;
    const answered: Answered = {
      device: who.device,
      id: request.id,
      at: now,
      lane: effect.type === 'answer' ? (effect.about?.lane ?? '') : request.lane,
      session: given?.ok ? (given.session as SessionWithToken) : null,
      error: given !== null && !given.ok ? given.error : null,
    };
    answers.push(answered);
    answering(answered);
  };
  return {
    answers,
    ignored,
    revoked,
    at,
    get now() {
      return now;
    },
    get creates() {
      return creates;
    },
    /** Calls the listener for each answer. */
    onAnswer(listener: (answer: Answered) => void): void {
      answering = listener;
    },
    ask({ device = 'kiosk', ...more }: IssueCase = {}): string {
      asks += 1;
      const request = {
        id: `r${asks}`,
        lane: 'main',
        intent: 's2s',
        connection_type: 'ws',
        reason: 'start',
        attempt: 1,
        ...more,
      } as Ask['request'];
      const who = { tenant: 'museum', device };
      dispatch({
        type: 'asked',
        ask: { who, request, reply: { topic: `p/museum/${device}/token/res` } },
        draw: 0,
      });
      return request.id;
    },
    /** Advances the time and runs all events that are due. */
    pass(ms: number): void {
      const end = now + ms;
      for (let next = due[0]; next !== undefined && next.at <= end; next = due[0]) {
        due.shift();
        now = next.at;
        next.act();
      }
      now = end;
    },
    answerTo: (id: string) => answers.find((answer) => answer.id === id),
    /** Restarts the backend. @param isKept whether its store is kept */
    restart(isKept: boolean): void {
      if (!isKept) books = createMemoryBooks();
      issuer = createIssuerWithBooks(config, books, `after-${now}`);
      const known = answers.filter(({ session }) => session !== null).map(({ device }) => device);
      if (isKept)
        issuer.know(
          [...new Set(known)].map((device) => ({ tenant: 'museum', device })),
          now,
        );
    },
  };
}
