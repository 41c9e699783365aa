/**
 * Requests tokens from the backend for the lanes, passes each answer to the part that asked, and watches whether the
 * backend answers at all.
 *
 * On the wire a request has an id that cannot be guessed: otherwise an attacker could answer before the backend. Tokens are
 * in events and effects, never in the state.
 */
import type { Seed } from '../../core/random.ts';
import {
  type Failed,
  followedBy,
  type Machine,
  type Moment,
  type Step,
  stay,
  type Time,
} from '../../machine/machine.ts';
import type { Opening } from '../../ports/signature.ts';
import { textAt } from '../../protocol/common/json.ts';
import {
  type EndedStream,
  endsRecordedSchema,
  malformedField,
  type TokenReason,
  type TokenResponse,
  tokenProbeAnswerSchema,
  tokenResponseSchema,
} from '../../protocol/mqtt/token.ts';
import type { Denial, Grant } from '../lane/state/lane-event.ts';
import {
  type AnswerFault,
  type AnswerMessage,
  type AnswerReading,
  explainFault,
  fieldOf,
  objectionTo,
  readAnswer,
  readDenial,
  readGrant,
  readSigned,
  type Secret,
} from './answer-rules.ts';
import {
  type BackendWatch,
  type BackendWatchEffect,
  type BackendWatchEvent,
  createBackendWatch,
  type ProbeKind,
  stepBackendWatch,
  wakeAt,
} from './backend-watch-rules.ts';
import {
  confirmEnded,
  type EndedStreams,
  keepEnded,
  NO_ENDED_STREAMS,
  reportEnded,
} from './ended-streams-rules.ts';

/** A lane's request, by its id on the wire. */
export interface LaneRequest {
  readonly id: string;
  readonly lane: string;
  /** The lane's own name for the request, which never leaves the device. */
  readonly request: string;
  /** A grant is on its way to the lane: another answer must not replace its token. */
  readonly isGranted: boolean;
}

export interface Tokens {
  /** The latest requests of the lanes, oldest first. */
  readonly requests: readonly LaneRequest[];
  /** The latest probes of the backend watch without an answer, oldest first, by their ids on the wire. */
  readonly probes: readonly { readonly id: string; readonly probe: number }[];
  readonly watch: BackendWatch;
  readonly ended: EndedStreams;
  /** Number of signatures that are being checked. */
  readonly checks: number;
  /** Number of requests that the broker has refused since the start. */
  readonly refusals: number;
  /** Number of refused answers since the start, by reason. */
  readonly refusedAnswers: Readonly<Partial<Record<AnswerFault, number>>>;
}

/** Who waits for answers, and whom to believe. */
export interface TokensFacts {
  readonly lanes: readonly LaneNeeds[];
  /** Ids of the doctor's trial requests, which it publishes itself. */
  readonly trials: readonly string[];
  /** The configuration names the owner's keys: answers must be signed. */
  readonly hasKeys: boolean;
}

export interface LaneNeeds {
  readonly lane: string;
  /** The request that an answer may still fulfil; null: none. */
  readonly request: string | null;
  /** Whether the lane has sent a request and has no answer yet. */
  readonly isWaiting: boolean;
  /** Whether the lane waits for a voice. */
  readonly isResting: boolean;
}

/** Something to send to the backend. */
export type Ask =
  | {
      readonly by: 'lane';
      readonly lane: string;
      readonly request: string;
      readonly reason: TokenReason;
      readonly attempt: number;
    }
  | { readonly by: 'watch'; readonly probe: number; readonly kind: ProbeKind; readonly attempt: number };

export type TokensEvent =
  | { readonly type: 'request'; readonly ask: Ask }
  | { readonly type: 'id_drawn'; readonly ask: Ask; readonly id: string }
  /** The broker has accepted a request, or refused it. */
  | { readonly type: 'published'; readonly allowed: boolean }
  | { readonly type: 'answer'; readonly message: AnswerMessage }
  /** A check has ended, and `checked` follows. Separate, so that an unreadable answer cannot keep its place. */
  | { readonly type: 'check_ended' }
  | { readonly type: 'checked'; readonly id: string; readonly opening: Opening }
  /** The lane has taken the grant, or has learned that it cannot be used. */
  | { readonly type: 'lane_informed'; readonly id: string }
  | { readonly type: 'broker'; readonly up: boolean }
  | { readonly type: 'lanes_changed' }
  /** A stream has ended. `detail` as in the event `session_ended`. */
  | { readonly type: 'stream_ended'; readonly lane: string; readonly detail: object };

