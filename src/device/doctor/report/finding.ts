import {
  CHECKS,
  type Diagnosis,
  type Finding,
  VERDICTS,
  type Verdict,
} from '../../../protocol/mqtt/diagnose.ts';

/** Result of a check; the caller knows which check it was. */
export type Outcome = Omit<Finding, 'check' | 'lane'>;
type Figures = Finding['data'];
/** Allows only published names: snake_case, inside lists and objects too. A key with a capital is rejected. */
type Published<T> = T extends readonly (infer E)[]
  ? readonly Published<E>[]
  : T extends object
    ? {
        readonly [K in keyof T]: string extends K
          ? T[K]
          : K extends Lowercase<K & string>
            ? Published<T[K]>
            : never;
      }
    : T;

export function ok<const D extends object>(finding: string, data?: D & Published<D>): Outcome {
  return { verdict: 'ok', finding, fix: null, data: asFigures(data) };
}

/** @param fix one sentence about what to do */
export function warning<const D extends object>(
  finding: string,
  fix: string,
  data?: D & Published<D>,
): Outcome {
  return { verdict: 'warning', finding, fix, data: asFigures(data) };
}

/** @param fix one sentence about what to do */
export function problem<const D extends object>(
  finding: string,
  fix: string,
  data?: D & Published<D>,
): Outcome {
  return { verdict: 'problem', finding, fix, data: asFigures(data) };
}

/** @param why the reason for skipping the check */
export function skipped<const D extends object>(why: string, data?: D & Published<D>): Outcome {
  return { verdict: 'skipped', finding: why, fix: null, data: asFigures(data) };
}

function asFigures(data: object = {}): Figures {
  return { ...data };
}

export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const rank = Math.max(0, ...verdicts.map((verdict) => VERDICTS.indexOf(verdict)));
  return VERDICTS[rank] ?? 'skipped';
}

/**
 * Combines the steps of one check. Only the worst findings are shown, so that a reader need not search for them; the
 * figures are those of all steps.
 */
export function combine(steps: readonly Outcome[]): Outcome {
  const verdict = worstOf(steps.map((step) => step.verdict));
  const worst = steps.filter((step) => step.verdict === verdict);
  const fixes = worst.map(({ fix }) => fix).filter((fix) => fix !== null);
  return {
    verdict,
    finding: worst.map(({ finding }) => finding).join('; '),
    fix: fixes.length === 0 ? null : [...new Set(fixes)].join(' '),
    data: Object.assign({}, ...steps.map(({ data }) => data)),
  };
}

/** All findings as one document, in fixed order. */
export function diagnosisOf(version: string, findings: readonly Finding[]): Diagnosis {
  const inOrder = CHECKS.flatMap((name) => findings.filter(({ check }) => check === name));
  return { version, verdict: worstOf(findings.map(({ verdict }) => verdict)), checks: inOrder };
}

/** A number with its noun: `count(1, 'lane')` is "1 lane", `count(2, 'lane')` is "2 lanes". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
