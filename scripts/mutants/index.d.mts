/** A known way to break the core. */
export interface Mutant {
  readonly name: string;
  /** Below src/core. */
  readonly file: string;
  /** Occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Those that have to notice, below test/core. */
  readonly tests: readonly string[];
}

export const MUTANTS: readonly Mutant[];
