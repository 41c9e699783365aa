import { judgeSigned, readEnvelope, SIGNED_FAULTS, type SignedFault } from '../../core/signed-message.ts';
import type { Opening } from '../../ports/signature.ts';
import type { WallMs } from '../../protocol/common/time.ts';
import type { CommandFault } from './command-request.ts';

/** Length limit of a signed command (characters). */
const LONGEST_SIGNED = 65_536;
/** Longest validity of a signed command (ms): a recorded one must not work for years. */
const LONGEST_VALID_MS = 86_400_000;

export type CommandEnvelope =
  /** Not signed, and need not be. */
  | { readonly kind: 'plain' }
  | { readonly kind: 'signed'; readonly id: string | null; readonly jws: string }
  | { readonly kind: 'refused'; readonly fault: CommandFault };

/** @param mustBeSigned whether the owner has keys and must sign this command */
export function readCommandEnvelope(payload: string, mustBeSigned: boolean): CommandEnvelope {
  const envelope = readEnvelope(payload, Number.MAX_SAFE_INTEGER);
  if (envelope.kind === 'signed') {
    if (payload.length > LONGEST_SIGNED) return { kind: 'refused', fault: signatureFault('oversized') };
    return envelope;
  }
  if (!mustBeSigned) return { kind: 'plain' };
  const message = 'the owner has keys (owner.publicKeyFiles): this command must be signed';
  return { kind: 'refused', fault: { code: 'unsigned', message } };
}

/** What a signed command must be signed for. */
export interface SignedCommand {
  readonly name: string;
  /** The id outside the signature. */
  readonly id: string | null;
  /** Topic bases that a command may be signed for: the device's, its groups' and the fleet's. */
  readonly bases: readonly string[];
}

export type JudgedCommand =
  /** The command as JSON text, without the envelope. */
  { readonly ok: true; readonly payload: string } | { readonly ok: false; readonly fault: CommandFault };

/** @param hasKeys whether the signature was verified with keys of the owner */
export function judgeCommand(
  opening: Opening,
  { name, id, bases }: SignedCommand,
  hasKeys: boolean,
  wall: WallMs | null,
): JudgedCommand {
  if (!opening.ok) return { ok: false, fault: signatureFault(opening.why) };
  const judged = judgeSigned(opening.content, { type: 'dragoman+command', devices: bases, id });
  if (!judged.ok) return { ok: false, fault: signatureFault(judged.why) };
  const body = judged.body as Readonly<Record<string, unknown>>;
  // The topic and the signed content name different commands.
  if (body['cmd'] !== undefined && body['cmd'] !== name) return { ok: false, fault: signatureFault('type') };
  const problem = hasKeys ? freshness(body['not_after'], wall) : null;
  if (problem !== null) return { ok: false, fault: { code: 'signature', message: problem } };
  const { args, not_after } = body;
  return { ok: true, payload: JSON.stringify({ id, args, not_after }) };
}

function signatureFault(why: SignedFault): CommandFault {
  return { code: 'signature', message: `the command was rejected: ${SIGNED_FAULTS[why]}` };
}

/** The fault in a signed command's `not_after`; null: none. */
function freshness(notAfter: unknown, wall: WallMs | null): string | null {
  const until = typeof notAfter === 'string' ? Date.parse(notAfter) : Number.NaN;
  if (Number.isNaN(until)) return 'a signed command must have "not_after": a time in ISO 8601';
  if (wall === null)
    return "the device's clock is not set: it cannot tell whether a signed command is still valid";
  return until - wall > LONGEST_VALID_MS ? 'not_after: must be a day ahead at most' : null;
}
