import { type Account, createAccount } from './account.ts';
import { objectToRequest } from './admission.ts';
import type { Choices } from './choices.ts';
import { type ConnectionCount, createConnectionCount } from './connection-count.ts';
import { type Credential, identify, type KnownKeys } from './credentials.ts';
import type { Effect } from './effect.ts';
import { type Delivery, type FaultRequest, isStreamFault } from './fault.ts';
import { type DueFault, isAnyStream } from './fault-plan.ts';
import { createFaultRegistry, type FaultRegistry } from './fault-registry.ts';
import type { CreateDetector } from './interpreter.ts';
import type { GivenRefusal, Opening, OpenRequest } from './opening.ts';
import { createBookmarks } from './page-cursor.ts';
import type { PhraseBook } from './phrase-book.ts';
import type { Random } from './random.ts';
import type { ProblemReason } from './refusal.ts';
import { RunningStreams } from './running-streams.ts';
import { createSessionRegistry, type SessionRecord, type SessionRegistry } from './sessions.ts';
import type { Stream } from './stream.ts';
import type { Strained } from './stream-registry.ts';
import type { StreamReport } from './stream-report.ts';
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
 * milliseconds) and randomness (`random`), and fetch the effects to carry out with `takeEffects()`. The same calls with the
 * same random numbers give the same effects.
 */
export interface Service {
  readonly choices: Choices;
  readonly random: Random;
  readonly sessions: SessionRegistry;
  readonly voices: VoiceRegistry;
  readonly account: Account;
  readonly faults: FaultRegistry;
  /** Orders a fault or a schedule of faults; a problem prevents the whole order. */
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
  /** The client or the network ended the connection. */
  disconnected(stream: string, code: number, reason: string, by: 'client' | 'network', now: number): void;
  revoke(session: SessionRecord, now: number): void;
  /** Processes what is due. Call it after every other call and at `nextAt`. */
  tick(now: number): void;
  nextAt(now: number): number;
  /** Disregards a period in which the service did not listen: a burst of frames afterwards is not the client's fault. */
  excuse(ms: number): void;
  /** Connections that a fault currently impairs. */
  strained(now: number): Strained[];
  /** Ends all streams and resets choices, faults, sessions, voices and reports; the clock stays advanced. */
  reset(): void;
  takeEffects(): Effect[];
  streams(): readonly Stream[];
  /** A running or recently closed stream; without an id, the stream opened last. */
  stream(id?: string): Stream | undefined;
  /** Running streams and the last closed ones, oldest first. */
  reports(now: number): StreamReport[];
}

export function createService(setup: ServiceSetup): Service {
  return new PureService(setup);
}

/** The data of the account: everything that a reset replaces. */
interface Records {
  readonly sessions: SessionRegistry;
  readonly voices: VoiceRegistry;
  readonly account: Account;
  readonly faults: FaultRegistry;
  readonly connections: ConnectionCount;
  readonly streams: RunningStreams;
}

class PureService implements Service {
  readonly choices: Choices;
  readonly random: Random;
  private readonly setup: ServiceSetup;
  private readonly choicesAtStart: Choices;
  private records: Records;
  private effects: Effect[] = [];
  private lastJob = 0;

  constructor(setup: ServiceSetup) {
    this.setup = setup;
    this.choices = setup.choices;
    this.random = setup.random;
    this.choicesAtStart = { ...setup.choices };
    this.records = this.createRecords();
  }

  get sessions(): SessionRegistry {
    return this.records.sessions;
  }

  get voices(): VoiceRegistry {
    return this.records.voices;
  }

  get account(): Account {
    return this.records.account;
  }

  get faults(): FaultRegistry {
    return this.records.faults;
  }

  order(request: FaultRequest, now: number): ReturnType<Service['order']> {
    const { streams, faults } = this.records;
    const orders = request.kind === 'order' ? [request.order] : request.orders;
    const unknown = orders.find(({ stream }) => !isAnyStream(stream) && !streams.isRunning(stream));
    if (unknown === undefined) return faults.plan.add(request, now);
    return { problem: `stream: no stream "${unknown.stream}" is running`, unknownStream: true };
  }

  identify(secret: string | null): Credential {
    return identify(secret, this.setup.keys, this.sessions);
  }

  isClient(id: string | null, secret: string | null): boolean {
    return this.setup.keys.clients.some((client) => client.id === id && client.secret === secret);
  }

  clockAt(now: number): number {
    return this.setup.wallAtZero + now;
  }

  open(request: OpenRequest, now: number): Opening {
    const { sessions, faults, connections, streams } = this.records;
    const ordered = faults.takeRefusal();
    if (ordered !== null) return this.refusal(ordered.reason, ordered.delivery, ordered);
    if (request.secret !== null && connections.isTooMany(request.secret, now))
      return this.refusal('rate_limit_exceeded', 'close');
    const who = this.identify(request.secret);
    const objection = this.objectTo(request, who, now);
    if (objection !== null) return this.refusal(objection);
    const session = who.kind === 'session' ? who.session : sessions.createAutomatic(this.clockAt(now));
    return { kind: 'opened', stream: streams.open(session, now) };
  }

