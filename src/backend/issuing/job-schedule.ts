/** The jobs of all lanes: which of them wait, which run, and when the next one may begin. */
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { type Job, type NewJob, openJob } from './job.ts';
import { isKnown, type JobQueue, openJobQueue, type Rank } from './job-queue.ts';

const MOST_JOBS = 2000;
/** Longest expected wait that is accepted (ms). A request with a longer one is denied at once. */
const LONGEST_EXPECTED_MS = 10_000;

export class JobSchedule {
  private readonly limits: BackendConfig['limits'];
  private readonly jobs = new Map<number, Job>();
  private readonly jobsByLane = new Map<string, Job>();
  private readonly waiting: JobQueue<Job>;
  /** The jobs that occupy the parallel requests. */
  private readonly running = new Set<Job>();
  private lastNumber = 0;
  /** Time of the ordered wake; Infinity: none. */
  private wakeAt = Number.POSITIVE_INFINITY;

  constructor(limits: BackendConfig['limits']) {
    this.limits = limits;
    this.waiting = openJobQueue(limits.createsPerSecond);
  }

  get size(): number {
    return this.jobs.size;
  }

  job(number: number): Job | undefined {
    return this.jobs.get(number);
  }

  jobOfLane(key: string): Job | undefined {
    return this.jobsByLane.get(key);
  }

  /** Whether a new job of this rank would wait too long. */
  isFull(rank: Rank): boolean {
    return this.waiting.waitMs(rank) > LONGEST_EXPECTED_MS || this.jobs.size >= MOST_JOBS;
  }

  /** Adds a job to the queue. */
  add(wanted: Omit<NewJob, 'number'>, now: number): void {
    this.lastNumber += 1;
    const job = openJob({ number: this.lastNumber, ...wanted }, now);
    this.jobs.set(job.number, job);
    this.jobsByLane.set(job.key, job);
    this.waiting.add(job);
  }

  /** Suspends the job until `resume`; meanwhile it occupies none of the parallel requests. */
  hold(job: Job): void {
    this.running.delete(job);
  }

  resume(job: Job): void {
    this.waiting.add(job);
  }

  end(job: Job): void {
    this.running.delete(job);
    this.forget(job);
  }

  /** Ends the waiting jobs that must not wait any longer, and returns them. */
  dropWaiting(isOver: (job: Job) => boolean): Job[] {
    const over = this.waiting.drop(isOver);
    for (const job of over) this.forget(job);
    return over;
  }

  /**
   * Begins waiting jobs within the limits on parallel requests and on sessions a second.
   * @returns also the wait until `woken` (ms); null if no further wake is needed
   */
  begin(now: number): { begun: Job[]; wakeAfterMs: number | null } {
    const begun: Job[] = [];
    while (this.running.size < this.limits.concurrency) {
      const mayBeUnknown = this.hasPlaceForUnknown();
      if (!this.waiting.has(mayBeUnknown)) break;
      const waitMs = this.waiting.spendCreate(now);
      if (waitMs > 0) return { begun, wakeAfterMs: this.orderWake(now, waitMs) };
      const job = this.waiting.take(mayBeUnknown);
      if (job === undefined) break;
      this.running.add(job);
      begun.push(job);
    }
    return { begun, wakeAfterMs: null };
  }

  /** The time of the wake has come. */
  woken(): void {
    this.wakeAt = Number.POSITIVE_INFINITY;
  }

  /** Unknown devices get at most half of the parallel requests to the service. */
  private hasPlaceForUnknown(): boolean {
    const unknown = [...this.running].filter(({ rank }) => !isKnown(rank));
    return unknown.length < Math.ceil(this.limits.concurrency / 2);
  }

  private orderWake(now: number, afterMs: number): number | null {
    if (this.wakeAt <= now + afterMs && this.wakeAt > now) return null;
    this.wakeAt = now + afterMs;
    return afterMs;
  }

  private forget(job: Job): void {
    this.jobs.delete(job.number);
    this.jobsByLane.delete(job.key);
  }
}
