import { hideAll } from '../../adapters/known-secrets.ts';
import { redactText } from '../../adapters/redaction.ts';
import { readUnverified } from '../../adapters/signing/jws.ts';
import type { Handlers } from '../../machine/machine.ts';
import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Bus, BusMessage, LostMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Opening } from '../../ports/signature.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { TokenReason, TokenRequest } from '../../protocol/mqtt/token.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import type { LaneEvent } from '../lane/state/lane-event.ts';
import { phaseOf, tokenRequestOf } from '../lane/state/session-state.ts';
import { type Outage, SILENT_AFTER_MS } from './backend-watch-rules.ts';
import { AddressError } from './stream-address.ts';
import type { TokenStore } from './token-store.ts';
import {
  type LaneNeeds,
  type Tokens,
  type TokensEffect,
  type TokensEvent,
  type TokensFacts,
  tokensMachine,
} from './tokens-machine.ts';

/** The doctor's trial requests, which it publishes itself. */
export interface Trials {
  /** Ids of the requests that wait for an answer. */
  readonly pending: readonly string[];
  receive(body: unknown): unknown;
  /** An answer was refused. @param why completes a sentence */
  refused(why: string): void;
}

export interface TokensDeps {
  readonly runner: Runner;
  readonly topics: DeviceTopics;
  readonly tokenStore: TokenStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  readonly seed: number;
  /** Null: signatures are not checked. */
  readonly signatures: SignedContentReader | null;
  /** An id of at least 96 random bits (docs/backend.md). */
  newId(): string;
  bus(): Bus | null;
  readonly lanes: readonly LaneRunner[];
  readonly trials: Trials;
  /** An outage of the backend has begun. `outage` null: `before` is over. */
  backendChanged(outage: Outage | null, before: Outage | null): void;
  /** The broker refuses token requests, or accepts them again. */
  mayAsk(may: boolean): void;
}

/** The tokens of the lanes: the way to the backend and back. */
export interface RunningTokens {
  /** Since the start: the number of requests that the broker refused, and of answers that this device refused, by reason. */
  readonly counts: Pick<Tokens, 'refusals' | 'refusedAnswers'>;
  /** A lane needs a token. */
  request(lane: string, tokenRequest: { id: string; reason: TokenReason; attempt: number }): void;
  /** No usable answer for a while. */
  readonly isBackendSilent: boolean;
  /** A lane waits for the backend. */
  readonly needsBroker: boolean;
  /** False if the topic is not that of the answers. */
  receive(message: Pick<BusMessage, 'topic' | 'payload' | 'retain'>): boolean;
  lost(message: Pick<LostMessage, 'topic' | 'why'>): void;
  connected(): void;
  disconnected(): void;
  onStep(step: LaneStep): void;
  /** Replaces the keys; null: signatures are not checked. */
  trust(signatures: SignedContentReader | null): void;
  close(): void;
}

export function runTokens(deps: TokensDeps): RunningTokens {
  const { runner, topics, seed } = deps;
  let { signatures } = deps;
  const facts = (): TokensFacts => ({
    lanes: deps.lanes.map(needsOf),
    trials: deps.trials.pending,
    hasKeys: signatures !== null,
  });
  const handlers: Handlers<TokensEvent, TokensEffect> = {
    ...publishing(deps, () => post({ type: 'published', allowed: true })),
    ...checking(
      () => signatures,
      (event) => post(event),
    ),
    ...informing(deps, () => running.state),
    ...reporting(deps),
  };
  const running = runner.run(tokensMachine({ base: topics.base, seed }), handlers, facts);
  const { post } = running;
  return {
    get counts() {
      return running.state;
    },
    request(lane, { id, reason, attempt }) {
      post({ type: 'request', ask: { by: 'lane', lane, request: id, reason, attempt } });
    },
    get isBackendSilent() {
      return running.state.watch.outage !== null;
    },
    get needsBroker() {
      return deps.lanes.some((lane) => lane.needsBackend);
    },
    receive({ topic, payload, retain }) {
      if (topic !== topics.tokenResponse) return false;
      post({ type: 'answer', message: { payload, retained: retain } });
      return true;
    },
    lost({ topic, why }) {
      if (topic === topics.tokenRequest && why === 'refused') post({ type: 'published', allowed: false });
    },
    connected: () => post({ type: 'broker', up: true }),
    disconnected: () => post({ type: 'broker', up: false }),
    onStep({ lane, effects, before: { session: before }, after: { session: after } }) {
      for (const effect of effects)
        if (effect.type === 'notify' && effect.kind === 'session_ended')
          post({ type: 'stream_ended', lane, detail: effect.detail });
      if (tokenRequestOf(before) !== tokenRequestOf(after) || phaseOf(before) !== phaseOf(after))
        post({ type: 'lanes_changed' });
    },
    trust(given) {
      signatures = given;
    },
    close: () => running.close(),
  };
}