  objectToWebrtc(secret: string | null, now: number): ProblemReason {
    const request = { intent: 's2s', transport: 'webrtc' } as const;
    return this.objectTo(request, this.identify(secret), now) ?? 'not_emulated';
  }

  receive(id: string, json: unknown, now: number): void {
    this.records.streams.reach(id, (stream) => stream.receive(json, now));
  }

  receiveJunk(id: string, why: string, now: number): void {
    this.records.streams.reach(id, (stream) => stream.receiveJunk(why, now));
  }

  hear(id: string, pcm: Uint8Array, chars: number, now: number): void {
    this.records.streams.reach(id, (stream) => stream.hear(pcm, chars, now));
  }

  rendered(id: string, jobId: number, pcm: Uint8Array, now: number): void {
    this.records.streams.reach(id, (stream) => stream.rendered(jobId, pcm, now));
  }

  disconnected(id: string, code: number, reason: string, by: 'client' | 'network', now: number): void {
    this.records.streams.reach(id, (stream) => stream.closed(code, reason, by, now));
  }

  revoke(session: SessionRecord, now: number): void {
    this.records.streams.revoke(session, false, now);
  }

  tick(now: number): void {
    const { account, streams } = this.records;
    this.performDueFaults(now);
    if (account.isMetered) streams.touchAll();
    streams.attend(now);
    this.closeForTrouble(now);
  }

  nextAt(now: number): number {
    const { account, faults, streams } = this.records;
    return Math.min(faults.plan.nextAt(now), streams.nextAt, now + account.lastsMs(streams.size));
  }

  excuse(ms: number): void {
    for (const stream of this.streams()) stream.excuse(ms);
  }

  strained(now: number): Strained[] {
    return this.records.streams.strained(now);
  }

  reset(): void {
    this.records.streams.abandon('the emulator was reset');
    Object.assign(this.choices, this.choicesAtStart);
    this.records = this.createRecords();
  }

  takeEffects(): Effect[] {
    const taken = this.effects;
    this.effects = [];
    return taken;
  }

  streams(): readonly Stream[] {
    return this.records.streams.all();
  }

  stream(id?: string): Stream | undefined {
    return this.records.streams.find(id);
  }

  reports(now: number): StreamReport[] {
    return this.records.streams.reports(now);
  }

  private createRecords(): Records {
    const { choices, random, createDetector, phrases } = this.setup;
    const sessions = createSessionRegistry(random);
    const voices = createVoiceRegistry(choices, random);
    const account = createAccount(choices.balanceMs);
    const faults = createFaultRegistry({ account, voices });
    const connections = createConnectionCount(choices);
    const streams = new RunningStreams({
      choices,
      sessions,
      voices,
      account,
      bookmarks: createBookmarks(choices.seed, phrases),
      random,
      createDetector,
      nextJobId: () => ++this.lastJob,
      emit: (effect) => this.effects.push(effect),
      clockAt: (now) => this.clockAt(now),
      shownClockAt: (now) => this.clockAt(now) + faults.skewMs,
    });
    return { sessions, voices, account, faults, connections, streams };
  }

  private objectTo(request: Omit<OpenRequest, 'secret'>, who: Credential, now: number): ProblemReason | null {
    const { account, streams } = this.records;
    return objectToRequest(request, who, {
      choices: this.choices,
      account,
      runningStreams: streams.size,
      clockMs: this.clockAt(now),
      now,
    });
  }

  private refusal(
    reason: ProblemReason,
    delivery: Delivery = this.choices.refusalDelivery,
    given: GivenRefusal = {},
  ): Opening {
    const isBare = this.choices.bareRefusals && (reason === 'unauthorized' || reason === 'forbidden');
    return { kind: 'refused', reason, delivery, bare: given.bare ?? isBare, given };
  }

  private performDueFaults(now: number): void {
    const { faults, streams } = this.records;
    if (faults.plan.waiting === 0) return;
    for (const due of faults.plan.takeDue(streams.targets(), now)) this.perform(due, now);
  }

  private perform({ id: orderId, order: { fault }, streams: hit }: DueFault, now: number): void {
    const { faults, streams } = this.records;
    if (isStreamFault(fault)) {
      for (const id of hit) streams.inflict(fault, id, now);
      return;
    }
    faults.perform(fault, now, orderId);
    if (fault.kind === 'clear') streams.heal();
  }

  /** Closes the streams of an account that is blocked or has no balance left (docs/service.md 3.3). */
  private closeForTrouble(now: number): void {
    const { account, streams } = this.records;
    if (streams.size === 0) return;
    const trouble = account.trouble(now);
    if (trouble !== null) streams.endAll(trouble, now);
  }
}
