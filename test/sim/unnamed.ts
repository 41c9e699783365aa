/**
 * Speech in doubt: without ids (case c) or times (case b) the device cannot know which speech the service has spoken.
 * This file bounds the sums of unsaid speech and of speech translated twice per simulated hour.
 */
import type { ServiceCase } from './terms.ts';

interface Bounds {
  readonly unsaid: number;
  readonly twice: number;
}

/** Bounds (s per simulated hour), about twice the measured values: b 0.6 unsaid and 0.1 twice, c 4.2 and 0.7. */
const BOUNDS_S_PER_HOUR: Readonly<Record<ServiceCase, Bounds>> = {
  a: { unsaid: 0, twice: 0 },
  b: { unsaid: 1, twice: 1 },
  c: { unsaid: 8, twice: 2 },
};
/** Allowance for a short run (s): one sentence may be that long. */
const LEAST_S = 20;

/** Sums of all runs of one case. */
export interface UnnamedSums {
  hours: number;
  unsaidS: number;
  twiceS: number;
}

export type UnnamedByCase = Record<ServiceCase, UnnamedSums>;

export function createUnnamedSums(): UnnamedByCase {
  const none = (): UnnamedSums => ({ hours: 0, unsaidS: 0, twiceS: 0 });
  return { a: none(), b: none(), c: none() };
}

/** The fields of a run that count. */
interface Run {
  readonly serviceCase: ServiceCase;
  readonly hours: number;
  readonly excusedS: { readonly unnamed: number };
  readonly repeatedS: number;
}

export function addRun(sums: UnnamedByCase, { serviceCase, hours, excusedS, repeatedS }: Run): void {
  const of = sums[serviceCase];
  of.hours += hours;
  of.unsaidS += excusedS.unnamed;
  of.twiceS += repeatedS;
}

/** Describes the sums that exceed their bounds. */
export function tooMuchUnnamed(sums: UnnamedByCase): string[] {
  return (['b', 'c'] as const).flatMap((one) => {
    const { hours, unsaidS, twiceS } = sums[one];
    const most = (perHour: number): number => LEAST_S + perHour * hours;
    const { unsaid, twice } = BOUNDS_S_PER_HOUR[one];
    const show = (what: string, s: number, bound: number): string[] =>
      s <= bound
        ? []
        : [`case ${one}: ${s.toFixed(1)} s ${what} in ${hours.toFixed(1)} h, bound ${bound.toFixed(1)} s`];
    return [...show('unsaid', unsaidS, most(unsaid)), ...show('said twice', twiceS, most(twice))];
  });
}
