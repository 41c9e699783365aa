/** Jobs: commands on their way to devices. They are in the store, so they continue after a restart. */
import { randomUUID } from 'node:crypto';
import type { Complain } from '../../machine/limited-warnings.ts';
import { repeat } from '../../machine/repeat.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import { parseJson } from '../../protocol/common/json.ts';
import type { Job } from '../../protocol/console-jobs.ts';
import { type CommandResponse, commandResponseSchema } from '../../protocol/mqtt/command.ts';
import { clean, cleanSentence, cleanValue } from '../fleet/clean.ts';
import { CommandSender, type CommandSenderParts } from './command-sender.ts';
import { HeldJobs } from './held-jobs.ts';
import {
  createJob,
  endIfDone,
  type JobRecord,
  type NewJob,
  noteAnswer,
  noteSilence,
  sendAgain,
  shownJob,
  stopJob,
} from './job-state.ts';

const STEP_MS = 250;
const LONGEST_ANSWER = 131_072;

export interface JobParts extends Omit<CommandSenderParts, 'refused'> {
  readonly store: ConsoleStore;
  readonly complain: Complain;
  /** The reason to show for a device that does not answer. */
  readonly whySilent: (device: string) => string;
  /** Called once for each job that ends, also after a restart. */
  readonly ended: (job: Job, auditLine: string | null) => void;
}

export class Jobs {
  private readonly parts: JobParts;
  private readonly held: HeldJobs;
  private readonly sender: CommandSender;
  /** Jobs changed since the pages were last updated. */
  private readonly changed = new Set<JobRecord>();
  private readonly stopSteps: () => void;
  /** The running step; null: none. */
  private stepping: Promise<void> | null = null;
  /** The leases are released: another backend, or the next run, owns the jobs. */
  private isReleased = false;

  constructor(parts: JobParts) {
    const { store, bus, prefix, signer, clock, isConnected, complain } = parts;
    this.parts = parts;
    this.held = new HeldJobs(store, clock, complain);
    const refused = (job: JobRecord): void => this.touch(job);
    this.sender = new CommandSender({ bus, prefix, signer, clock, isConnected, refused });
    this.stopSteps = repeat(clock, STEP_MS, () => this.stepUnlessBusy());
  }

  /** Writes the job to the store, and begins. @throws StoreDown */
  async begin(given: Omit<NewJob, 'id'>): Promise<JobRecord> {
    const job = createJob({ ...given, id: randomUUID() }, this.wall());
    await this.held.add(job);
    // A job without devices ends at once.
    this.touch(job);
    return job;
  }

  find(id: string): JobRecord | null {
    return this.held.find(id) ?? null;
  }

  /** Sends no further commands. */
  stop(job: JobRecord): void {
    stopJob(job, 'the job was stopped before the command was sent');
    this.touch(job);
  }

  hearAnswer(device: string, payload: string): void {
    const answer = readAnswer(payload);
    const job = answer === null ? undefined : this.held.find(answer.id);
    if (answer === null || job === undefined) return;
    if (noteAnswer(job, device, cleanAnswer(answer), this.wall())) this.touch(job);
  }

  recent(): readonly Job[] {
    return [...this.held.all()].sort((one, other) => other.at - one.at).map(shownJob);
  }

  takeChanged(): readonly Job[] {
    const changedJobs = [...this.changed].map(shownJob);
    this.changed.clear();
    return changedJobs;
  }

  /** The next step takes over jobs that an earlier run left. */
  claim(): void {
    this.held.claimSoon();
  }

  async close(): Promise<void> {
    this.stopSteps();
    // A running step may still renew leases.
    await this.stepping;
    this.isReleased = true;
    await this.held.release();
  }

  private stepUnlessBusy(): void {
    this.stepping ??= this.step()
      .catch((error: unknown) => {
        this.parts.complain('job step', { why: String(error) }, 'a step of the jobs failed');
      })
      .finally(() => {
        this.stepping = null;
      });
  }

  private async step(): Promise<void> {
    for (const job of this.held.all()) {
      if (job.endedAt !== null) continue;
      if (await this.sender.sendWaiting(job)) this.touch(job);
      if (noteSilence(job, this.wall(), this.parts.whySilent)) this.touch(job);
    }
    await this.held.saveIfDue();
    await this.held.claimIfDue(this.resume);
    this.held.forgetOld();
  }

  private readonly resume = (job: JobRecord, isWhole: boolean): void => {
    if (isWhole) sendAgain(job);
    else
      stopJob(job, 'the backend restarted, and does not keep all arguments of this command: send it again');
    this.touch(job);
  };

  /** Call it after each change of a job. */
  private touch(job: JobRecord): void {
    // Answers may still arrive. The job's next owner asks the devices again, and writes the result.
    if (this.isReleased) return;
    if (endIfDone(job, this.wall())) this.parts.ended(shownJob(job), job.auditLine);
    this.changed.add(job);
    this.held.touch(job);
  }

  private wall(): number {
    return this.parts.clock.wall() ?? 0;
  }
}

function readAnswer(payload: string): CommandResponse | null {
  if (payload.length > LONGEST_ANSWER) return null;
  const parsed = commandResponseSchema.safeParse(parseJson(payload));
  return parsed.success ? parsed.data : null;
}

function cleanAnswer({ error, note, data, ...rest }: CommandResponse): CommandResponse {
  return {
    ...rest,
    ...(error && { error: { code: clean(error.code, 60), message: cleanSentence(error.message) } }),
    ...(note !== undefined && { note: cleanSentence(note) }),
    ...(data !== undefined && { data: cleanValue(data) }),
  };
}
