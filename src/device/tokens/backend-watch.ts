import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { textAt } from '../../protocol/json.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import {
  malformedField,
  type TokenRequest,
  tokenProbeAnswerSchema,
  tokenResponseSchema,
} from '../../protocol/mqtt/token.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import {
  type BackendWatchEffect,
  type BackendWatchEvent,
  createBackendWatch as createWatch,
  type Outage,
  SILENT_AFTER_MS,
  stepBackendWatch,
  wakeAt,
} from './backend-watch-rules.ts';
import type { EndedStreams } from './ended-streams.ts';

/** Number of recent probes whose late answers are recognised. */
const REMEMBERED_PROBES = 8;
/** Expiry of a probe at the broker (s): the answer to an older one says nothing about the present. */
const PROBE_EXPIRY_S = 20;

export interface BackendWatcherDeps {
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  readonly log: Log;
  readonly seed: number;
  readonly ended: Pick<EndedStreams, 'reportIn'>;
  /** The lane named in the probes. */
  lane(): string;
  /** An id of at least 96 random bits (docs/backend.md). */
  newId(): string;
  bus(): Bus | null;
  /** The backend counts as silent from now on (the outage), or is back (null). */
  changed(outage: Outage | null, before: Outage | null): void;
  /** The broker refuses token requests, or accepts them again. */
  mayAsk(may: boolean): void;
}

/** Watches the backend by the lanes' requests and by probes. It makes no decisions. */
export interface BackendWatcher {
  connected(up: boolean): void;
  lanes(now: { waiting: boolean; resting: boolean }): void;
  /** The broker has accepted a token request, or refused it. */
  published(allowed: boolean): void;
  /** Number of refusals since the start. */
  readonly refusals: number;
  /** A lane's request has a usable answer. */
  answered(): void;
  /** An unusable answer arrived. */
  malformed(field: string): void;
  /** Whether this is the id of a probe. */
  awaits(id: string): boolean;
  /** Handles an answer on `{p}/token/res`; true if it belongs to a probe. */
  receive(body: unknown): boolean;
  close(): void;
}

export function createBackendWatch(deps: BackendWatcherDeps): BackendWatcher {
  const { topics, clock, log } = deps;
  /** Numbers of the probes, by the id on the wire. */
  const probes = new Map<string, number>();
  let state = createWatch(deps.seed);
  let cancel = (): void => {};
  let isClosed = false;
  let refusals = 0;

  const post = (event: BackendWatchEvent): void => {
    if (isClosed) return;
    const { effects, ...next } = stepBackendWatch(state, event, clock.now());
    state = next.state;
    cancel();
    const at = wakeAt(state);
    cancel = at === null ? () => {} : clock.at(at, () => post({ type: 'time' }));
    for (const effect of effects) perform(effect);
  };

  const idOf = (probe: number): string => {
    for (const [id, number] of probes) if (number === probe) return id;
    const id = deps.newId();
    probes.set(id, probe);
    for (const old of probes.keys()) {
      if (probes.size <= REMEMBERED_PROBES) break;
      probes.delete(old);
    }
    return id;
  };

  const ask = ({ probe, kind, attempt }: Extract<BackendWatchEffect, { type: 'ask' }>): void => {
    const id = idOf(probe);
    const body = {
      ts: timestamp(clock.wall()),
      id,
      lane: deps.lane(),
      intent: 's2s',
      connection_type: 'ws',
      reason: 'start',
      attempt,
      probe: kind,
      ...deps.ended.reportIn(id),
    } satisfies TokenRequest;
    log.debug({ kind, attempt }, 'probing the backend');
    deps.bus()?.publish(topics.tokenRequest, JSON.stringify(body), {
      qos: 1,
      properties: {
        responseTopic: topics.tokenResponse,
        correlationData: new TextEncoder().encode(id),
        expiryS: PROBE_EXPIRY_S,
      },
      ended: (isDelivered) => isDelivered && post({ type: 'published', allowed: true }),
    });
  };

  const perform = (effect: BackendWatchEffect): void => {
    switch (effect.type) {
      case 'ask':
        return ask(effect);
      case 'silent': {
        const { reason, field } = effect.outage;
        const fields = { reason, ...(field !== null && { field }) };
        log.warn(fields, `the backend has given no usable answer for ${SILENT_AFTER_MS / 1000} s`);
        return deps.changed(effect.outage, null);
      }
      case 'back':
        log.info({}, 'the backend answers again');
        return deps.changed(null, effect.outage);
      case 'may_ask':
        if (effect.may) log.info({}, 'the broker accepts token requests again');
        else log.error({ topic: topics.tokenRequest }, 'the broker refuses token requests');
        return deps.mayAsk(effect.may);
      case 'probes_unknown':
        return log.info({}, 'the backend does not know "probe":"backend"; no such probes for a day');
    }
  };

  return {
    connected: (up) => post({ type: 'broker', up }),
    lanes({ waiting, resting }) {
      if (waiting !== state.waiting || resting !== state.resting) post({ type: 'lanes', waiting, resting });
    },
    published(allowed) {
      if (!allowed) refusals += 1;
      post({ type: 'published', allowed });
    },
    get refusals() {
      return refusals;
    },
    answered: () => post({ type: 'answered' }),
    malformed: (field) => post({ type: 'malformed', field }),
    awaits: (id) => probes.has(id),
    receive(body) {
      const id = textAt(body, 'id') ?? '';
      const probe = probes.get(id);
      if (probe === undefined) return false;
      const isProbed = tokenProbeAnswerSchema.safeParse(body).success;
      const response = tokenResponseSchema.safeParse(body);
      // Each probe counts once: an old answer must not count as a sign of life. The token of an unwanted session is dropped here.
      if (isProbed || response.success) {
        probes.delete(id);
        post({ type: 'probe_answered', probe, granted: !isProbed && response.data?.ok === true });
      } else post({ type: 'malformed', field: malformedField(body) });
      return true;
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
}
