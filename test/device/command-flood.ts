/** Commands that come so fast that state is written nearly all the time, and what the agent has written of them. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

export const EACH_MS = 80;
/** The first writes of a start go out at once, later ones each second: a cut comes within this time at random. */
export const LONGEST_WAIT_MS = 4000;
export const RECORD = '/var/lib/dragoman/commands.museum.kiosk-01.json';
export const SOFTEST = 20;
/** The first alone is the softest. */
export const percentOf = (place: number): number => (place === 0 ? SOFTEST : SOFTEST + 1 + (place % 60));

const recordSchema = z.object({
  version: z.number(),
  commands: z.array(z.object({ key: z.string(), status: z.string().optional() })),
});

/** The status of each command, by the digest of its id. */
export function readCommands(text: string): ReadonlyMap<string, string | undefined> {
  const record = recordSchema.parse(JSON.parse(text));
  return new Map(record.commands.map(({ key, status }) => [key, status]));
}

export const keyOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, 22);

/** What the journal of a start must not tell. */
export const DAMAGED = /cannot be read|unreadable|a new one is begun|defect/;
