import type { SignatureFault, SignedContent } from '../ports/signature.ts';
import { DEEPEST_JSON, isObject, type JsonReading, readJson } from '../protocol/common/json.ts';
import { type SignedType, signedEnvelopeSchema } from '../protocol/signed.ts';

/** Why a message that must be signed is refused. */
export type SignedFault =
  | SignatureFault
  | 'oversized'
  /** Nested more deeply than any of our messages. */
  | 'nested'
  /** The message is not signed at all. */
  | 'unsigned'
  /** Signed as a message of another kind. */
  | 'type'
  /** Signed for another device. */
  | 'device'
  /** The ids inside and outside the signature differ. */
  | 'id';

/** Each text completes a sentence such as "the command was rejected: ". */
export const SIGNED_FAULTS: Readonly<Record<SignedFault, string>> = {
  oversized: 'it is too long',
  malformed: 'it is malformed',
  nested: `it is nested more than ${DEEPEST_JSON} levels deep`,
  unsigned: 'it is not signed, and the configuration names owner.publicKeyFiles',
  algorithm: 'it is not signed with Ed25519',
  unknown_key: 'it is signed with a key that owner.publicKeyFiles does not hold',
  signature: 'its signature is wrong',
  type: 'it was signed as another kind of message',
  device: 'it was signed for another device',
  id: 'the signed id differs from the id outside the signature',
};

export type Envelope =
  | { readonly kind: 'signed'; readonly id: string | null; readonly jws: string }
  /** Not signed: the whole message as JSON. */
  | { readonly kind: 'plain'; readonly json: unknown }
  | { readonly kind: 'unreadable'; readonly why: 'malformed' | 'oversized' | 'nested' };

/** Reads the envelope of a message. In a signed message, only `id` and `jws` are read. */
export function readEnvelope(text: string, longest: number): Envelope {
  if (text.length > longest) return { kind: 'unreadable', why: 'oversized' };
  const read = readJson(text);
  if (read.kind !== 'json') return { kind: 'unreadable', why: whyNot(read) };
  const json = read.value;
  if (!isObject(json) || !Object.hasOwn(json, 'jws')) return { kind: 'plain', json };
  const { success, data } = signedEnvelopeSchema.safeParse(json);
  if (!success) return { kind: 'unreadable', why: 'malformed' };
  return { kind: 'signed', id: data.id ?? null, jws: data.jws };
}

function whyNot({ kind }: JsonReading): 'malformed' | 'nested' {
  return kind === 'nested' ? 'nested' : 'malformed';
}

/** The required purpose of a signed message. */
export interface SignedFor {
  readonly type: SignedType;
  /** Topic bases: the device's own, and for commands and configuration its groups' and the fleet's. */
  readonly devices: readonly string[];
  /** The id outside the signature; null if such messages have none. */
  readonly id: string | null;
}

/** The body of a signed message, if its purpose fits. */
export function judgeSigned(
  { typ, payload }: SignedContent,
  wanted: SignedFor,
): { readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly why: SignedFault } {
  const read = readJson(payload);
  const body = read.kind === 'json' ? read.value : null;
  if (!isObject(body)) return { ok: false, why: whyNot(read) };
  if (typ !== wanted.type) return { ok: false, why: 'type' };
  const device = Object.hasOwn(body, 'device') ? body['device'] : undefined;
  if (typeof device !== 'string' || !wanted.devices.includes(device)) return { ok: false, why: 'device' };
  const id = Object.hasOwn(body, 'id') ? body['id'] : null;
  if (id !== wanted.id) return { ok: false, why: 'id' };
  return { ok: true, body };
}
