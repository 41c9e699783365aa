/** The file format of `config/desired` documents. */
import * as z from 'zod';
import { type Readers, type Reading, readVersioned } from '../state-files/versioned-file.ts';
import type { DesiredDocument } from './desired-rules.ts';

const keysSchema = z.record(z.string(), z.unknown());
/** Read leniently: the values are checked when they are used. */
const keptSchema = z.object({
  lanes: z.array(z.looseObject({ id: z.string() })),
  schedule: z.unknown().optional(),
  budget: keysSchema.optional(),
  update: keysSchema.optional(),
  screen: keysSchema.optional(),
  log: keysSchema.optional(),
});
const contentSchema = z.object({
  documents: z
    .array(
      z.object({
        from: z.string(),
        version: z.int(),
        body: keysSchema,
        kept: keptSchema.optional().catch(undefined),
      }),
    )
    .max(32),
});

/** Version of the files that this program writes. */
export const DESIRED_FILE_VERSION = 1;
const READERS: Readers<readonly DesiredDocument[]> = {
  1: (json) => contentSchema.safeParse(json).data?.documents ?? null,
};

export function writeDesired(documents: readonly DesiredDocument[]): string {
  return JSON.stringify({ version: DESIRED_FILE_VERSION, documents });
}

export function readDesired(text: string): Reading<readonly DesiredDocument[]> {
  return readVersioned(text, DESIRED_FILE_VERSION, READERS);
}
