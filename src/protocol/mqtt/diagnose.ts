import { z } from 'zod';

/** What the doctor looks at, in the order in which it tells. */
export const CHECKS = [
  'configuration',
  'broker',
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
  check: checkNameSchema,
  /** The lane it is about; null where it is about the whole device. */
  lane: z.string().nullable(),
  verdict: z.enum(VERDICTS),
  /** What was found, a sentence for people. */
  finding: z.string(),
  /** What to do about it; null where there is nothing to do. */
  mend: z.string().nullable(),
  /** The same in figures; units are in the names. */
  data: z.record(z.string(), z.unknown()),
});
export type Finding = z.infer<typeof findingSchema>;

/** The answer of the command `diagnose`, and what `dragoman doctor --json` prints under "doctor". */
export const diagnosisSchema = z.object({
  version: z.string(),
  /** The worst verdict of all. */
  verdict: z.enum(VERDICTS),
  checks: z.array(findingSchema),
});
export type Diagnosis = z.infer<typeof diagnosisSchema>;
