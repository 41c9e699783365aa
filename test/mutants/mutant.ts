/** A fault that a tired engineer could make, for `npm run mutate -- --hand-made`. */
export interface Mutant {
  /** From the root of the repository. */
  readonly file: string;
  /** Text that stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** What a visitor, an operator or an owner would notice. */
  readonly seen: string;
}
