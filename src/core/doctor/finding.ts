import {
  CHECKS,
  type Diagnosis,
  type Finding,
  VERDICTS,
  type Verdict,
} from '../../protocol/mqtt/diagnose.ts';

/** What a check came to; which check it was is known to whoever ran it. */
export type Outcome = Omit<Finding, 'check' | 'lane'>;
type Figures = Finding['data'];

export function ok(finding: string, data: Figures = {}): Outcome {
  return { verdict: 'ok', finding, fix: null, data };
}

/** @param fix what to do about it, a sentence */
export function warning(finding: string, fix: string, data: Figures = {}): Outcome {
  return { verdict: 'warning', finding, fix, data };
}

/** @param fix what to do about it, a sentence */
export function problem(finding: string, fix: string, data: Figures = {}): Outcome {
  return { verdict: 'problem', finding, fix, data };
}

/** @param why what kept it from being looked at */
export function skipped(why: string, data: Figures = {}): Outcome {
  return { verdict: 'skipped', finding: why, fix: null, data };
}

export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const rank = Math.max(0, ...verdicts.map((verdict) => VERDICTS.indexOf(verdict)));
  return VERDICTS[rank] ?? 'skipped';
}

/**
 * The steps of one check as one outcome: what is worst is told alone, so that nobody has to look for it between what is
 * well; figures are those of all steps.
 */
export function combine(steps: readonly Outcome[]): Outcome {
  const verdict = worstOf(steps.map((step) => step.verdict));
  const told = steps.filter((step) => step.verdict === verdict);
  const fixes = told.map(({ fix }) => fix).filter((fix) => fix !== null);
  return {
    verdict,
    finding: told.map(({ finding }) => finding).join('; '),
    fix: fixes.length === 0 ? null : fixes.join(' '),
    data: Object.assign({}, ...steps.map(({ data }) => data)),
  };
}

/** All findings as one document, in the fixed order. */
export function diagnosisOf(version: string, findings: readonly Finding[]): Diagnosis {
  const inOrder = CHECKS.flatMap((name) => findings.filter(({ check }) => check === name));
  return { version, verdict: worstOf(findings.map(({ verdict }) => verdict)), checks: inOrder };
}

/** One, or two and more: `count(1, 'lane')` is "1 lane". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
