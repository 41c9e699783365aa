/** Commands from the owner's console. Each is a job for one or many devices, kept in the store. */
import * as z from 'zod';
import { selectionSchema } from './console-fleet.ts';
import type { ConsoleRole } from './console-routes.ts';

export const commandRequestSchema = z.strictObject({
  command: z.string().max(64),
  args: z.record(z.string(), z.unknown()).default({}),
  to: selectionSchema,
  /** Validity in seconds: devices that receive the command later do not run it. */
  validS: z.int().min(5).max(3600).default(60),
});
export type ConsoleCommand = z.input<typeof commandRequestSchema>;

/** `waiting`: not sent yet. `silent`: no answer in time. `stopped`: was not sent, because the job was stopped. */
export const JOB_STATES = [
  'waiting',
  'sent',
  'accepted',
  'ok',
  'error',
  'expired',
  'silent',
  'stopped',
] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface Job {
  readonly id: string;
  readonly at: string;
  readonly who: string;
  readonly command: string;
  /** Arguments that may be kept (`keeps` of the command); any other is replaced by its length. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly devices: number;
  readonly counts: Readonly<Record<JobState, number>>;
  /** Null: still running. */
  readonly endedAt: string | null;
  /** The first device; for a job with one device, the whole result. */
  readonly first: JobDevice | null;
}

export interface JobDevice {
  readonly device: string;
  readonly state: JobState;
  /** Code of the error that the device answered, or that kept the backend from sending; null: none. */
  readonly code: string | null;
  /** A sentence for people; null: none. */
  readonly message: string | null;
  /** The answer's data, such as the doctor's report (`diagnosisSchema`); only for jobs with at most 100 devices. */
  readonly data: unknown;
}

export interface JobAnswer {
  readonly job: Job;
}

/** `?state=error&first=0&last=100`: devices by name, of one state or all. */
export interface JobDetail {
  readonly job: Job;
  readonly total: number;
  readonly first: number;
  readonly devices: readonly JobDevice[];
}
export const jobWindowSchema = z.strictObject({
  state: z.enum(JOB_STATES).optional(),
  first: z.coerce.number().int().min(0).max(1_000_000).default(0),
  last: z.coerce.number().int().min(0).max(1_000_000).default(100),
});

/** A JSON schema (draft 2020-12), generated from the schema by which the server and the devices validate. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Registry {
  readonly commands: readonly CommandForm[];
  /** Schema of a desired configuration, without `version`. */
  readonly desired: JsonSchema;
  /** Whether this backend can sign. A command that needs a signature says so in `note`. */
  readonly signs: boolean;
}
export interface CommandForm {
  readonly name: string;
  /** What the command does, in one line. */
  readonly says: string;
  readonly role: Exclude<ConsoleRole, 'viewer'>;
  readonly isReadOnly: boolean;
  readonly args: JsonSchema;
  readonly example: Readonly<Record<string, unknown>>;
  /** A sentence to show beside the form; null: none. */
  readonly note: string | null;
}
