/** Jobs: commands on their way to devices. They are in the store, and another start of the backend goes on with them. */
import { randomUUID } from 'node:crypto';
import type { Signer } from '../../adapters/signing/signer.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import type { Job } from '../../protocol/console-jobs.ts';
import { parseJson } from '../../protocol/json.ts';
import { commandResponseSchema } from '../../protocol/mqtt/command.ts';
import { commandNamed } from '../../protocol/mqtt/commands/registry.ts';
import {
  createJob,
  endIfDone,
  type JobRecord,
  type NewJob,
  noteAnswer,
  noteSent,
  noteSilence,
  refuseDevice,
  shownJob,
  stopJob,
  waitingDevices,
} from '../core/console/job-state.ts';
import type { Complain } from '../limited-warnings.ts';
import { clean, cleanSentence, cleanValue } from './clean.ts';
import { commandText } from './command-message.ts';
import { readJob, textOfJob } from './job-text.ts';

const STEP_MS = 250;
/** Messages on their way at a time: the queue of the connection holds 500. */
const MOST_ON_THE_WAY = 150;
const SAVE_EACH_MS = 1000;
const LEASE_MS = 15_000;
/** A killed backend's jobs stand still for the lease and this time at most. */
const CLAIM_EACH_MS = 5000;
/** Jobs that have ended stay in memory this long. */
const SHOWN_MS = 3_600_000;
const MOST_SHOWN = 50;
const LONGEST_ANSWER = 131_072;

export interface JobParts {
  readonly store: ConsoleStore;
  readonly bus: () => Pick<Bus, 'publish' | 'connected' | 'outbox'>;
  readonly prefix: string;
  readonly signer: Signer | null;
  readonly clock: Clock;
  readonly complain: Complain;
  /** Whether a command that is sent now reaches the device. */
  readonly isConnected: (device: string) => boolean;
  /** Words for a device that does not answer. */
  readonly whySilent: (device: string) => string;
  /** Called once for each job that ends, also after a restart. */
  readonly ended: (job: Job, auditLine: string | null) => void;
}

export interface Jobs {
  /** Writes the job to the store, and begins. @throws StoreDown */
  begin(given: Omit<NewJob, 'id'>): Promise<JobRecord>;
  find(id: string): JobRecord | null;
  /** Sends no further commands. */
  stop(job: JobRecord): void;
  hearAnswer(device: string, payload: string): void;
  recent(): readonly Job[];
  takeChanged(): readonly Job[];
  /** Takes over what an earlier run has left. */
  claim(): Promise<void>;
  close(): Promise<void>;
}

