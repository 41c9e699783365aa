import * as z from 'zod';

/** A running agent's note for other programs on its machine, such as the doctor. It contains no secret. */
export const runningNoteSchema = z.object({
  pid: z.number().int(),
  version: z.string().max(64),
  status: z.string().max(32),
  /** `code` or `code:detail`, as in the published status. */
  reasons: z.array(z.string().max(400)).max(200),
  /** True: connected to the broker; text: why not; null: not known yet. */
  broker: z.union([z.literal(true), z.string().max(2000), z.null()]),
  /** Time of the connection (ms since 1970); null: not connected, or the clock is not set. */
  connectedSince: z.number().nullable(),
  /** Why the configuration cannot be used; null: it can. */
  problem: z.string().max(2000).nullable(),
  /** Fingerprints of the running configuration, by top-level key; empty without a usable configuration. */
  config: z.record(z.string(), z.string().max(64)),
});
export type RunningNote = z.infer<typeof runningNoteSchema>;
