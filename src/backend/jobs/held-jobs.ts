/** The jobs that this backend works on: in memory, and in the store under a lease that it renews. */
import { randomUUID } from 'node:crypto';
import type { Complain } from '../../machine/limited-warnings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import type { JobRecord } from './job-state.ts';
import { readJob, textOfJob } from './job-text.ts';

const SAVE_EACH_MS = 1000;
const LEASE_MS = 15_000;
/** An expired lease: another backend may take the job at once. */
const NO_LEASE_MS = -1;
/** Interval of claims (ms): jobs of a killed backend pause for at most their lease plus this interval. */
const CLAIM_EACH_MS = 5000;
/** Jobs that have ended stay in memory this long. */
const SHOWN_MS = 3_600_000;
const MOST_SHOWN = 50;

export class HeldJobs {
  private readonly store: Pick<ConsoleStore, 'saveJob' | 'claimJobs'>;
  private readonly clock: Clock;
  private readonly complain: Complain;
  private readonly instance = randomUUID();
  private readonly jobs = new Map<string, JobRecord>();
  /** Jobs changed since the last save. */
  private readonly unsaved = new Set<JobRecord>();
  private savedAt: number;
  private claimedAt: number;

  constructor(store: Pick<ConsoleStore, 'saveJob' | 'claimJobs'>, clock: Clock, complain: Complain) {
    this.store = store;
    this.clock = clock;
    this.complain = complain;
    this.savedAt = clock.now();
    this.claimedAt = clock.now();
  }

  find(id: string): JobRecord | undefined {
    return this.jobs.get(id);
  }

  all(): Iterable<JobRecord> {
    return this.jobs.values();
  }

  /** A new job. @throws StoreDown */
  async add(job: JobRecord): Promise<void> {
    await this.save(job);
    this.jobs.set(job.id, job);
  }

  /** Marks the job as changed, to be saved. */
  touch(job: JobRecord): void {
    this.unsaved.add(job);
  }

  async saveIfDue(): Promise<void> {
    if (this.clock.now() - this.savedAt < SAVE_EACH_MS) return;
    this.savedAt = this.clock.now();
    // Saves jobs that wait for an answer, too, which renews their lease.
    const open = [...this.jobs.values()].filter(({ endedAt }) => endedAt === null);
    const due = new Set([...open, ...this.unsaved]);
    this.unsaved.clear();
    for (const job of due) {
      try {
        await this.save(job);
      } catch (error) {
        this.unsaved.add(job);
        this.complain('jobs', { why: String(error) }, 'the progress of a job cannot be written');
      }
    }
  }

  /** Makes a claim due now, however recent the last one. */
  claimSoon(): void {
    this.claimedAt = Number.NEGATIVE_INFINITY;
  }

  async claimIfDue(taken: (job: JobRecord, isWhole: boolean) => void): Promise<void> {
    if (this.clock.now() - this.claimedAt >= CLAIM_EACH_MS) await this.claim(taken);
  }

  /**
   * Takes over the jobs of backends that have ended.
   * @param taken called for each of them; `isWhole`: all of its arguments are known
   */
  private async claim(taken: (job: JobRecord, isWhole: boolean) => void): Promise<void> {
    this.claimedAt = this.clock.now();
    try {
      for (const { id, body } of await this.store.claimJobs(this.instance, LEASE_MS)) {
        const read = readJob(body);
        if (read === null || this.jobs.has(id)) continue;
        this.jobs.set(id, read.job);
        taken(read.job, read.isWhole);
      }
    } catch (error) {
      this.complain('jobs', { why: String(error) }, 'jobs of an earlier run cannot be read');
    }
  }

  /** Forgets jobs that ended long ago, and ended jobs beyond the newest `MOST_SHOWN`. */
  forgetOld(): void {
    const over = [...this.jobs.values()]
      .filter(({ endedAt }) => endedAt !== null)
      .sort((a, b) => b.at - a.at);
    const wall = this.clock.wall() ?? 0;
    over.forEach((job, index) => {
      const isOld = wall - (job.endedAt ?? 0) > SHOWN_MS;
      if ((isOld || index >= MOST_SHOWN) && !this.unsaved.has(job)) this.jobs.delete(job.id);
    });
  }

  /** Ends the leases, so that another backend, or the next run, can continue at once. */
  async release(): Promise<void> {
    for (const job of this.jobs.values())
      if (job.endedAt === null || this.unsaved.has(job)) await this.write(job, NO_LEASE_MS).catch(() => {});
  }

  /** Saves the job, or forgets it if another backend has taken it over. */
  private async save(job: JobRecord): Promise<void> {
    const isOurs = await this.write(job, job.endedAt === null ? LEASE_MS : NO_LEASE_MS);
    if (!isOurs) this.jobs.delete(job.id);
  }

  private write(job: JobRecord, leaseMs: number): Promise<boolean> {
    const { id, at, endedAt } = job;
    return this.store.saveJob({ id, at, endedAt, body: textOfJob(job) }, this.instance, leaseMs);
  }
}
