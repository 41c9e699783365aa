import { z } from 'zod';
import { parseJson } from '../../protocol/json.ts';

/**
 * What a state file held. Each carries its version; the one before is read too, so that an update forgets nothing.
 * test/agent/state-files holds one file of each version that was ever released.
 */
export type Reading<T> =
  | { readonly kind: 'kept'; readonly content: T }
  /** Of a later program than this one, as after a rollback. */
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'unreadable' };

/** Readers by version: at least the present one and the one before. They return null for what is none of theirs. */
export type Readers<T> = Readonly<Record<number, (json: unknown) => T | null>>;

const versionSchema = z.object({ version: z.int().positive() });

/** @param present the version that is written */
export function readVersioned<T>(text: string, present: number, readers: Readers<T>): Reading<T> {
  const json = parseJson(text);
  const version = versionSchema.safeParse(json).data?.version ?? 0;
  if (version > present) return { kind: 'newer', version };
  const content = readers[version]?.(json) ?? null;
  return content === null ? { kind: 'unreadable' } : { kind: 'kept', content };
}
