import type { TokenReason } from '../../../protocol/mqtt/token.ts';
import type { Phase } from '../../../protocol/phases.ts';
import type { ReplayLog } from '../replay/record.ts';
import type { Pacer } from '../uplink/pacer.ts';
import type { Grant } from './lane-event.ts';
import type { ServiceTask } from './lane-options.ts';
import type { Silence } from './silence-watch.ts';

/** A wait that a voice shortens. */
export interface Wait {
  /** Earliest end of the wait. */
  readonly earliestAt: number;
  /** The retry is spread over this time (ms), because many devices may hear a voice at once. */
  readonly spreadMs: number;
}

/** A token request without an answer so far. */
export interface PendingTokenRequest {
  readonly id: string;
  readonly reason: TokenReason;
  /** How often the request was sent under this id. */
  readonly attempt: number;
  /** When the id was first used. The token's window is counted from here, because the token was not created earlier. */
  readonly since: number;
  /** When the request was last sent; null: it waits for the connection. */
  readonly askedAt: number | null;
  /** The wait that a voice may shorten; null: none, or it was shortened already. */
  readonly wait: Wait | null;
}

/** A token that the lane holds; it is unspent until a stream is opened with it. */
export interface Lease {
  readonly grant: Grant;
  /** Last moment to use the token (monotonic ms). */
  readonly expiresAt: number;
  /** Attempts with this token that did not reach the service. */
  readonly unreached: number;
}

/** A connection to the service, from the request to open it. */
export interface Stream {
  readonly id: number;
  /** The token with which the stream was opened. */
  readonly lease: Lease;
  /** When the connection opened; null before. */
  readonly openedAt: number | null;
  readonly lastTaskAt: number | null;
  /** The task sent last, if the service has neither confirmed nor rejected it; null: none. */
  readonly sentTask: ServiceTask | null;
  /** When the first unconfirmed task was sent; null: the last one is confirmed. */
  readonly unconfirmedSince: number | null;
  /** Until when speech held during a change of the task is sent. The next change waits until then. */
  readonly hearsUntil: number;
  /** The task that the service has confirmed. That task continues if a later one is rejected. */
  readonly confirmedTask: ServiceTask | null;
  /** When the stream began to receive speech; null before. */
  readonly liveAt: number | null;
  readonly lastPollAt: number | null;
  /** The lane has asked whether the last task runs. */
  readonly asked: boolean;
  /** The options changed after the last task: it must be sent again. */
  readonly taskStale: boolean;
  readonly pingsOut: number;
  /** Since when the connection has been congested: sent bytes do not leave this machine. Null: it is not. */
  readonly congestedSince: number | null;
  /** When the service will end the session at the earliest (`max_session_duration_seconds`); null: no limit. */
  readonly limitAt: number | null;
  /** The account allows no second stream: this one must end before its successor begins. */
  readonly mustGoFirst: boolean;
  /** Consecutive failed attempts at a successor. */
  readonly rollFailures: number;
  /** When the service last sent a text or sound; null: never. */
  readonly newsAt: number | null;
  /** The first unreadable message; null: none. */
  readonly firstUnreadable: string | null;
  readonly signs: Signs;
  /** Sent speech that has no result so far. */
  readonly silence: Silence;
  /** Speech that was sent and not spoken yet. */
  readonly replay: ReplayLog;
}

