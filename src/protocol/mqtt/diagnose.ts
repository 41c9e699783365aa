import * as z from 'zod';

/** The checks of the doctor, in the order of its report. */
export const CHECKS = [
  'configuration',
  'agent',
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

/** Verdicts from harmless to harmful. `skipped`: not checked; the finding gives the reason. */
export const VERDICTS = ['skipped', 'ok', 'warning', 'problem'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One line of a diagnosis. */
export const findingSchema = z.object({
  check: checkNameSchema.describe('name of the check'),
  lane: z.string().nullable().describe('lane; null: the whole device'),
  verdict: z.enum(VERDICTS).describe('from harmless to harmful; `skipped`: not checked'),
  finding: z.string().describe('result, a sentence for people'),
  fix: z.string().nullable().describe('how to fix it; null: no action needed'),
  data: z.record(z.string(), z.unknown()).describe('the result as values; names contain the units'),
});
export type Finding = z.infer<typeof findingSchema>;

/** The answer of the command `diagnose`, and the value of "doctor" in the output of `dragoman doctor --json`. */
export const diagnosisSchema = z.object({
  version: z.string().describe("the agent's version"),
  verdict: z.enum(VERDICTS).describe('the worst verdict'),
  checks: z.array(findingSchema).describe('all findings'),
});
export type Diagnosis = z.infer<typeof diagnosisSchema>;
