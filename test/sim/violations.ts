/** One broken invariant. */
export interface Violation {
  readonly rule: string;
  readonly atMs: number;
  readonly text: string;
}

/** Collects the violations that the oracles find. */
export interface Violations {
  readonly list: readonly Violation[];
  add(rule: string, text: string): void;
  check(rule: string, holds: boolean, text: () => string): void;
}

const MOST_KEPT = 50;

export function createViolations(now: () => number): Violations {
  const list: Violation[] = [];
  const add = (rule: string, text: string): void => {
    if (list.length < MOST_KEPT) list.push({ rule, atMs: Math.round(now()), text });
  };
  return {
    list,
    add,
    check(rule, holds, text) {
      if (!holds) add(rule, text());
    },
  };
}
