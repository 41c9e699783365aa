import type { SignatureFault, SignedContent } from '../../ports/signature.ts';
import { isObject, type JsonReading, readJson } from '../../protocol/json.ts';
import { type SignedType, signedEnvelopeSchema } from '../../protocol/signed.ts';

/** Why a message that must be signed is not believed. */
export type SignedFault =
  | SignatureFault
  | 'oversized'
  /** Deeper than anything that is meant. */
  | 'nested'
  /** It is not signed at all. */
  | 'unsigned'
  /** Signed as a message of another kind. */
  | 'type'
  /** Signed for another device. */
  | 'device'
  /** The id inside is not the one outside. */
  | 'id';

export type Envelope =
  | { readonly kind: 'signed'; readonly id: string | null; readonly jws: string }
  /** Not signed: the whole message, as JSON has it. */
  | { readonly kind: 'plain'; readonly json: unknown }
  | { readonly kind: 'unreadable'; readonly why: 'malformed' | 'oversized' | 'nested' };

/** Reads the outside of a message. Of a signed one nothing but `id` and `jws` is ever looked at. */
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

/** What a signed message must be for. */
export interface SignedFor {
  readonly type: SignedType;
  /** Topic bases: the device's own, and for commands and configuration its groups' and the fleet's. */
  readonly devices: readonly string[];
  /** The id outside; null where such messages have none. */
  readonly id: string | null;
}

/** The body of a signed message, if it is meant for us and for this. */
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
