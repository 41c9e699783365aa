import type { IssuerEffect, IssuerEvent } from '../../src/backend/issuing/issue-event.ts';
import { referenceOf } from '../../src/backend/issuing/mint/policy.ts';
import { readRequest } from '../../src/backend/issuing/request.ts';
import { isUnused, shownSession } from '../../src/backend/issuing/session-upkeep.ts';
import { failureOfAnswer } from '../../src/backend/service/service-failure.ts';
import type { Trouble } from '../../src/backend/service/service-trouble.ts';
import type { Answer } from '../../src/emulator/core/refusal.ts';
import { refuse } from '../../src/emulator/core/refusal.ts';
import {
  type ApiRequest,
  createSession,
  deleteSession,
  getSession,
  listSessions,
} from '../../src/emulator/core/session-api.ts';
import type { PublishOptions } from '../../src/ports/bus.ts';
import { type BackendConfigInput, backendConfigSchema } from '../../src/protocol/backend-config.ts';
import { asWall } from '../../src/protocol/common/time.ts';
import type { TokenProbeAnswer, TokenResponse } from '../../src/protocol/mqtt/token.ts';
import {
  type Session,
  type SessionWithToken,
  sessionSchema,
  sessionWithTokenSchema,
} from '../../src/protocol/service/session.ts';
import { createIssuerWithBooks, type OuterEffect } from '../backend/issuing/memory-books.ts';
import type { Dice } from './dice.ts';
import { API_KEY, type ServiceHost } from './service-host.ts';
import type { SimClock } from './sim-clock.ts';

const REQUEST: ApiRequest = {
  authorization: `Bearer ${API_KEY}`,
  clientId: null,
  clientSecret: null,
  body: {},
  query: {},
  httpBase: 'http://service.sim',
  streamBase: 'wss://service.sim',
};
/** Refusals that a correct device never gets, whatever the fault. */
const COST_LIMITS = ['lane_limit_reached', 'hourly_limit_reached', 'device_sessions_limit_reached'];
const HTTP_TIMEOUT_MS = 10_000;

/** The shipped token issuer, with simulated HTTP to the simulated service. */
export interface BackendHost {
  /** A message from the bus. */
  hear(topic: string, payload: string, options: PublishOptions): void;
  /** The backend does not run and answers no request. */
  isDown: boolean;
  /** The backend refuses the device permanently. */
  denies: boolean;
}

export interface BackendSetup {
  readonly clock: SimClock;
  readonly dice: Dice;
  readonly host: ServiceHost;
  readonly terms: { maxDurationS: number | null; singleUse: boolean; expiresS: number };
  /** Number of lanes of the device. */
  readonly lanes: number;
  /** Sends an answer to the device. */
  readonly answer: (
    topic: string,
    body: TokenResponse | TokenProbeAnswer,
    correlation: Uint8Array | undefined,
  ) => void;
}

