/** A flood of commands that makes the agent write state almost constantly, and a reader of that state. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

export const EACH_MS = 80;
/** Latest random time of a power cut (ms). The first writes after a start are immediate, later ones once a second. */
export const LONGEST_WAIT_MS = 4000;
export const RECORD = '/var/lib/dragoman/commands.museum.kiosk-01.json';
export const SOFTEST = 20;
/** Volume of each command; only the first one has the softest. */
export const percentOf = (place: number): number => (place === 0 ? SOFTEST : SOFTEST + 1 + (place % 60));

const recordSchema = z.object({
  version: z.number(),
  commands: z.array(z.object({ key: z.string(), status: z.string().optional() })),
});

/** Status of each command by the digest of its id. */
export function readCommands(text: string): ReadonlyMap<string, string | undefined> {
  const record = recordSchema.parse(JSON.parse(text));
  return new Map(record.commands.map(({ key, status }) => [key, status]));
}

export const keyOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, 22);

/** Log lines that must not appear after a start. */
export const DAMAGED = /cannot be read|cannot read|unreadable|beginning a new one|defect/;