export type TokensEffect =
  /** Draws an id of at least 96 random bits (docs/backend.md): `id_drawn` follows. */
  | { readonly type: 'draw_id'; readonly ask: Ask }
  | {
      readonly type: 'publish';
      readonly id: string;
      readonly lane: string;
      readonly reason: TokenReason;
      readonly attempt: number;
      /** Null: a lane needs the token. */
      readonly probe: ProbeKind | null;
      readonly ended: readonly EndedStream[];
      /** Expiry at the broker (s). */
      readonly expiryS: number;
    }
  /** Checks the signature of an answer: `check_ended` and `checked` follow. */
  | { readonly type: 'check'; readonly id: string; readonly jws: string }
  /** Stores the token and passes the grant to the lane, if the address of the stream is allowed: `lane_informed` follows. */
  | {
      readonly type: 'grant';
      readonly id: string;
      readonly lane: string;
      readonly grant: Omit<Grant, 'streamHost'>;
      readonly secret: Secret;
      readonly addressField: string;
    }
  /** `denial` is the backend's own text, which may quote secrets. */
  | { readonly type: 'deny'; readonly lane: string; readonly request: string; readonly denial: Denial }
  /** The session in the answer cannot be used here. */
  | { readonly type: 'unusable'; readonly lane: string; readonly request: string; readonly message: string }
  | { readonly type: 'answer_doctor'; readonly body: unknown }
  /** An answer was refused. `why` completes a sentence. */
  | { readonly type: 'warn_doctor'; readonly why: string }
  | {
      readonly type: 'log';
      readonly level: 'debug' | 'warn';
      readonly kind: string;
      readonly fields: object;
      readonly sentence: string;
    }
  | Exclude<BackendWatchEffect, AskEffect>;

type AskEffect = Extract<BackendWatchEffect, { readonly type: 'ask' }>;

/** Constants of a device. */
export interface TokensSettings {
  /** `{p}` */
  readonly base: string;
  readonly seed: Seed;
}

/** Expiry of a request (s): a session issued later would not be used. */
const REQUEST_EXPIRY_S = 30;
/** Expiry of a probe (s): the answer to an older one says nothing about the present. */
const PROBE_EXPIRY_S = 20;
/** Maximum number of the lanes' requests remembered: far more than can be open. */
const REMEMBERED_REQUESTS = 64;
/** Number of recent probes whose late answers are recognised. */
const REMEMBERED_PROBES = 8;

type Seen = TokensFacts & Moment;
type Stepped = Step<Tokens, TokensEffect>;

export function tokensMachine({
  base,
  seed,
}: TokensSettings): Machine<Tokens, TokensEvent, TokensEffect, TokensFacts> {
  return {
    name: 'tokens',
    begin: {
      requests: [],
      probes: [],
      watch: createBackendWatch(seed),
      ended: NO_ENDED_STREAMS,
      checks: 0,
      refusals: 0,
      refusedAnswers: {},
    },
    step: (state, event, seen) => step(state, event, seen, base),
    wakeAt: ({ watch }) => wakeAt(watch),
  };
}

function step(
  state: Tokens,
  event: TokensEvent | Time | Failed<TokensEffect>,
  seen: Seen,
  base: string,
): Stepped {
  switch (event.type) {
    case 'request':
      return send(state, event.ask, null, seen);
    case 'id_drawn':
      return send(state, event.ask, event.id, seen);
    case 'published':
      return toWatch(event.allowed ? state : { ...state, refusals: state.refusals + 1 }, event, seen);
    case 'answer':
      return answered(state, event.message, seen);
    case 'check_ended':
      return stay({ ...state, checks: state.checks - 1 });
    case 'checked':
      return take(state, readSigned(event.opening, event.id, base), seen);
    case 'lane_informed':
      return stay(markGranted(state, event.id, false));
    case 'lanes_changed':
      return lanesChanged(state, seen);
    case 'stream_ended':
      return stay({ ...state, ended: keepEnded(state.ended, event.lane, event.detail, seen.now) });
    case 'broker':
    case 'time':
      return toWatch(state, event, seen);
    case 'failed':
      return failed(state, event.effect);
  }
}

/**
 * A repeated request keeps its id: the backend then repeats a lost answer instead of issuing a second session.
 * @param drawn null: no id has been drawn for it yet
 */