export function createJobs(parts: JobParts): Jobs {
  const { store, clock, prefix, signer } = parts;
  const instance = randomUUID();
  const jobs = new Map<string, JobRecord>();
  const changed = new Set<JobRecord>();
  const unsaved = new Set<JobRecord>();
  let isClosed = false;
  let isBusy = false;
  let savedAt = clock.now();
  let claimedAt = clock.now();
  let onTheWay = 0;
  const wallNow = (): number => clock.wall() ?? 0;

  const touch = (job: JobRecord): void => {
    if (endIfDone(job, wallNow())) parts.ended(shownJob(job), job.auditLine);
    changed.add(job);
    unsaved.add(job);
  };
  const save = async (job: JobRecord): Promise<void> => {
    const { id, at, endedAt } = job;
    const stored = { id, at, endedAt, body: textOfJob(job) };
    const isOurs = await store.saveJob(stored, instance, endedAt === null ? LEASE_MS : -1);
    if (!isOurs) jobs.delete(id);
  };
  const saveAll = async (): Promise<void> => {
    savedAt = clock.now();
    // Jobs that wait for an answer keep their claim, too.
    const open = [...jobs.values()].filter(({ endedAt }) => endedAt === null);
    const due = new Set([...open, ...unsaved]);
    unsaved.clear();
    for (const job of due) {
      try {
        await save(job);
      } catch (error) {
        unsaved.add(job);
        parts.complain('jobs', { why: String(error) }, 'the progress of a job cannot be written');
      }
    }
  };
  /** Without QoS 1, so that the broker stores it neither for a device that is away nor on its disk. */
  const sendIfConnected = async (job: JobRecord, name: string): Promise<void> => {
    if (!parts.isConnected(name)) {
      const message = 'it is not connected, and this command is not kept for it: send it again later';
      return refuseDevice(job, name, 'not_connected', message);
    }
    noteSent(job, name, wallNow());
    const { topic, text, properties } = await messageOf(job, name);
    parts.bus().publish(topic, text, { qos: 0, properties });
  };
  const messageOf = async (job: JobRecord, name: string) => ({
    topic: `${prefix}/${name}/cmd/${job.command}`,
    text: await commandText(job, `${prefix}/${name}`, signer, clock.wall()),
    properties: { expiryS: Math.max(1, Math.ceil((job.notAfter - wallNow()) / 1000)) },
  });
  const sendOne = async (job: JobRecord, name: string): Promise<void> => {
    if (commandNamed(job.command)?.onlyConnected) return sendIfConnected(job, name);
    noteSent(job, name, wallNow());
    const { topic, text, properties } = await messageOf(job, name);
    onTheWay += 1;
    parts.bus().publish(topic, text, {
      qos: 1,
      properties,
      ended(isDelivered) {
        onTheWay -= 1;
        if (isDelivered) return;
        const message =
          'the broker did not take the command: the log of the backend says why; its rights at the broker may be too few';
        refuseDevice(job, name, 'not_sent', message);
        touch(job);
      },
    });
  };
  const step = async (): Promise<void> => {
    for (const job of jobs.values()) {
      if (job.endedAt !== null) continue;
      if (parts.bus().connected) {
        const next = waitingDevices(job, MOST_ON_THE_WAY - onTheWay);
        for (const name of next) await sendOne(job, name);
        if (next.length > 0) touch(job);
      }
      if (noteSilence(job, wallNow(), parts.whySilent)) touch(job);
    }
    if (clock.now() - savedAt >= SAVE_EACH_MS) await saveAll();
    if (clock.now() - claimedAt >= CLAIM_EACH_MS) await claim();
    forget();
  };
  const forget = (): void => {
    const over = [...jobs.values()].filter(({ endedAt }) => endedAt !== null).sort((a, b) => b.at - a.at);
    over.forEach((job, index) => {
      const isOld = wallNow() - (job.endedAt ?? 0) > SHOWN_MS;
      if ((isOld || index >= MOST_SHOWN) && !unsaved.has(job)) jobs.delete(job.id);
    });
  };
  const claim = async (): Promise<void> => {
    claimedAt = clock.now();
    try {
      for (const { id, body } of await store.claimJobs(instance, LEASE_MS)) {
        const read = readJob(body);
        if (read === null || jobs.has(id)) continue;
        resume(read.job, read.isWhole);
      }
    } catch (error) {
      parts.complain('jobs', { why: String(error) }, 'jobs of an earlier run cannot be read');
    }
  };
  /** Devices that got the command give the same answer again, and carry nothing out twice. */
  const resume = (job: JobRecord, isWhole: boolean): void => {
    jobs.set(job.id, job);
    if (!isWhole)
      stopJob(job, 'the backend restarted, and does not keep all arguments of this command: send it again');
    else
      for (const entry of job.devices.values())
        if (entry.state === 'sent' || entry.state === 'accepted') entry.state = 'waiting';
    touch(job);
  };
  let cancel = (): void => {};
  const keepStepping = (): void => {
    cancel = clock.at(clock.now() + STEP_MS, () => {
      if (isClosed) return;
      if (!isBusy) {
        isBusy = true;
        void step()
          .catch((error: unknown) => {
            parts.complain('job step', { why: String(error) }, 'a step of the jobs failed');
          })
          .finally(() => {
            isBusy = false;
          });
      }
      keepStepping();
    });
  };
  keepStepping();

  return {
    async begin(given) {
      const job = createJob({ ...given, id: randomUUID() }, wallNow());
      await save(job);
      jobs.set(job.id, job);
      changed.add(job);
      // Without devices it is done.
      touch(job);
      return job;
    },
    find: (id) => jobs.get(id) ?? null,
    stop(job) {
      stopJob(job, 'the job was stopped before');
      touch(job);
    },
    hearAnswer(device, payload) {
      if (payload.length > LONGEST_ANSWER) return;
      const parsed = commandResponseSchema.safeParse(parseJson(payload));
      const job = parsed.success ? jobs.get(parsed.data.id) : undefined;
      if (!parsed.success || job === undefined) return;
      const { error, note, data, ...rest } = parsed.data;
      const answer = {
        ...rest,
        ...(error && { error: { code: clean(error.code, 60), message: cleanSentence(error.message) } }),
        ...(note !== undefined && { note: cleanSentence(note) }),
        ...(data !== undefined && { data: cleanValue(data) }),
      };
      if (noteAnswer(job, device, answer, wallNow())) touch(job);
    },
    recent: () => [...jobs.values()].sort((one, other) => other.at - one.at).map(shownJob),
    takeChanged() {
      const changedJobs = [...changed].map(shownJob);
      changed.clear();
      return changedJobs;
    },
    claim,
    async close() {
      isClosed = true;
      cancel();
      // The next run goes on at once.
      for (const job of jobs.values()) {
        if (job.endedAt !== null && !unsaved.has(job)) continue;
        const { id, at, endedAt } = job;
        await store.saveJob({ id, at, endedAt, body: textOfJob(job) }, instance, -1).catch(() => {});
      }
    },
  };
}