export function createBackendHost(setup: BackendSetup): BackendHost {
  const { clock, dice, host, terms, lanes } = setup;
  const config = backendConfigSchema.parse({
    mqtt: { url: 'mqtts://broker.sim' },
    service: {
      url: 'https://service.sim',
      streamUrl: 'wss://service.sim/streaming-api/{random_hash}/v1/s2s',
    },
    allow: ['*/*'],
    // Faults come a hundred times more often than in reality. Cost limits are not tested here.
    limits: { sessionsPerHour: 1000 * lanes, sessionsAtOnce: lanes === 1 ? 3 : 3 * lanes },
    session: {
      expiresInSeconds: terms.expiresS,
      singleUse: terms.singleUse,
      maxSessionDurationSeconds: terms.maxDurationS,
    },
  } satisfies BackendConfigInput);
  const issuer = createIssuerWithBooks(config);

  /** One HTTP exchange with the service's own handlers: delayed, and sometimes failing. */
  const exchange = (
    call: (request: ApiRequest) => Answer,
    fields: Partial<ApiRequest>,
    route: 'create' | 'sessions',
    done: (answer: Answer | Trouble['kind']) => void,
  ): void => {
    const late = dice.chance(0.1) ? dice.between(500, 2500) : dice.between(40, 300);
    clock.at(clock.now() + late, () => {
      if (host.isDown) return done('unreachable');
      const fault = host.service.faults.takeHttpFault(route);
      if (fault?.answer === 'timeout') {
        clock.at(clock.now() + HTTP_TIMEOUT_MS, () => done('timeout'));
        return;
      }
      if (fault?.answer === 'reset') return done('unreachable');
      if (fault?.answer === 'garbage') return done({ status: 200, body: { what: 'is this' } });
      if (fault?.answer === 'status')
        return done(refuse(fault.reason ?? 'unavailable', 'sim', [], fault.status));
      done(call({ ...REQUEST, ...fields }));
    });
  };
  const troubleOf = (answer: Answer): Trouble =>
    failureOfAnswer(
      {
        status: answer.status,
        body: JSON.stringify(answer.body),
        headers: answer.headers ?? {},
      } as Parameters<typeof failureOfAnswer>[0],
      'ask the service',
      (text) => text,
      asWall(0),
    ).trouble;
  const context = () => ({ service: host.service, now: host.now(), instance: 'sim' });
  const dispatch = (event: IssuerEvent): void => {
    for (const effect of issuer.handle(event, clock.now())) run(effect);
  };
  const fail = (job: number, trouble: Trouble): void =>
    dispatch({ type: 'failed', job, trouble, draw: dice.next() });

  const create = (
    { job, input }: Extract<IssuerEffect, { type: 'create' | 'probe' }>,
    done = (session: SessionWithToken) => dispatch({ type: 'created', job, session, draw: dice.next() }),
  ): void => {
    exchange(
      (request) => host.act(() => createSession(request, context())),
      { body: input },
      'create',
      (answer) => {
        if (typeof answer === 'string') return fail(job, { kind: answer, detail: null, retryAfterS: null });
        if (answer.status !== 201 && answer.status !== 200) return fail(job, troubleOf(answer));
        const session = sessionWithTokenSchema.safeParse((answer.body as { data?: unknown }).data);
        if (!session.success) return fail(job, { kind: 'malformed', detail: null, retryAfterS: null });
        host.references.set(session.data.token, input.client_reference_id ?? '');
        const shown: SessionWithToken = shownSession(session.data, input.max_session_duration_seconds);
        done(shown);
      },
    );
  };
  const endSessions = (effect: Extract<IssuerEffect, { type: 'end' }>): void => {
    const { job, who, lane, sessionId } = effect;
    const ask = (request: ApiRequest): Answer =>
      sessionId === null ? listSessions(request, context()) : getSession(sessionId, request, context());
    exchange(ask, { query: { client_reference_id: referenceOf(who, lane) } }, 'sessions', (answer) => {
      if (typeof answer === 'string') return fail(job, { kind: answer, detail: null, retryAfterS: null });
      const { data } = (answer.body ?? {}) as { data?: unknown };
      const found: Session[] = (Array.isArray(data) ? data : [data]).flatMap((item) => {
        const parsed = sessionSchema.safeParse(item);
        return parsed.success ? [parsed.data] : [];
      });
      const unused = found.filter(isUnused);
      for (const session of unused) host.act(() => deleteSession(session.id, REQUEST, context()));
      issuer.gone(
        who,
        unused.map(({ id }) => id),
        clock.now(),
      );
      dispatch({ type: 'ended', job, draw: dice.next() });
    });
  };
  const revoke = ({ who, ids }: Extract<IssuerEffect, { type: 'revoke' }>): void => {
    for (const id of ids) {
      const ask = (request: ApiRequest): Answer => host.act(() => deleteSession(id, request, context()));
      exchange(ask, {}, 'sessions', (answer) => {
        const isGone = typeof answer !== 'string' && answer.status < 500;
        if (isGone) issuer.gone(who, [id], clock.now());
      });
    }
  };
  const fetch = ({ job, session: id }: Extract<IssuerEffect, { type: 'fetch' }>): void => {
    exchange(
      (request) => getSession(id, request, context()),
      {},
      'sessions',
      (answer) => {
        const body = typeof answer === 'string' ? null : answer.body;
        const found = sessionWithTokenSchema.safeParse((body as { data?: unknown } | null)?.data);
        const session = found.success && isUnused(found.data) ? shownSession(found.data, undefined) : null;
        dispatch({ type: 'fetched', job, session, draw: dice.next() });
      },
    );
  };
  const run = (effect: OuterEffect): void => {
    switch (effect.type) {
      case 'create':
        return create(effect);
      case 'end':
        return endSessions(effect);
      case 'revoke':
        return revoke(effect);
      case 'fetch':
        return fetch(effect);
      case 'hold':
      case 'discard':
        throw new Error(`${effect.type} with one backend`);
      case 'wake':
        clock.at(clock.now() + effect.afterMs, () => dispatch({ type: 'woken', draw: dice.next() }));
        return;
      case 'probe':
        return create(effect, (session) => {
          host.act(() => deleteSession(session.id, REQUEST, context()));
          dispatch({ type: 'probed', job: effect.job, deleted: true, draw: dice.next() });
        });
      case 'confirm': {
        const { ask, probe } = effect;
        const stream_url = config.service.streamUrl;
        const body: TokenProbeAnswer = { ts: null, id: ask.request.id, ok: true, probe, stream_url };
        return setup.answer(ask.reply.topic, body, ask.reply.correlationData);
      }
      case 'ignore':
        return;
      case 'answer': {
        const { id, reply, answer: given } = effect;
        if (!given.ok && COST_LIMITS.includes(given.error.code)) {
          throw new Error(`the backend refused a correct device for its cost: ${given.error.detail}`);
        }
        const body: TokenResponse = given.ok
          ? { ts: null, id, ok: true, session: given.session, stream_url: config.service.streamUrl }
          : { ts: null, id, ok: false, error: given.error };
        setup.answer(reply.topic, body, reply.correlationData);
      }
    }
  };

  return {
    isDown: false,
    denies: false,
    hear(topic, payload, options) {
      if (this.isDown) return;
      const message = { topic, payload, retain: false, properties: options.properties ?? {} };
      const read = readRequest(config.mqtt.prefix, message);
      if (read.kind !== 'ask') throw new Error(`the backend can't read the device's request: ${payload}`);
      if (this.denies) {
        const { request, reply } = read.ask;
        const error = { code: 'device_disabled', title: 'Disabled', detail: 'by its owner', final: true };
        setup.answer(reply.topic, { ts: null, id: request.id, ok: false, error }, reply.correlationData);
        return;
      }
      dispatch({ type: 'asked', ask: read.ask, draw: dice.next() });
    },
  };
}
