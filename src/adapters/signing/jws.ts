import * as z from 'zod';
import type { Opening } from '../../ports/signature.ts';
import { parseJson } from '../../protocol/common/json.ts';

/** Three parts of base64url and two dots: nothing around them, no padding, an Ed25519 signature at the end. */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/;
const headerSchema = z.looseObject({
  alg: z.unknown().optional(),
  kid: z.unknown().optional(),
  typ: z.unknown().optional(),
});

export interface CompactJws {
  readonly header: { readonly alg?: unknown; readonly kid?: unknown; readonly typ?: unknown };
  readonly payload: string;
}

/** Parses a compact JWS without verifying it; null when it is not one. Accepts only the canonical spelling. */
export function readCompact(jws: string): CompactJws | null {
  const [, head = '', body = '', signature = ''] = COMPACT.exec(jws) ?? [];
  const parts = [head, body, signature].map((part) => Buffer.from(part, 'base64url'));
  const isCanonical = parts.every((bytes, at) => bytes.toString('base64url') === [head, body, signature][at]);
  if (head === '' || !isCanonical) return null;
  const [headText, payload] = parts.map(decodeUtf8);
  if (headText == null || payload == null) return null;
  const header = headerSchema.safeParse(parseJson(headText));
  return header.success ? { header: header.data, payload } : null;
}

/** The content of a signed message when there is no key to verify it. */
export function readUnverified(jws: string): Opening {
  const read = readCompact(jws);
  if (read === null) return { ok: false, why: 'malformed' };
  return { ok: true, content: { typ: read.header.typ, payload: read.payload } };
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