function needsOf({ id, openRequest, tokenRequest, phase }: LaneRunner): LaneNeeds {
  return {
    lane: id,
    request: openRequest?.id ?? null,
    isWaiting: tokenRequest !== null && tokenRequest.attempt > 0,
    isResting: phase === 'standby',
  };
}

type Part<Type extends TokensEffect['type']> = Pick<Handlers<TokensEvent, TokensEffect>, Type>;

/** @param accepted the broker has accepted a request */
function publishing(deps: TokensDeps, accepted: () => void): Part<'draw_id' | 'publish'> {
  const { topics, clock, log } = deps;
  return {
    draw_id: ({ ask }) => ({ type: 'id_drawn', ask, id: deps.newId() }),
    publish({ id, lane, reason, attempt, probe, ended, expiryS }) {
      const body: TokenRequest = {
        ts: timestamp(clock.wall()),
        id,
        lane,
        intent: 's2s',
        connection_type: 'ws',
        reason,
        attempt,
        ...(probe !== null && { probe }),
        ...(ended.length > 0 && { ended: [...ended] }),
      };
      if (probe !== null) log.debug({ kind: probe, attempt }, 'probing the backend');
      deps.bus()?.publish(topics.tokenRequest, JSON.stringify(body), {
        qos: 1,
        ...(probe === null && { share: 'tokens' }),
        properties: {
          responseTopic: topics.tokenResponse,
          correlationData: new TextEncoder().encode(id),
          expiryS,
        },
        ended: (isDelivered) => {
          if (isDelivered) accepted();
        },
      });
    },
  };
}

function checking(
  signatures: () => SignedContentReader | null,
  post: (event: TokensEvent) => void,
): Part<'check'> {
  return {
    check({ id, jws }) {
      const checked = (opening: Opening): void => {
        post({ type: 'check_ended' });
        post({ type: 'checked', id, opening });
      };
      const reader = signatures();
      if (reader === null) checked(readUnverified(jws));
      else reader.open(jws, checked);
    },
  };
}

/** Passes answers to the lanes and to the doctor. */
function informing(
  deps: TokensDeps,
  state: () => Tokens,
): Part<'grant' | 'deny' | 'unusable' | 'answer_doctor' | 'warn_doctor'> {
  const { tokenStore, lanes, trials } = deps;
  const inform = (lane: string, event: LaneEvent): void => lanes.find(({ id }) => id === lane)?.post(event);
  /** The backend's text is published, and may quote request ids, tokens or sessions: all of these are shortened. */
  const safe = (text: string, longest: number): string => {
    const ids = state().requests.map(({ id }) => id);
    return redactText(hideAll(tokenStore.hide(text), ids)).slice(0, longest);
  };
  return {
    grant({ id, lane, grant, secret, addressField }) {
      try {
        const streamHost = tokenStore.keep(grant.id, secret);
        inform(lane, { type: 'granted', grant: { ...grant, streamHost } });
      } catch (error) {
        if (!(error instanceof AddressError)) throw error;
        const message = tokenStore.hide(`the ${addressField} in the backend's answer ${error.message}`);
        inform(lane, { type: 'unusable', id: grant.id, message });
      }
      return { type: 'lane_informed', id };
    },
    deny({ lane, request, denial }) {
      const { code, message } = denial;
      const shown = { ...denial, code: safe(code, 60), message: safe(message, 200) };
      inform(lane, { type: 'denied', id: request, denial: shown });
    },
    unusable: ({ lane, request, message }) => void inform(lane, { type: 'unusable', id: request, message }),
    answer_doctor: ({ body }) => void trials.receive(body),
    warn_doctor: ({ why }) => void trials.refused(why),
  };
}

function reporting({
  log,
  repeats,
  topics,
  ...deps
}: TokensDeps): Part<'log' | 'silent' | 'back' | 'may_ask' | 'probes_unknown'> {
  const tellLanes = (silent: boolean): void => {
    for (const lane of deps.lanes) lane.post({ type: 'backend', silent });
  };
  return {
    log: ({ level, kind, fields, sentence }) =>
      void logRepeated({ log, repeats }, { level, kind, fields, sentence }),
    silent({ outage }) {
      const { reason, field } = outage;
      const fields = { reason, ...(field !== null && { field }) };
      log.warn(fields, `the backend has given no usable answer for ${SILENT_AFTER_MS / 1000} s`);
      tellLanes(true);
      deps.backendChanged(outage, null);
    },
    back({ outage }) {
      log.info({}, 'the backend answers again');
      tellLanes(false);
      deps.backendChanged(null, outage);
    },
    may_ask({ may }) {
      if (may) log.info({}, 'the broker accepts token requests again');
      else log.error({ topic: topics.tokenRequest }, 'the broker refuses token requests');
      deps.mayAsk(may);
    },
    probes_unknown: () =>
      void log.info({}, 'the backend does not know "probe":"backend"; no such probes for a day'),
  };
}
