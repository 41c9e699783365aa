/** A job as text for the store, and back. */
import * as z from 'zod';
import { parseJson } from '../../protocol/common/json.ts';
import { JOB_STATES } from '../../protocol/console-jobs.ts';
import type { JobRecord } from './job-state.ts';

const entrySchema = z.object({
  state: z.enum(JOB_STATES),
  code: z.string().nullable(),
  message: z.string().nullable(),
  data: z.unknown().optional(),
  at: z.number(),
});
const recordSchema = z.object({
  id: z.string(),
  at: z.number(),
  who: z.string(),
  command: z.string(),
  args: z.record(z.string(), z.unknown()),
  /** False: some of the arguments are not kept. */
  isWhole: z.boolean(),
  validMs: z.number(),
  notAfter: z.number(),
  endedAt: z.number().nullable(),
  auditLine: z.string().nullable().default(null),
  devices: z.array(z.tuple([z.string(), entrySchema])),
});

export function textOfJob({ args, shownArgs, devices, ...rest }: JobRecord): string {
  return JSON.stringify({ ...rest, args: shownArgs, isWhole: args === shownArgs, devices: [...devices] });
}

/** Null: cannot be read, because another version wrote it. */
export function readJob(text: string): { job: JobRecord; isWhole: boolean } | null {
  const parsed = recordSchema.safeParse(parseJson(text));
  if (!parsed.success) return null;
  const { isWhole, devices, args, ...rest } = parsed.data;
  return { isWhole, job: { ...rest, args, shownArgs: args, devices: new Map(devices) } };
}
