import { keyOf } from '../command-flood.ts';
import type { AfterCut, PowerCut, Report } from './report.ts';

export interface CutOutcome {
  readonly sent: number;
  /** Number of commands that were answered before the cut. */
  readonly answered: number;
  /** Answered commands that the next start had forgotten. */
  readonly forgotten: readonly string[];
  /** Number of commands that the disk had as begun: the agent reports them as interrupted and does not repeat them. */
  readonly interrupted: number;
  readonly after: Omit<AfterCut, 'remembered'>;
}

/** Outcome of each cut, from the start after it. */
export function outcomesOfCuts(reports: readonly Report[]): CutOutcome[] {
  const cuts = reports.filter((report): report is PowerCut => report.kind === 'cut');
  const starts = reports.filter((report): report is AfterCut => report.kind === 'survived');
  return starts.map(({ remembered, ...after }, place) => {
    const { sent = [], answered = [] } = cuts[place] ?? {};
    const known = new Map(remembered);
    return {
      sent: sent.length,
      answered: answered.length,
      after,
      forgotten: answered.filter((id) => known.get(keyOf(id)) !== 'ok'),
      interrupted: sent.filter((id) => known.get(keyOf(id)) === 'error').length,
    };
  });
}

export function cutsInWords(outcomes: readonly CutOutcome[]): string {
  const sum = (key: 'sent' | 'answered' | 'interrupted') =>
    outcomes.reduce((total, one) => total + one[key], 0);
  const times = outcomes.map(({ after }) => after.liveS).sort((a, b) => a - b);
  return (
    `${outcomes.length} cuts, ${sum('sent')} commands: ${sum('answered')} had been answered, ${sum('interrupted')} were interrupted; ` +
    `live after ${times[times.length >> 1]?.toFixed(1)} s (median), ${times.at(-1)?.toFixed(1)} s at most`
  );
}
