import * as z from 'zod';
import { parseJson } from '../../protocol/common/json.ts';

/**
 * The content of a state file. Each has a version; the previous version is read too, so that an update loses nothing.
 * test/device/state-files holds one file of each released version.
 */
export type Reading<T> =
  | { readonly kind: 'kept'; readonly content: T }
  /** Written by a newer version of the program, as after a rollback. */
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'unreadable' };

/** Readers by version: at least the present and the previous one. They return null for invalid content. */
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
