import type { TokenReason } from '../../../protocol/mqtt/token.ts';
import type { ReplayLog } from '../../replay/record.ts';
import type { Pacer } from '../../uplink/pacer.ts';
import type { Grant } from '../event.ts';
import type { TaskOptions } from '../lane-options.ts';
import type { Phase } from '../phases.ts';
import type { Silence } from './silence.ts';

/** A wait that ends sooner when somebody speaks. */
export interface Wait {
  /** Not before this, however much is said. */
  readonly earliestAt: number;
  /** Spread over this much, because many devices may hear a voice at one time. */
  readonly spreadMs: number;
}

/** A token that was asked for and has not come. */
export interface PendingTokenRequest {
  readonly id: string;
  readonly reason: TokenReason;
  /** How often it has been asked for under this id. */
  readonly attempt: number;
  /** When the id was first used; the token's window is counted from here, to be on the safe side. */
  readonly since: number;
  /** When it was asked for last; null: it waits for the connection. */
  readonly askedAt: number | null;
  /** What a voice may cut short; null: nothing, or it has been. */
  readonly wait: Wait | null;
}

/** An unspent token. */
export interface Lease {
  readonly grant: Grant;
  /** From this moment on the token must not be used, monotonic milliseconds. */
  readonly expiresAt: number;
  /** Tries with it that did not reach the service. */
  readonly unreached: number;
}

/** A connection to the service, from the moment that it is to be opened. */
export interface Stream {
  readonly id: number;
  /** The token it was opened with. */
  readonly lease: Lease;
  /** When the connection was open; null before. */
  readonly openedAt: number | null;
  readonly lastTaskAt: number | null;
  /** What it was told last and has neither confirmed nor rejected; null: nothing is under way. */
  readonly toldTask: TaskOptions | null;
  /** When it was told the first of what it has not confirmed any of; null: it has confirmed what it was told. */
  readonly unconfirmedSince: number | null;
  /** What was held while its task changed is sent until then, before it is told another one. */
  readonly hearsUntil: number;
  /** What it has confirmed: where a later request of the operator's is rejected, this goes on. */
  readonly confirmedTask: TaskOptions | null;
  /** When the task first ran and the stream took what is said; null before. */
  readonly liveAt: number | null;
  readonly lastPollAt: number | null;
  /** It was asked whether the task runs since it was sent the last one. */
  readonly asked: boolean;
  /** The options changed since the last task was sent: it is to be told once more. */
  readonly taskStale: boolean;
  readonly pingsOut: number;
  /** Since when what it is sent does not leave this machine; null: it does. */
  readonly congestedSince: number | null;
  /** When the service will end it by itself (`max_session_duration_seconds`), calculated early; null: never. */
  readonly limitAt: number | null;
  /** Its successor found no room beside it: it has to go before the next one can come. */
  readonly mustGoFirst: boolean;
  /** Tries in a row at a successor for it that failed. */
  readonly rollFailures: number;
  /** When it last said something; null: never. */
  readonly newsAt: number | null;
  /** The first that it sent and nobody could read; null: nothing. */
  readonly firstUnreadable: string | null;
  readonly signs: Signs;
  /** Speech that it was sent and has not said anything of. */
  readonly silence: Silence;
  /** What it was sent and has not spoken. */
  readonly replay: ReplayLog;
}

