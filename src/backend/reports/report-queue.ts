/** The queue of reports that wait for the store. */

import type { Complain } from '../../machine/limited-warnings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { type ReportOutcome, StoreDown, StoreRefused } from '../../ports/store.ts';
import type { ReportKind } from '../../protocol/mqtt/topics.ts';
import { complainOfStore } from '../store/store-complaint.ts';
import type { OddReports } from './odd-reports.ts';

/** Interval of retries while the store is down (ms). */
const AGAIN_MS = 2000;

export interface WaitingReport {
  readonly device: string;
  readonly kind: ReportKind;
  /** The report came with a token request: the broker has no copy, but the device repeats it. */
  readonly isRepeated: boolean;
  readonly write: () => Promise<ReportOutcome>;
  readonly acknowledge: () => void;
}

export interface ReportQueueParts {
  readonly odd: OddReports;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
}

/** Writes reports one after the other, so that they use at most one connection of the store. */
export class ReportQueue {
  private readonly parts: ReportQueueParts;
  private readonly waiting: WaitingReport[] = [];
  private writing: Promise<void> | null = null;
  private isClosing = false;
  private endWait = (): void => {};

  constructor(parts: ReportQueueParts) {
    this.parts = parts;
  }

  get length(): number {
    return this.waiting.length;
  }

  add(report: WaitingReport): void {
    this.waiting.push(report);
    this.writing ??= this.writeAll().finally(() => {
      this.writing = null;
    });
  }

  /** Writes what waits, unless the store is down. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.endWait();
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      if (await this.write(next)) {
        next.acknowledge();
        this.waiting.shift();
      } else if (next.isRepeated) {
        this.waiting.shift();
      } else {
        // The broker still has the report.
        if (this.isClosing) return;
        await this.wait();
      }
    }
  }

  /** @returns false: the store is down, and may take the report later */
  private async write({ device, kind, write }: WaitingReport): Promise<boolean> {
    const { odd, log, complain } = this.parts;
    try {
      if ((await write()) === 'implausible') odd.add(device, kind, 'it is implausible');
    } catch (error) {
      complainOfStore(error, complain, log);
      if (error instanceof StoreDown || error instanceof StoreRefused) return false;
      // A retry would fail again, and block all other reports.
      odd.add(device, kind, 'the store rejected it');
    }
    return true;
  }

  private wait(): Promise<void> {
    const { clock } = this.parts;
    return new Promise((resolve) => {
      const cancel = clock.at(clock.now() + AGAIN_MS, resolve);
      this.endWait = () => {
        cancel();
        resolve();
      };
    });
  }
}
