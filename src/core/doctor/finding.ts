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
/** Published names are snake_case, inside of lists and objects too: a key with a capital is none. */
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

/** @param fix what to do about it, a sentence */
export function warning<const D extends object>(
  finding: string,
  fix: string,
  data?: D & Published<D>,
): Outcome {
  return { verdict: 'warning', finding, fix, data: asFigures(data) };
}

/** @param fix what to do about it, a sentence */
export function problem<const D extends object>(
  finding: string,
  fix: string,
  data?: D & Published<D>,
): Outcome {
  return { verdict: 'problem', finding, fix, data: asFigures(data) };
}

/** @param why what kept it from being looked at */
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
