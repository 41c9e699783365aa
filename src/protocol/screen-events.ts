/** The messages to the kiosk's page, with schemas for programs that read them. */
import * as z from 'zod';

const text = z.object({
  language: z.string(),
  text: z.string(),
  breaks: z.boolean(),
  number: z.number(),
});
const lane = z.object({
  id: z.string(),
  source: z.string(),
  targets: z.array(z.string()),
  turn: z.object({ mode: z.enum(['button', 'hold']) }).nullable(),
});
const status = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['listening', 'speaking', 'translating', 'muted', 'standby']) }),
  z.object({ kind: z.literal('offline'), cause: z.enum(['connection', 'microphone', 'loudspeaker']) }),
  z.object({ kind: z.literal('closed'), until: z.iso.datetime().nullable() }),
]);

/** The part of a snapshot that programs other than the page read. */
export const readSnapshotSchema = z.object({
  status,
  level: z.number().min(0).max(10),
  lanes: z.array(lane),
  notices: z.array(z.object({ language: z.string(), text: z.string() })),
  texts: z.array(text),
});
export type ReadSnapshot = z.infer<typeof readSnapshotSchema>;

export const readChangeSchema = readSnapshotSchema.extend({ conversation: z.number() }).partial();
export type ReadChange = z.infer<typeof readChangeSchema>;
