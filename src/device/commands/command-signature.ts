import { readUnverified } from '../../adapters/signing/jws.ts';
import { judgeSigned, readEnvelope, type SignedFault } from '../../core/signed-message.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Opening } from '../../ports/signature.ts';
import type { WallMs } from '../../protocol/time.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import { explainFault } from '../tokens/answer-rules.ts';

/** Length limit of a signed command (characters). */
const LONGEST_SIGNED = 65_536;
/** Maximum number of signatures checked at one time: a flood must not use the whole CPU. */
const MOST_OPENINGS = 32;
/** Longest validity of a signed command (ms): a recorded one must not work for years. */
const LONGEST_VALID_MS = 86_400_000;

export type ReadSignature =
  /** The command as JSON text, without the envelope. */
  | { readonly ok: true; readonly payload: string }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Unwraps signed commands, and verifies the signature if the owner has keys. */
export interface CommandSignatures {
  /** @param then called once; immediately if the message is not signed */
  read(name: string, payload: string, then: (read: ReadSignature) => void): void;
  trust(signatures: SignedContentReader | null): void;
}

/**
 * @param bases topic bases that a command may be signed for: the device's, its groups' and the fleet's
 * @param mustBeSigned whether an owner with keys must sign this command
 */
export function createCommandSignatures(
  bases: readonly string[],
  clock: Clock,
  given: SignedContentReader | null,
  mustBeSigned: (name: string) => boolean,
): CommandSignatures {
  let signatures = given;
  let openings = 0;

  const judge = (name: string, id: string | null, opening: Opening): ReadSignature => {
    const refuse = (why: SignedFault): ReadSignature => ({
      ok: false,
      code: 'signature',
      message: `the command was rejected: ${explainFault(why)}`,
    });
    if (!opening.ok) return refuse(opening.why);
    const judged = judgeSigned(opening.content, { type: 'dragoman+command', devices: bases, id });
    if (!judged.ok) return refuse(judged.why);
    const body = judged.body as Readonly<Record<string, unknown>>;
    // The topic and the signed content name different commands.
    if (body['cmd'] !== undefined && body['cmd'] !== name) return refuse('type');
    const problem = signatures === null ? null : freshness(body['not_after'], clock.wall());
    if (problem !== null) return { ok: false, code: 'signature', message: problem };
    const { args, not_after } = body;
    return { ok: true, payload: JSON.stringify({ id, args, not_after }) };
  };

  return {
    read(name, payload, then) {
      const envelope = readEnvelope(payload, Number.MAX_SAFE_INTEGER);
      if (envelope.kind !== 'signed') {
        if (signatures === null || !mustBeSigned(name)) return then({ ok: true, payload });
        const message = 'the owner has keys (owner.publicKeyFiles): this command must be signed';
        return then({ ok: false, code: 'unsigned', message });
      }
      const { id, jws } = envelope;
      const fail = (why: SignedFault): void =>
        then({ ok: false, code: 'signature', message: `the command was rejected: ${explainFault(why)}` });
      if (payload.length > LONGEST_SIGNED) return fail('oversized');
      if (signatures === null) return then(judge(name, id, readUnverified(jws)));
      if (openings >= MOST_OPENINGS) {
        return then({
          ok: false,
          code: 'busy',
          message: 'too many signed commands at once: send it again later',
        });
      }
      openings += 1;
      signatures.open(jws, (opening) => {
        openings -= 1;
        then(judge(name, id, opening));
      });
    },
    trust(next) {
      signatures = next;
    },
  };
}

/** The fault in a signed command's `not_after`; null: none. */
function freshness(notAfter: unknown, wall: WallMs | null): string | null {
  const until = typeof notAfter === 'string' ? Date.parse(notAfter) : Number.NaN;
  if (Number.isNaN(until)) return 'a signed command must have "not_after": a time in ISO 8601';
  if (wall === null)
    return "the device's clock is not set: it cannot tell whether a signed command is still valid";
  return until - wall > LONGEST_VALID_MS ? 'not_after: must be a day ahead at most' : null;
}
