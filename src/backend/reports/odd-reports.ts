import type { Complain } from '../../machine/limited-warnings.ts';
import { PendingWork } from '../../machine/pending-work.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import type { ReportKind } from '../../protocol/mqtt/topics.ts';
import { complainOfStore } from '../store/store-complaint.ts';

const MOST_DEVICES = 20_000;
/** Interval between two writes of the counts (ms). */
const COUNTED_EACH_MS = 5000;

export interface OddReportsParts {
  readonly store: Pick<Store, 'addImplausible'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
}

/** Counts reports that are not written, for each device, and logs them: once a minute and device. */
export class OddReports {
  private readonly parts: OddReportsParts;
  private counts = new Map<string, number>();
  /** Cancels the next write; null: none is planned. */
  private cancelWrite: (() => void) | null = null;
  private readonly writing = new PendingWork();
  private isClosing = false;

  constructor(parts: OddReportsParts) {
    this.parts = parts;
  }

  /** @param why the reason for the log */
  add(device: string, kind: ReportKind, why: string): void {
    const sentence = 'a report of a device was counted and not written';
    this.parts.complain(`report ${device}`, { device, kind, why }, sentence);
    this.count(device, 1);
  }

  /** Writes the numbers, unless the store is down. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.cancelWrite?.();
    await this.writing.idle();
    await this.write();
  }

  private count(device: string, more: number): void {
    const { clock } = this.parts;
    if (this.counts.size < MOST_DEVICES || this.counts.has(device))
      this.counts.set(device, (this.counts.get(device) ?? 0) + more);
    // A later write would find the store closed.
    if (this.isClosing) return;
    this.cancelWrite ??= clock.at(clock.now() + COUNTED_EACH_MS, () => this.writing.add(this.write()));
  }

  private async write(): Promise<void> {
    const { store, complain, log } = this.parts;
    this.cancelWrite = null;
    const due = this.counts;
    this.counts = new Map();
    if (due.size === 0) return;
    try {
      await store.addImplausible(due);
    } catch (error) {
      complainOfStore(error, complain, log);
      for (const [device, count] of due) this.count(device, count);
    }
  }
}
