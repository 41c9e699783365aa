import type { Account } from './account.ts';
import { createRepeatWatch } from './audio-account.ts';
import type { Choices } from './choices.ts';
import { type Effect, HEALTHY_LINK, type Link } from './effect.ts';
import type { StreamFault } from './fault.ts';
import type { FaultTarget } from './fault-plan.ts';
import type { CreateDetector } from './interpreter.ts';
import type { Bookmarks } from './page-cursor.ts';
import { drawToken, type Random } from './random.ts';
import type { ProblemReason } from './refusal.ts';
import type { SessionRecord, SessionRegistry } from './sessions.ts';
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
import type { VoiceRegistry } from './voices.ts';

export interface RunningStreamsSetup {
  readonly choices: Choices;
  readonly sessions: SessionRegistry;
  readonly voices: VoiceRegistry;
  readonly account: Account;
  readonly bookmarks: Bookmarks;
  readonly random: Random;
  readonly createDetector: CreateDetector;
  readonly nextJobId: () => number;
  readonly emit: (effect: Effect) => void;
  /** Milliseconds since 1970 on the service's clock. */
  readonly clockAt: (now: number) => number;
  /** `clockAt` with the clock skew of a fault, as the service shows it. */
  readonly shownClockAt: (now: number) => number;
}

/** The streams of the service: opens them, finds them by their ids, processes what is due, and ends them. */
export class RunningStreams {
  private readonly setup: RunningStreamsSetup;
  private readonly registry = createStreamRegistry();
  private readonly repeats = createRepeatWatch();

  constructor(setup: RunningStreamsSetup) {
    this.setup = setup;
  }

  /** Number of running streams. */
  get size(): number {
    return this.registry.size;
  }

  get nextAt(): number {
    return this.registry.nextAt;
  }

  /** @returns the stream's id */
  open(session: SessionRecord, now: number): string {
    const { random, clockAt, shownClockAt } = this.setup;
    const opened = new Date(shownClockAt(now));
    const report = newReport(`s${drawToken(random, 10)}`, session.id, session.clientReferenceId, opened);
    this.registry.add(this.createStream(report, session, now), session);
    this.setup.sessions.opened(session, clockAt(now));
    return report.id;
  }

  isRunning(id: string): boolean {
    return this.registry.get(id) !== undefined;
  }

  all(): readonly Stream[] {
    return this.registry.all().map(({ stream }) => stream);
  }

  /** A running or recently closed stream; without an id, the stream opened last. */
  find(id: string | undefined): Stream | undefined {
    if (id === undefined) return this.registry.newest;
    return this.registry.get(id)?.stream ?? this.registry.history().find(({ report }) => report.id === id);
  }

  /** Calls `act` with a stream, if it is running. */
  reach(id: string, act: (stream: Stream) => void): void {
    const running = this.registry.get(id);
    if (running === undefined) return;
    act(running.stream);
    this.registry.touch(running);
  }

  /** Marks all streams as due. */
  touchAll(): void {
    for (const running of this.registry.all()) this.registry.touch(running);
  }

  /** Processes the streams that are due or marked as due. */
  attend(now: number): void {
    const { sessions, clockAt } = this.setup;
    this.registry.attend(
      now,
      (running) => this.attendOne(running, now),
      ({ session }) => sessions.finished(session, clockAt(now)),
    );
  }

  /** Ends all streams with an error. */
  endAll(reason: ProblemReason, now: number): void {
    for (const { stream } of this.registry.all()) stream.end(reason, 'error', 0, now);
    this.touchAll();
    this.attend(now);
  }

  /** Revokes a session and ends its streams. @param lingers their sockets stay open */
  revoke(session: SessionRecord, lingers: boolean, now: number): void {
    const { sessions, choices } = this.setup;
    sessions.revoked(session);
    const afterMs = lingers ? Number.POSITIVE_INFINITY : Math.floor(choices.heartbeatMs / 2);
    for (const running of this.registry.all()) {
      if (running.session !== session) continue;
      running.stream.end('session_revoked', 'session_revoked', afterMs, now);
      this.registry.touch(running);
    }
    if (choices.statusAfterRevoke === 'gone' && session.activeStreams === 0) sessions.remove(session);
  }

  /** Closes all connections at once. */
  abandon(reason: string): void {
    for (const { report } of this.all())
      this.setup.emit({ type: 'close', stream: report.id, code: CLOSE.goingAway, reason });
  }

  /** Applies a fault to a stream, if it is running. */
  inflict(fault: StreamFault, id: string, now: number): void {
    const running = this.registry.get(id);
    if (running === undefined) return;
    this.registry.touch(running);
    inflict(fault, running.stream, {
      now,
      emit: this.setup.emit,
      revoke: (lingers) => this.revoke(running.session, lingers, now),
      setLink: (change, forMs) => {
        const healsAt = now + (forMs ?? Number.POSITIVE_INFINITY);
        this.setLink(running, { ...running.link, ...change }, healsAt);
      },
    });
  }

  /** Ends the effects of lasting faults. */
  heal(): void {
    for (const running of this.registry.all()) {
      running.stream.sender.heal();
      if (running.link !== HEALTHY_LINK) this.healLink(running);
    }
  }

  /** The state of each running stream that faults depend on. */
  targets(): FaultTarget[] {
    return this.registry.all().map(targetOf);
  }

  strained(now: number): Strained[] {
    return strainedOf(this.registry.all(), now);
  }

  /** Running streams and the last closed ones, oldest first. */
  reports(now: number): StreamReport[] {
    this.touchAll();
    this.attend(now);
    return [...this.registry.history(), ...this.all()].map(({ report }) => report);
  }

  private createStream(report: StreamReport, session: SessionRecord, now: number): Stream {
    const { choices, random, createDetector, emit, voices, clockAt, shownClockAt } = this.setup;
    const client = session.clientReferenceId;
    return createStream(
      {
        report,
        choices,
        emit,
        random,
        createDetector,
        findVoice: (id, at) => voices.choose(id, clockAt(at)),
        nextJobId: this.setup.nextJobId,
        shownClockAt,
        bookmark: this.setup.bookmarks.of(client),
        isRepeated: (print) => this.repeats.note(client ?? session.id, report.id, print),
      },
      now,
    );
  }

  private attendOne(running: Running, now: number): void {
    const { stream } = running;
    if (now >= limitAt(running)) stream.end('max_duration_reached', 'max_duration_reached', 0, now);
    if (now >= running.linkHealsAt) this.healLink(running);
    stream.tick(now);
    this.setup.account.charge(stream.report.billed_ms - running.charged);
    running.charged = stream.report.billed_ms;
  }

  private setLink(running: Running, link: Link, healsAt: number): void {
    running.link = link;
    running.linkHealsAt = healsAt;
    this.registry.touch(running);
    this.setup.emit({ type: 'link', stream: running.stream.report.id, link });
  }

  private healLink(running: Running): void {
    this.setLink(running, HEALTHY_LINK, Number.POSITIVE_INFINITY);
  }
}
