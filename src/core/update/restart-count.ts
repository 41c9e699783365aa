/** Counts the agent's restarts that were not ordered: they count against a version. */

export interface RestartCount {
  /** Restarts that do not count: ordered ones, and those before the first count; null: there was no count yet. */
  readonly expected: number | null;
  /** The process whose ordered end was counted last. */
  readonly excused: number | null;
}

export const NO_RESTARTS: RestartCount = { expected: null, excused: null };

/** Facts from systemd and the agent. */
export interface RestartFacts {
  /** Automatic restarts since the unit was started. */
  readonly restarts: number;
  /** The process that runs; 0: none. */
  readonly pid: number;
  /** The process that an operator's command has ended, or is about to; null: none. */
  readonly asked: number | null;
}

export function countRestarts(
  before: RestartCount,
  { restarts, pid, asked }: RestartFacts,
): { readonly count: RestartCount; readonly unasked: number } {
  // The updater itself was started again: earlier restarts, such as its own switch, do not count.
  if (before.expected === null)
    return { count: { expected: restarts, excused: asked === pid ? null : asked }, unasked: 0 };
  // Fewer than before: a person has started the unit, and the count begins anew. One fewer: systemd still waits to start it.
  let expected = restarts < before.expected - 1 ? 0 : before.expected;
  let { excused } = before;
  if (asked !== null && asked !== excused && asked !== pid) {
    expected += 1;
    excused = asked;
  }
  return { count: { expected, excused }, unasked: Math.max(0, restarts - expected) };
}

/** The updater ends the agent now. Restarts that an operator ordered before no longer count. */
export function expectRestart({ restarts, asked }: RestartFacts): RestartCount {
  return { expected: restarts + 1, excused: asked };
}
