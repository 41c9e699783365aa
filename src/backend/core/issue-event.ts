/** What the issuer hears and what it wants done. */
import type { TokenError, TokenProbeAnswer, TokenRequest } from '../../protocol/mqtt/token.ts';
import type { CreateSessionInput, SessionWithToken } from '../../protocol/service/session.ts';
import type { DeviceName } from './policy.ts';
import type { Trouble } from './service-trouble.ts';

/** Where an answer goes. */
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
  | { type: 'misasked'; who: DeviceName; id: string; reply: Reply; detail: string }
  /** The lane's unused sessions are gone, or could not be found out. `ids` of those that are gone. */
  | { type: 'ended'; job: number; ids: readonly string[]; draw: number }
  /** What became of sessions that were to be revoked; those not among `gone` may still run. */
  | { type: 'revoked'; who: DeviceName; ids: readonly string[]; gone: readonly string[] }
  /** The time of a `wake` has come. */
  | { type: 'woken'; draw: number }
  | { type: 'created'; job: number; session: SessionWithToken; draw: number }
  /** A session has been made for a trial and is gone again, or left to expire. */
  | { type: 'probed'; job: number; deleted: boolean; draw: number }
  | { type: 'failed'; job: number; trouble: Trouble; draw: number };

export type IssuerEffect =
  | {
      type: 'answer';
      who: DeviceName;
      id: string;
      reply: Reply;
      answer: Answer;
      /** Null when the request broke the schema. */
      about: Pick<TokenRequest, 'lane' | 'reason' | 'attempt'> | null;
      repeated: boolean;
    }
  /** The answer to a trial that would have been granted. */
  | { type: 'confirm'; ask: Ask; probe: TokenProbeAnswer['probe'] }
  /** Find the lane's sessions (the one named, else by reference) and revoke those that were never used. */
  | { type: 'end'; job: number; reference: string; sessionId: string | null }
  /** Revoke sessions that a device has replaced, while its next one is made. */
  | { type: 'revoke'; who: DeviceName; ids: readonly string[] }
  /** Tell when this much time has passed, in milliseconds. */
  | { type: 'wake'; afterMs: number }
  | { type: 'create'; job: number; input: CreateSessionInput }
  /** Make a session and delete it. */
  | { type: 'probe'; job: number; input: CreateSessionInput }
  /** No answer. `superseded`: the lane has asked again meanwhile. */
  | { type: 'ignore'; who: DeviceName; id: string; why: 'flood' | 'in_progress' | 'superseded' | 'stale' };
