import { type Account, createAccount } from './account.ts';
import { createRepeatWatch } from './audio-account.ts';
import type { Choices } from './choices.ts';
import { createConnectionCount } from './connection-count.ts';
import { type Credential, identify, type KnownKeys } from './credentials.ts';
import { type Effect, HEALTHY_LINK, type Link } from './effect.ts';
import { type Delivery, type FaultRequest, isStreamFault } from './fault.ts';
import { isAnyStream } from './fault-plan.ts';
import { createFaultRegistry, type FaultRegistry } from './fault-registry.ts';
import type { CreateDetector } from './interpreter.ts';
import type { GivenRefusal, Opening, OpenRequest } from './opening.ts';
import { createBookmarks } from './page-cursor.ts';
import type { PhraseBook } from './phrase-book.ts';
import { drawToken, type Random } from './random.ts';
import type { ProblemReason } from './refusal.ts';
import { createSessionRegistry, objectTo, type SessionRecord, type SessionRegistry } from './sessions.ts';
import { createStream, type Stream } from './stream.ts';
import { inflict } from './stream-faults.ts';
import {
  createStreamRegistry,
  limitAt,
  type Running,
  type Strained,
  strainedOf,
  targetOf,
} from './stream-registry.ts';
import { newReport, type StreamReport } from './stream-report.ts';
import { CLOSE } from './stream-words.ts';
import { createVoiceRegistry, type VoiceRegistry } from './voices.ts';

export interface ServiceSetup {
  readonly choices: Choices;
  readonly keys: KnownKeys;
  readonly random: Random;
  readonly createDetector: CreateDetector;
  /** Milliseconds since 1970 at `now` = 0 on the monotonic clock. */
  readonly wallAtZero: number;
  readonly phrases?: PhraseBook | undefined;
}

/**
 * The whole service without its sockets: sessions, voices, streams, account, faults. Callers pass in the time (monotonic
 * milliseconds) and chance (`random`), and fetch the effects to carry out with `takeEffects()`. The same calls with the
 * same numbers give the same effects.
 */
export interface Service {
  readonly choices: Choices;
  readonly random: Random;
  readonly sessions: SessionRegistry;
  readonly voices: VoiceRegistry;
  readonly account: Account;
  readonly faults: FaultRegistry;
  /** Orders a fault, or a schedule of faults. All or none. */
  order(request: FaultRequest, now: number): { ids: number[] } | { problem: string; unknownStream?: boolean };
  identify(secret: string | null): Credential;
  /** Whether an id and a secret of a legacy caller belong together. */
  isClient(id: string | null, secret: string | null): boolean;
  /** Milliseconds since 1970 on the service's clock. */
  clockAt(now: number): number;
  open(request: OpenRequest, now: number): Opening;
  /** The reason why a WebRTC address refuses this credential. */
  objectToWebrtc(secret: string | null, now: number): ProblemReason;
  receive(stream: string, json: unknown, now: number): void;
  receiveJunk(stream: string, why: string, now: number): void;
  hear(stream: string, pcm: Uint8Array, chars: number, now: number): void;
  rendered(stream: string, jobId: number, pcm: Uint8Array, now: number): void;
  /** A detector of the stream in another thread has decided. */
  decided(stream: string, now: number): void;
  /** The client or the network ended the connection. */
  disconnected(stream: string, code: number, reason: string, by: 'client' | 'network', now: number): void;
  revoke(session: SessionRecord, now: number): void;
  /** Does what is due. Call it after every other call and at `nextAt`. */
  tick(now: number): void;
  nextAt(now: number): number;
  /** Excuses a time in which the service did not listen: frames that then arrive together are not the client's fault. */
  excuse(ms: number): void;
  /** Connections that a fault currently impairs. */
  strained(now: number): Strained[];
  /** Ends all streams and resets choices, faults, sessions, voices and reports; only the time stays. */
  reset(): void;
  takeEffects(): Effect[];
  streams(): readonly Stream[];
  /** A running or recently closed stream; without an id, the stream opened last. */
  stream(id?: string): Stream | undefined;
  /** Running streams and the last closed ones, oldest first. */
  reports(now: number): StreamReport[];
}

