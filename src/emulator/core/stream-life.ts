import type { StreamReport } from './stream-report.ts';

/** The phase of a stream, with the time of its end where it is known. Times are monotonic milliseconds. */
export type Phase =
  | { readonly kind: 'idle' | 'running' | 'paused' | 'closed' }
  /** The pipeline is being set up. */
  | { readonly kind: 'starting'; readonly readyAt: number }
  /** After end_task: what was said is still translated, at most until `eosBy`. */
  | { readonly kind: 'ending'; readonly eosBy: number }
  | { readonly kind: 'closing'; readonly at: number; readonly code: number; readonly reason: string };

/** The phase of a stream and the time billed for it, which the stream's report shows. */
export class StreamLife {
  private readonly report: StreamReport;
  private readonly openedAt: number;
  private current: Phase = { kind: 'idle' };
  private billedMs = 0;
  private billedUntil: number;

  constructor(report: StreamReport, openedAt: number) {
    this.report = report;
    this.openedAt = openedAt;
    this.billedUntil = openedAt;
  }

  get phase(): Phase {
    return this.current;
  }

  /** Whether the stream is closing or closed, so that messages no longer count. */
  get isOver(): boolean {
    const { kind } = this.current;
    return kind === 'closing' || kind === 'closed';
  }

  enter(phase: Phase, now: number): void {
    this.bill(now);
    this.current = phase;
    this.report.phase = phase.kind;
  }

  /** Bills the time until now. Time in a pause costs nothing. */
  bill(now: number): void {
    if (this.current.kind !== 'paused') this.billedMs += now - this.billedUntil;
    this.billedUntil = now;
    this.report.billed_ms = Math.round(this.billedMs);
    this.report.open_ms = Math.round(now - this.openedAt);
  }
}