function send(given: Tokens, ask: Ask, drawn: string | null, seen: Seen): Stepped {
  const id = idOf(given, ask) ?? drawn;
  if (id === null) return { state: given, effects: [{ type: 'draw_id', ask }] };
  const { after, streams } = reportEnded(given.ended, id, seen.now);
  const state = remember({ ...given, ended: after }, ask, id);
  const { attempt } = ask;
  const isProbe = ask.by === 'watch';
  const publish: TokensEffect = {
    type: 'publish',
    id,
    lane: isProbe ? (seen.lanes[0]?.lane ?? 'main') : ask.lane,
    reason: isProbe ? 'start' : ask.reason,
    attempt,
    probe: isProbe ? ask.kind : null,
    ended: streams,
    expiryS: isProbe ? PROBE_EXPIRY_S : REQUEST_EXPIRY_S,
  };
  return { state, effects: [publish] };
}

function idOf({ requests, probes }: Tokens, ask: Ask): string | undefined {
  if (ask.by === 'watch') return probes.find(({ probe }) => probe === ask.probe)?.id;
  return requests.find(({ lane, request }) => lane === ask.lane && request === ask.request)?.id;
}

function remember(state: Tokens, ask: Ask, id: string): Tokens {
  if (ask.by === 'watch') {
    if (state.probes.some((known) => known.id === id)) return state;
    return { ...state, probes: [...state.probes, { id, probe: ask.probe }].slice(-REMEMBERED_PROBES) };
  }
  // A lane that repeats its request has no grant.
  if (state.requests.some((known) => known.id === id)) return markGranted(state, id, false);
  const request: LaneRequest = { id, lane: ask.lane, request: ask.request, isGranted: false };
  return { ...state, requests: [...state.requests, request].slice(-REMEMBERED_REQUESTS) };
}

function markGranted(state: Tokens, id: string, isGranted: boolean): Tokens {
  const requests = state.requests.map((known) => (known.id === id ? { ...known, isGranted } : known));
  return { ...state, requests };
}

/** A message on `{p}/token/res` has arrived. */
function answered(state: Tokens, message: AnswerMessage, seen: Seen): Stepped {
  const { checks } = state;
  const isAwaited = (id: string): boolean => isExpected(state, id, seen);
  return take(state, readAnswer(message, { hasKeys: seen.hasKeys, checks, isAwaited }), seen);
}

function isExpected({ requests, probes, ended }: Tokens, id: string, seen: Seen): boolean {
  return (
    requests.some((known) => known.id === id && isOpen(known, seen)) ||
    probes.some((known) => known.id === id) ||
    ended.reportedBy.includes(id) ||
    seen.trials.includes(id)
  );
}

/** Whether an answer to the request can still be used. */
function isOpen({ lane, request, isGranted }: LaneRequest, { lanes }: Seen): boolean {
  return !isGranted && lanes.some((one) => one.lane === lane && one.request === request);
}

function take(state: Tokens, reading: AnswerReading, seen: Seen): Stepped {
  switch (reading.kind) {
    case 'refused':
      return refuse(state, reading.fault, seen);
    case 'signed':
      return {
        state: { ...state, checks: state.checks + 1 },
        effects: [{ type: 'check', id: reading.id, jws: reading.jws }],
      };
    case 'body':
      return deliver(state, reading.body, seen);
  }
}

function refuse(given: Tokens, fault: AnswerFault, seen: Seen): Stepped {
  const refusedAnswers = { ...given.refusedAnswers, [fault]: (given.refusedAnswers[fault] ?? 0) + 1 };
  const state = { ...given, refusedAnswers };
  const why = explainFault(fault);
  const sentence = `an answer to a token request was refused: ${why}`;
  // Late and duplicate answers are normal.
  if (fault === 'unasked') return { state, effects: [logLine('debug', fault, sentence)] };
  const watched = toWatch(state, { type: 'malformed', field: fieldOf(fault) }, seen);
  const effects: TokensEffect[] = [logLine('warn', fault, sentence), ...watched.effects];
  return { state: watched.state, effects: [...effects, { type: 'warn_doctor', why }] };
}