/** Signs of life of a stream: messages and answers to pings. */
export interface Signs {
  /** The last one; null: none yet. */
  readonly at: number | null;
  /** After a blocked way: what was written before the first sign of life may still come behind it, until then. */
  readonly blockedUntil: number;
  /** The last one behind which all that was written before it has come. */
  readonly settledAt: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
export const NO_SIGNS: Signs = { at: null, blockedUntil: NEVER, settledAt: NEVER };

/** Answers to pings come every three seconds or so: after a longer pause the way was blocked. */
const BLOCKED_AFTER_MS = 4500;
/** What was held up comes within this time after the first sign of life, and what the service had paused in writing. */
const SETTLES_WITHIN_MS = 5000;

export function noteSign({ at, blockedUntil, settledAt }: Signs, now: number): Signs {
  const wasBlocked = at !== null && now - at >= BLOCKED_AFTER_MS;
  const until = wasBlocked ? now + SETTLES_WITHIN_MS : blockedUntil;
  return { at: now, blockedUntil: until, settledAt: now >= until ? now : settledAt };
}

/** Its connection is open and it has been told its task. */
export interface OpenStream extends Stream {
  readonly openedAt: number;
  readonly lastTaskAt: number;
}

/** Its task runs. */
export interface ReadyStream extends OpenStream {
  readonly confirmedTask: TaskOptions;
}

/** It takes, or took, what is said. */
export interface LiveStream extends ReadyStream {
  readonly liveAt: number;
}

/** What may change in a stream without another step of its life. */
export type StreamChanges = Partial<
  Omit<Stream, 'id' | 'lease' | 'limitAt' | 'openedAt' | 'lastTaskAt' | 'confirmedTask' | 'liveAt'> & {
    lastTaskAt: number;
  }
>;

/** A session that is being made ready. */
export type Setup =
  | { readonly stage: 'acquiring'; readonly request: PendingTokenRequest }
  | { readonly stage: 'connecting'; readonly stream: Stream }
  | { readonly stage: 'configuring'; readonly stream: OpenStream };

/** The next session beside the one that hears; `ready`: it waits for a pause in which to take over. */
export type Successor = Setup | { readonly stage: 'ready'; readonly stream: ReadyStream };

/** No session, and none on its way. */
export interface AtRest {
  readonly kind: 'idle' | 'parked' | 'restarting' | 'closed';
}
export interface Standby {
  readonly kind: 'standby';
  /** Which of the last chunks were speech. */
  readonly heardLately: readonly boolean[];
}
export interface Waiting {
  readonly kind: 'waiting';
  /** A token that the last try has left unspent. */
  readonly lease: Lease | null;
  /** What a voice may cut short; null: nothing, or it has been. */
  readonly wait: Wait | null;
}
export interface SettingUp {
  readonly kind: 'setup';
  readonly setup: Setup;
}
export interface Live {
  readonly kind: 'live';
  readonly stream: LiveStream;
  /** A token that a try at a successor has left unspent. */
  readonly lease: Lease | null;
}
/** Live, and told another task, which does not run yet. */
export interface Retasking {
  readonly kind: 'retasking';
  readonly stream: LiveStream;
  readonly lease: Lease | null;
  /** Its time for a rollover has come meanwhile. */
  readonly rollIsDue: boolean;
}
export interface Rolling {
  readonly kind: 'rolling';
  readonly stream: LiveStream;
  readonly setup: Successor;
}
export interface Draining {
  readonly kind: 'draining';
  readonly stream: LiveStream;
}

/** What a lane has of sessions at a moment, the old one aside. */
export type Session = AtRest | Standby | Waiting | SettingUp | Live | Retasking | Rolling | Draining;

/** A stream that takes no more speech: it is fed silence until it has spoken everything, and then ended. */
export interface OldSession {
  readonly stream: LiveStream;
  /** When it stopped taking speech. */
  readonly since: number;
  /** Why it ends: its session's end is reported with it. */
  readonly why: 'rollover' | 'standby';
  /** There was no room for its successor, which comes when it is gone. */
  readonly successorWaits: boolean;
  readonly stage: Finishing | Ending;
}
/** It has something to say. */
export interface Finishing {
  readonly is: 'finishing';
  /** It was asked for a sign of life. */
  readonly asked: boolean;
  /** Paces the silence that it is fed. */
  readonly pacer: Pacer;
}
/** It was asked to end. */
export interface Ending {
  readonly is: 'ending';
  /** Speech that it owed when it was told to end, and that cannot have been noise to it, is sent again. */
  readonly left: 'nothing' | 'unfinished' | 'unanswered';
}

/** What the outside is told of it. */
export function phaseOf(session: Session): Phase {
  switch (session.kind) {
    case 'setup':
      return session.setup.stage;
    case 'retasking':
      return 'configuring';
    default:
      return session.kind;
  }
}

/** Whether a stream hears what is said. */
export function isStreaming(session: Session): session is Live | Rolling {
  return session.kind === 'live' || session.kind === 'rolling';
}

/** The stream that took what is said last and has not been put aside. */
export function hearingStream(session: Session): LiveStream | null {
  return 'stream' in session ? session.stream : null;
}

/** Whether what that stream is sent does not leave this machine. */
export function isCongested(session: Session): boolean {
  const stream = hearingStream(session);
  return stream !== null && stream.congestedSince !== null;
}

/** The session on its way. */
export function setupOf(session: Session): Successor | null {
  return 'setup' in session ? session.setup : null;
}

export function setupStream(session: Session): Stream | null {
  const setup = setupOf(session);
  return setup === null || setup.stage === 'acquiring' ? null : setup.stream;
}

/** The token that is waited for. */
export function tokenRequestOf(session: Session): PendingTokenRequest | null {
  const setup = setupOf(session);
  return setup?.stage === 'acquiring' ? setup.request : null;
}

/** A token that waits to be used. */
export function leaseOf(session: Session): Lease | null {
  return 'lease' in session ? session.lease : null;
}

/** The session that is ready and waits for a pause in which to take over. */
export function waitingSuccessor(session: Session): ReadyStream | null {
  return session.kind === 'rolling' && session.setup.stage === 'ready' ? session.setup.stream : null;
}

/** Every stream of a lane. */
export function streamsOf(lane: {
  readonly session: Session;
  readonly oldSession: OldSession | null;
}): readonly Stream[] {
  const { session, oldSession } = lane;
  const streams = [hearingStream(session), setupStream(session), oldSession?.stream ?? null];
  return streams.filter((stream) => stream !== null);
}

/** The session with these changes in the stream of that number, where it has it. */
export function patchSession(session: Session, id: number, changes: StreamChanges): Session {
  const patch = <S extends Stream>(one: S): S => (one.id === id ? { ...one, ...changes } : one);
  switch (session.kind) {
    case 'live':
    case 'retasking':
    case 'draining':
      return { ...session, stream: patch(session.stream) };
    case 'rolling': {
      const { stream, setup } = session;
      const next =
        setup.stage === 'ready' ? { ...setup, stream: patch(setup.stream) } : patchSetup(setup, patch);
      return { ...session, stream: patch(stream), setup: next };
    }
    case 'setup':
      return { ...session, setup: patchSetup(session.setup, patch) };
    default:
      return session;
  }
}

function patchSetup(setup: Setup, patch: <S extends Stream>(one: S) => S): Setup {
  switch (setup.stage) {
    case 'acquiring':
      return setup;
    case 'connecting':
      return { ...setup, stream: patch(setup.stream) };
    case 'configuring':
      return { ...setup, stream: patch(setup.stream) };
  }
}
