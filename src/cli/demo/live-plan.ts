/** The parts of a picture that fit its height, and their heights. */
export interface Plan {
  /** Height of the captions (rows). */
  readonly captions: number;
  readonly notices: number;
  readonly hasMeters: boolean;
  readonly hasLatencies: boolean;
  readonly hasAccounts: boolean;
  /** Blank rows between the parts at the top. */
  readonly isAiry: boolean;
}

/** Rows that are always there: title, phases, explanation and the heading of the captions. */
const HEAD_ROWS = 4;
const MOST_CAPTION_ROWS = 12;
const LEAST_CAPTION_ROWS = 3;

/** Removes parts, the least important first, until the rest fits. */
export function planRows(rows: number): Plan {
  const full: Plan = {
    captions: MOST_CAPTION_ROWS,
    notices: 4,
    hasMeters: true,
    hasLatencies: true,
    hasAccounts: true,
    isAiry: true,
  };
  const narrower: readonly Partial<Plan>[] = [
    {},
    { isAiry: false },
    { notices: 2 },
    { hasAccounts: false },
    { hasLatencies: false },
    { notices: 0 },
    { hasMeters: false },
  ];
  let plan = full;
  for (const [step, less] of narrower.entries()) {
    plan = { ...plan, ...less };
    const room = rows - heightWithoutCaptions(plan);
    // A third exchange is more important than blank rows.
    const least = step === 0 ? 2 * LEAST_CAPTION_ROWS + 2 : LEAST_CAPTION_ROWS;
    if (room >= least) return { ...plan, captions: Math.min(MOST_CAPTION_ROWS, room) };
  }
  return { ...plan, captions: Math.max(0, rows - heightWithoutCaptions(plan)) };
}

function heightWithoutCaptions(plan: Plan): number {
  return (
    HEAD_ROWS +
    (plan.isAiry ? 2 : 0) +
    (plan.hasMeters ? 2 : 0) +
    (plan.hasLatencies ? 3 : 0) +
    (plan.hasAccounts ? 2 : 0) +
    (plan.notices > 0 ? plan.notices + 1 : 0)
  );
}
