/** Events that the issuer receives, and effects that it requests. */
import type { TokenError, TokenProbeAnswer, TokenRequest } from '../../protocol/mqtt/token.ts';
import type { CreateSessionInput, SessionWithToken } from '../../protocol/service/session.ts';
import type { DeviceName } from './policy.ts';
import type { Trouble } from './service-trouble.ts';

/** Address of an answer. */
export interface Reply {
  readonly topic: string;
  readonly correlationData?: Uint8Array;
}

export interface Ask {
  readonly who: DeviceName;
  readonly request: Pick<
    TokenRequest,
    'id' | 'lane' | 'intent' | 'connection_type' | 'reason' | 'attempt' | 'probe'
  >;
  readonly reply: Reply;
}

export type Answer = { ok: true; session: SessionWithToken } | { ok: false; error: TokenError };

export type IssuerEvent =
  /** @param draw a random number from 0 to 1, here and below */
  | { type: 'asked'; ask: Ask; draw: number }
  /** A request that carries an id but breaks the schema. */
  | { type: 'malformed'; who: DeviceName; id: string; reply: Reply; detail: string }
  /** The lane's unused sessions are gone, or it is not known whether there were any. `ids`: those that are gone. */
  | { type: 'ended'; job: number; ids: readonly string[]; draw: number }
  /** The result of a `revoke`; sessions that are not in `gone` may still run. */
  | { type: 'revoked'; who: DeviceName; ids: readonly string[]; gone: readonly string[] }
  /** The time of a `wake` has come. */
  | { type: 'woken'; draw: number }
  | { type: 'created'; job: number; session: SessionWithToken; draw: number }
  /** A session was made for a trial, and was deleted or left to expire. */
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
  /** Find the lane's sessions (`sessionId`, else by reference) and revoke those that were never used. */
  | { type: 'end'; job: number; reference: string; sessionId: string | null }
  /** Revoke sessions that a device has replaced, while its next one is made. */
  | { type: 'revoke'; who: DeviceName; ids: readonly string[] }
  /** Send `woken` after this many milliseconds. */
  | { type: 'wake'; afterMs: number }
  | { type: 'create'; job: number; input: CreateSessionInput }
  /** Make a session and delete it. */
  | { type: 'probe'; job: number; input: CreateSessionInput }
  /** No answer. `superseded`: the lane has asked again meanwhile. */
  | { type: 'ignore'; who: DeviceName; id: string; why: 'flood' | 'in_progress' | 'superseded' | 'stale' };