/** Signs of life of a stream: messages and answers to pings. */
export interface Signs {
  /** When the last sign came; null: none yet. */
  readonly at: number | null;
  /** Until when messages delayed by a blocked connection may still arrive. */
  readonly blockedUntil: number;
  /** Time of the last sign of life by which all earlier messages had arrived. */
  readonly settledAt: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
export const NO_SIGNS: Signs = { at: null, blockedUntil: NEVER, settledAt: NEVER };

/** Pause between signs of life (ms) after which the connection counts as blocked: pings are answered about every 3 s. */
const BLOCKED_AFTER_MS = 4500;
/** Time after the first sign of life (ms) within which delayed messages arrive, including those that the service had queued. */
const SETTLES_WITHIN_MS = 5000;

export function noteSign({ at, blockedUntil, settledAt }: Signs, now: number): Signs {
  const wasBlocked = at !== null && now - at >= BLOCKED_AFTER_MS;
  const until = wasBlocked ? now + SETTLES_WITHIN_MS : blockedUntil;
  return { at: now, blockedUntil: until, settledAt: now >= until ? now : settledAt };
}

/** A stream whose connection is open and whose task was sent. */
export interface OpenStream extends Stream {
  readonly openedAt: number;
  readonly lastTaskAt: number;
}

/** A stream whose task runs. */
export interface ReadyStream extends OpenStream {
  readonly confirmedTask: ServiceTask;
}

/** A stream that receives, or received, speech. */
export interface LiveStream extends ReadyStream {
  readonly liveAt: number;
}

/** Changes of a stream that do not change its stage. */
export type StreamChanges = Partial<
  Omit<Stream, 'id' | 'lease' | 'limitAt' | 'openedAt' | 'lastTaskAt' | 'confirmedTask' | 'liveAt'> & {
    lastTaskAt: number;
  }
>;

/** A session that is being set up. */
export type Setup =
  | { readonly stage: 'acquiring'; readonly request: PendingTokenRequest }
  | { readonly stage: 'connecting'; readonly stream: Stream }
  | { readonly stage: 'configuring'; readonly stream: OpenStream };

/** The next session beside the live one. `ready`: it waits for a pause to take over. */
export type Successor = Setup | { readonly stage: 'ready'; readonly stream: ReadyStream };

/** No session, and none being set up. */
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
  /** The unspent token of the last attempt. */
  readonly lease: Lease | null;
  /** The wait that a voice may shorten; null: none, or it was shortened already. */
  readonly wait: Wait | null;
}
export interface SettingUp {
  readonly kind: 'setup';
  readonly setup: Setup;
}
export interface Live {
  readonly kind: 'live';
  readonly stream: LiveStream;
  /** The unspent token of a failed successor. */
  readonly lease: Lease | null;
}
/** Live, but the changed task is not running yet. */
export interface Retasking {
  readonly kind: 'retasking';
  readonly stream: LiveStream;
  readonly lease: Lease | null;
  /** A rollover became due meanwhile. */
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

/** The sessions of a lane, except the old one. */
export type Session = AtRest | Standby | Waiting | SettingUp | Live | Retasking | Rolling | Draining;

/** A stream that receives no more speech. It gets silence until it has spoken everything, and is then ended. */
export interface OldSession {
  readonly stream: LiveStream;
  /** When the stream stopped receiving speech. */
  readonly since: number;
  /** Why the stream ends, for the event. */
  readonly why: 'rollover' | 'standby';
  /** The successor begins after this session ends, because the account allows one stream. */
  readonly successorWaits: boolean;
  readonly stage: Finishing | Ending;
}
/** The old session may still have speech to deliver. */
export interface Finishing {
  readonly is: 'finishing';
  /** Whether the old session was pinged. */
  readonly asked: boolean;
  /** Paces the silence sent to the old session. */
  readonly pacer: Pacer;
}
/** The old session was asked to end. */
export interface Ending {
  readonly is: 'ending';
  /** Speech that the old session owed when it was asked to end. `unanswered`: replayed even after a clean end. */
  readonly left: 'nothing' | 'unfinished' | 'unanswered';
}

/** The published phase. */
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

/** Whether a stream receives speech. */
export function isStreaming(session: Session): session is Live | Rolling {
  return session.kind === 'live' || session.kind === 'rolling';
}

/** The stream that receives speech, or did so last. The old session does not count. */
export function hearingStream(session: Session): LiveStream | null {
  return 'stream' in session ? session.stream : null;
}

/** Whether the stream that receives speech is congested: its sent bytes do not leave this machine. */
export function isCongested(session: Session): boolean {
  const stream = hearingStream(session);
  return stream !== null && stream.congestedSince !== null;
}

/** The session that is being set up, or waits to take over. */
export function setupOf(session: Session): Successor | null {
  return 'setup' in session ? session.setup : null;
}

export function setupStream(session: Session): Stream | null {
  const setup = setupOf(session);
  return setup === null || setup.stage === 'acquiring' ? null : setup.stream;
}

/** The pending token request. */
export function tokenRequestOf(session: Session): PendingTokenRequest | null {
  const setup = setupOf(session);
  return setup?.stage === 'acquiring' ? setup.request : null;
}

/** The unspent token. */
export function leaseOf(session: Session): Lease | null {
  return 'lease' in session ? session.lease : null;
}

/** The successor that waits for a pause to take over. */
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

/** Applies the changes to the stream with this number, if the session has it. */
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