/** Passes an answer to the part that asked. */
function deliver(given: Tokens, body: unknown, seen: Seen): Stepped {
  const { data: confirmation } = endsRecordedSchema.safeParse(body);
  const state =
    confirmation === undefined ? given : { ...given, ended: confirmEnded(given.ended, confirmation) };
  if (confirmation !== undefined && confirmation['ok'] === undefined) return stay(state);
  const id = textAt(body, 'id') ?? '';
  const probe = state.probes.find((known) => known.id === id)?.probe;
  if (probe !== undefined) return probeAnswered(state, probe, body, seen);
  if (seen.trials.includes(id)) return { state, effects: [{ type: 'answer_doctor', body }] };
  // A late answer to a trial.
  if (tokenProbeAnswerSchema.safeParse(body).success) return stay(state);
  const { success, data: message } = tokenResponseSchema.safeParse(body);
  if (success) return laneAnswered(state, message, seen);
  const field = malformedField(body);
  const watched = toWatch(state, { type: 'malformed', field }, seen);
  const line = logLine('warn', 'malformed', 'a malformed token answer was ignored', { field });
  return { state: watched.state, effects: [line, ...watched.effects] };
}

function probeAnswered(given: Tokens, probe: number, body: unknown, seen: Seen): Stepped {
  const isProbed = tokenProbeAnswerSchema.safeParse(body).success;
  const { success, data: message } = tokenResponseSchema.safeParse(body);
  if (!isProbed && !success) return toWatch(given, { type: 'malformed', field: malformedField(body) }, seen);
  // Each probe counts once: an old answer must not count as a sign of life. A token in the answer to a probe is not kept.
  const state = { ...given, probes: given.probes.filter((known) => known.probe !== probe) };
  return toWatch(state, { type: 'probe_answered', probe, granted: !isProbed && message?.ok === true }, seen);
}

function laneAnswered(given: Tokens, message: TokenResponse, seen: Seen): Stepped {
  const asked = given.requests.find(({ id }) => id === message.id);
  if (asked === undefined)
    return {
      state: given,
      effects: [logLine('debug', 'unasked', 'a token answer without a request was ignored')],
    };
  const { state, effects } = toWatch(given, { type: 'answered' }, seen);
  // A duplicate answer may carry another token: it must not replace the one in use.
  const inform = isOpen(asked, seen)
    ? informationFor(asked, message)
    : logLine('debug', 'late', 'a late or duplicate token answer was ignored');
  const isGranted = inform.type === 'grant';
  return {
    state: isGranted ? markGranted(state, asked.id, true) : state,
    effects: [...effects, inform],
  };
}

/** What the lane learns of an answer. */
function informationFor({ id, lane, request }: LaneRequest, message: TokenResponse): TokensEffect {
  if (!message.ok) return { type: 'deny', lane, request, denial: readDenial(message.error) };
  const objection = objectionTo(message);
  if (objection === null) return { type: 'grant', id, lane, ...readGrant(request, message) };
  return { type: 'unusable', lane, request, message: `the session in the backend's answer ${objection}` };
}

function lanesChanged(state: Tokens, seen: Seen): Stepped {
  const waiting = seen.lanes.some(({ isWaiting }) => isWaiting);
  const resting = seen.lanes.some(({ isResting }) => isResting);
  return toWatch(state, { type: 'lanes', waiting, resting }, seen);
}

/** A step of the watch, and what it asks. */
function toWatch(given: Tokens, event: BackendWatchEvent, seen: Seen): Stepped {
  const watched = stepBackendWatch(given.watch, event, seen.now);
  const begin: Stepped = stay({ ...given, watch: watched.state });
  return watched.effects.reduce(
    (stepped, effect) => followedBy(stepped, (state) => forWatch(state, effect, seen)),
    begin,
  );
}

function forWatch(state: Tokens, effect: BackendWatchEffect, seen: Seen): Stepped {
  if (effect.type !== 'ask') return { state, effects: [effect] };
  const { probe, kind, attempt } = effect;
  return send(state, { by: 'watch', probe, kind, attempt }, null, seen);
}

/** A check whose effect failed gives its place back, and a request loses its mark. The lanes and the watch repeat lost requests. */
function failed(state: Tokens, effect: TokensEffect): Stepped {
  if (effect.type === 'check') return stay({ ...state, checks: state.checks - 1 });
  return stay(effect.type === 'grant' ? markGranted(state, effect.id, false) : state);
}

function logLine(level: 'debug' | 'warn', kind: string, sentence: string, fields: object = {}): TokensEffect {
  return { type: 'log', level, kind: `token_answer:${kind}`, fields, sentence };
}
