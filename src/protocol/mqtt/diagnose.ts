import { z } from 'zod';

/** What the doctor looks at, in the order in which it tells. */
export const CHECKS = [
  'configuration',
  'broker',
  'isolation',
  'backend',
  'stream',
  'clock',
  'capture',
  'playback',
  'mixer',
  'permissions',
  'disk',
  'memory',
  'service',
  'power',
  'temperature',
] as const;
export const checkNameSchema = z.enum(CHECKS);
export type CheckName = z.infer<typeof checkNameSchema>;

/** From harmless to harmful. `skipped`: could not or need not be looked at; the finding says why. */
export const VERDICTS = ['skipped', 'ok', 'warning', 'problem'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One line of a diagnosis. */
export const findingSchema = z.object({
  check: checkNameSchema.describe('what was looked at'),
  lane: z.string().nullable().describe('the lane it is about; null: the whole device'),
  verdict: z
    .enum(VERDICTS)
    .describe('from harmless to harmful; `skipped`: could not or need not be looked at'),
  finding: z.string().describe('what was found, a sentence for people'),
  fix: z.string().nullable().describe('what to do about it; null: nothing'),
  data: z.record(z.string(), z.unknown()).describe('the same in figures; units are in the names'),
});
export type Finding = z.infer<typeof findingSchema>;

/** The answer of the command `diagnose`, and what `dragoman doctor --json` prints under "doctor". */
export const diagnosisSchema = z.object({
  version: z.string().describe("the agent's version"),
  verdict: z.enum(VERDICTS).describe('the worst verdict of all'),
  checks: z.array(findingSchema).describe('each finding'),
});
export type Diagnosis = z.infer<typeof diagnosisSchema>;
