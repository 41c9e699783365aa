/** Events that the issuer receives, and effects that it requests. */
import type { TokenError, TokenProbeAnswer, TokenRequest } from '../../protocol/mqtt/token.ts';
import type { CreateSessionInput, SessionWithToken } from '../../protocol/service/session.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import type { Trouble } from '../service/service-trouble.ts';
import type { Claim, Wanted } from './mint/claim.ts';
import type { Made } from './mint/settle.ts';

/** Address of an answer. */
export interface Reply {
  readonly topic: string;
  readonly correlationData?: Uint8Array;
}

export interface Ask {
  readonly who: DeviceName;
  readonly request: Pick<
    TokenRequest,
    'id' | 'lane' | 'intent' | 'connection_type' | 'reason' | 'attempt' | 'probe' | 'ended'
  >;
  readonly reply: Reply;
}

export type Answer = { ok: true; session: SessionWithToken } | { ok: false; error: TokenError };

export type IssuerEvent =
  /** @param draw a random number from 0 to 1, here and below */
  | { type: 'asked'; ask: Ask; draw: number }
  /** A request that carries an id but breaks the schema. */
  | { type: 'malformed'; who: DeviceName; id: string; reply: Reply; detail: string }
  /** The store's decision; null if the store cannot be used now. */
  | { type: 'claimed'; job: number; claim: Claim | null; draw: number }
  /** The time of a `hold` is over. */
  | { type: 'held'; job: number; draw: number }
  /** An existing session, with its token. `used`: the session's stream has begun; null: the session cannot be used any more. */
  | { type: 'fetched'; job: number; session: SessionWithToken | 'used' | null; draw: number }
  /** The lane's unused sessions are gone. Also sent when the list of sessions could not be read. */
  | { type: 'ended'; job: number; draw: number }
  /** The time of a `wake` has come. */
  | { type: 'woken'; draw: number }
  | { type: 'created'; job: number; session: SessionWithToken; draw: number }
  /** The session is in the store. `kept`: it is the lane's; null: the store cannot be used now. */
  | { type: 'settled'; job: number; session: SessionWithToken; kept: boolean | null; draw: number }
  /** A trial's session was created, and was deleted or left to expire. */
  | { type: 'probed'; job: number; deleted: boolean; draw: number }
  | { type: 'failed'; job: number; trouble: Trouble; draw: number };

export type IssuerEffect =
  | {
      type: 'answer';
      who: DeviceName;
      id: string;
      reply: Reply;
      answer: Answer;
      /** Null if the request violated the schema. */
      about: Pick<TokenRequest, 'lane' | 'reason' | 'attempt'> | null;
      repeated: boolean;
    }
  /** The answer to a trial that would have been granted. */
  | { type: 'confirm'; ask: Ask; probe: TokenProbeAnswer['probe'] }
  /** Ask the store for the right to make a session. */
  | { type: 'claim'; job: number; who: DeviceName; wanted: Wanted }
  /** Send `held` after this many milliseconds. */
  | { type: 'hold'; job: number; afterMs: number }
  /** Read an existing session, with its token, from the service. */
  | { type: 'fetch'; job: number; session: string }
  /**
   * Revoke the lane's sessions that were never used: this one, or (null) all that the service lists, unless another instance
   * has taken over the request.
   */
  | { type: 'end'; job: number; who: DeviceName; lane: string; request: string; sessionId: string | null }
  /** Revoke sessions that a device has replaced, while the device's next session is created. */
  | { type: 'revoke'; who: DeviceName; ids: readonly string[] }
  | { type: 'create'; job: number; input: CreateSessionInput }
  /** Write a session to the store. */
  | { type: 'settle'; job: number; who: DeviceName; made: Made; session: SessionWithToken }
  /** Record in the store that no session was created. */
  | { type: 'release'; who: DeviceName; lane: string; request: string }
  /** Revoke a session that was not sent to any device. */
  | { type: 'discard'; who: DeviceName; id: string }
  /** Send `woken` after this many milliseconds. */
  | { type: 'wake'; afterMs: number }
  /** Make a session and delete it. */
  | { type: 'probe'; job: number; input: CreateSessionInput }
  /** No answer. `superseded`: the lane has asked again meanwhile. `elsewhere`: another backend answers. */
  | {
      type: 'ignore';
      who: DeviceName;
      id: string;
      why: 'flood' | 'in_progress' | 'superseded' | 'elsewhere' | 'stale';
    };