export function createService(setup: ServiceSetup): Service {
  const { choices, random } = setup;
  let sessions = createSessionRegistry(random);
  let voices = createVoiceRegistry(choices, random);
  let account = createAccount(choices.balanceMs);
  let faultRegistry = createFaultRegistry({ account, voices });
  let registry = createStreamRegistry();
  let connections = createConnectionCount(choices);
  let repeats = createRepeatWatch();
  let bookmarks = createBookmarks(choices.seed, setup.phrases);
  const asStarted = { ...choices };
  let effects: Effect[] = [];
  let lastJob = 0;

  const emit = (effect: Effect): unknown => effects.push(effect);
  const clockAt = (now: number): number => setup.wallAtZero + now;

  const refused = (
    reason: ProblemReason,
    delivery: Delivery = choices.refusalDelivery,
    given: GivenRefusal = {},
  ): Opening => ({
    kind: 'refused',
    reason,
    delivery,
    bare: given.bare ?? (choices.bareRefusals && (reason === 'unauthorized' || reason === 'forbidden')),
    given,
  });

  /** The session of the requested stream, or the reason for a refusal. */
  const admit = (request: OpenRequest, now: number): SessionRecord | ProblemReason => {
    const { transport = 'ws' } = request;
    const who = identify(request.secret, setup.keys, sessions);
    if (who.kind === 'none') return transport === 'webrtc' ? 'not_emulated' : 'unauthorized';
    if (who.kind === 'unknown' || who.kind === 'jwt') return 'forbidden';
    const objection =
      who.kind === 'session' ? objectTo(who.session, request.intent, transport, clockAt(now)) : null;
    if (objection !== null) return objection;
    const trouble = account.trouble(now);
    if (trouble !== null) return trouble;
    if (request.intent !== 's2s' || transport === 'webrtc') return 'not_emulated';
    if (registry.size >= choices.concurrent) return 'session_limit_reached';
    return who.kind === 'session' ? who.session : sessions.createAutomatic(clockAt(now));
  };

  const start = (session: SessionRecord, now: number): Stream => {
    const report = newReport(
      `s${drawToken(random, 10)}`,
      session.id,
      session.clientReferenceId,
      new Date(clockAt(now) + faultRegistry.skewMs),
    );
    const stream = createStream(
      {
        report,
        choices,
        emit,
        random,
        createDetector: setup.createDetector,
        findVoice: (id, at) => voices.choose(id, clockAt(at)),
        nextJobId: () => ++lastJob,
        shownClockAt: (at) => clockAt(at) + faultRegistry.skewMs,
        bookmark: bookmarks.of(session.clientReferenceId),
        isRepeated: (print) => repeats.note(session.clientReferenceId ?? session.id, report.id, print),
      },
      now,
    );
    sessions.opened(session, clockAt(now));
    registry.add(stream, session);
    return stream;
  };

  const setLink = (entry: Running, change: Partial<Link>, healsAt: number): void => {
    entry.link = { ...entry.link, ...change };
    entry.linkHealsAt = healsAt;
    registry.touch(entry);
    emit({ type: 'link', stream: entry.stream.report.id, link: entry.link });
  };

  const revoke = (session: SessionRecord, now: number, linger = false): void => {
    sessions.revoked(session);
    const afterMs = linger ? Number.POSITIVE_INFINITY : Math.floor(choices.heartbeatMs / 2);
    for (const entry of registry.all()) {
      if (entry.session !== session) continue;
      entry.stream.end('session_revoked', 'session_revoked', afterMs, now);
      registry.touch(entry);
    }
    if (choices.statusAfterRevoke === 'gone' && session.activeStreams === 0) sessions.remove(session);
  };

  const haveFaults = (now: number): void => {
    if (faultRegistry.plan.waiting === 0) return;
    for (const { id: orderId, order, streams } of faultRegistry.plan.takeDue(
      registry.all().map(targetOf),
      now,
    )) {
      const { fault } = order;
      if (!isStreamFault(fault)) {
        faultRegistry.perform(fault, now, orderId);
        if (fault.kind === 'clear') heal();
        continue;
      }
      for (const id of streams) {
        const entry = registry.get(id);
        if (entry === undefined) continue;
        registry.touch(entry);
        inflict(fault, entry.stream, {
          now,
          emit,
          revoke: (linger) => revoke(entry.session, now, linger),
          setLink: (link, forMs) => setLink(entry, link, now + (forMs ?? Number.POSITIVE_INFINITY)),
        });
      }
    }
  };

  /** Ends the effects of lasting faults on the running streams. */
  const heal = (): void => {
    for (const entry of registry.all()) {
      entry.stream.sender.heal();
      if (entry.link !== HEALTHY_LINK) setLink(entry, HEALTHY_LINK, Number.POSITIVE_INFINITY);
    }
  };

  const attend = (entry: Running, now: number): void => {
    const { stream } = entry;
    if (now >= limitAt(entry)) stream.end('max_duration_reached', 'max_duration_reached', 0, now);
    if (now >= entry.linkHealsAt) setLink(entry, HEALTHY_LINK, Number.POSITIVE_INFINITY);
    stream.tick(now);
    account.charge(stream.report.billed_ms - entry.charged);
    entry.charged = stream.report.billed_ms;
  };

  const attendAll = (now: number): void => {
    registry.attend(
      now,
      (entry) => attend(entry, now),
      ({ session }) => sessions.finished(session, clockAt(now)),
    );
  };

  /** Closes the streams of an account that is blocked or has no balance left (docs/service.md 3.3). */
  const closeForTrouble = (now: number): void => {
    if (registry.size === 0) return;
    const trouble = account.trouble(now);
    if (trouble === null) return;
    for (const entry of registry.all()) {
      entry.stream.end(trouble, 'error', 0, now);
      registry.touch(entry);
    }
    attendAll(now);
  };

  const tick = (now: number): void => {
    haveFaults(now);
    if (account.isMetered) for (const entry of registry.all()) registry.touch(entry);
    attendAll(now);
    closeForTrouble(now);
  };

  /** Does something with a stream if it runs. */
  const reach = (id: string, happen: (stream: Stream) => void): void => {
    const entry = registry.get(id);
    if (entry === undefined) return;
    happen(entry.stream);
    registry.touch(entry);
  };

  return {
    choices,
    random,
    get sessions() {
      return sessions;
    },
    get voices() {
      return voices;
    },
    get account() {
      return account;
    },
    get faults() {
      return faultRegistry;
    },
    order(request, now) {
      const orders = request.kind === 'order' ? [request.order] : request.orders;
      const unknown = orders.find(({ stream }) => !isAnyStream(stream) && registry.get(stream) === undefined);
      if (unknown === undefined) return faultRegistry.plan.add(request, now);
      return { problem: `stream: no stream "${unknown.stream}" is running`, unknownStream: true };
    },
    identify: (secret) => identify(secret, setup.keys, sessions),
    isClient: (id, secret) =>
      setup.keys.clients.some((client) => client.id === id && client.secret === secret),
    clockAt,
    open(request, now) {
      const ordered = faultRegistry.takeRefusal();
      if (ordered !== null) return refused(ordered.reason, ordered.delivery, ordered);
      if (request.secret !== null && connections.isTooMany(request.secret, now)) {
        return refused('rate_limit_exceeded', 'close');
      }
      const admitted = admit(request, now);
      if (typeof admitted === 'string') return refused(admitted);
      return { kind: 'opened', stream: start(admitted, now).report.id };
    },
    objectToWebrtc(secret, now) {
      const objection = admit({ secret, intent: 's2s', transport: 'webrtc' }, now);
      return typeof objection === 'string' ? objection : 'not_emulated';
    },
    receive: (id, json, now) => reach(id, (stream) => stream.receive(json, now)),
    receiveJunk: (id, why, now) => reach(id, (stream) => stream.receiveJunk(why, now)),
    hear: (id, pcm, chars, now) => reach(id, (stream) => stream.hear(pcm, chars, now)),
    decided: (id, now) => reach(id, (stream) => stream.decided(now)),
    rendered: (id, jobId, pcm, now) => reach(id, (stream) => stream.rendered(jobId, pcm, now)),
    disconnected: (id, code, reason, by, now) => reach(id, (stream) => stream.closed(code, reason, by, now)),
    revoke(session, now) {
      revoke(session, now);
    },
    tick,
    nextAt: (now) =>
      Math.min(faultRegistry.plan.nextAt(now), registry.nextAt, now + account.lastsMs(registry.size)),
    excuse(ms) {
      for (const { stream } of registry.all()) stream.excuse(ms);
    },
    strained: (now) => strainedOf(registry.all(), now),
    reset() {
      for (const { stream } of registry.all()) {
        emit({
          type: 'close',
          stream: stream.report.id,
          code: CLOSE.goingAway,
          reason: 'the emulator was reset',
        });
      }
      Object.assign(choices, asStarted);
      sessions = createSessionRegistry(random);
      voices = createVoiceRegistry(choices, random);
      account = createAccount(choices.balanceMs);
      faultRegistry = createFaultRegistry({ account, voices });
      registry = createStreamRegistry();
      connections = createConnectionCount(choices);
      repeats = createRepeatWatch();
      bookmarks = createBookmarks(choices.seed, setup.phrases);
    },
    takeEffects() {
      const taken = effects;
      effects = [];
      return taken;
    },
    streams: () => registry.all().map(({ stream }) => stream),
    stream(id) {
      if (id === undefined) return registry.newest;
      return registry.get(id)?.stream ?? registry.history().find((stream) => stream.report.id === id);
    },
    reports(now) {
      for (const entry of registry.all()) registry.touch(entry);
      attendAll(now);
      return [...registry.history(), ...registry.all().map(({ stream }) => stream)].map(
        ({ report }) => report,
      );
    },
  };
}
