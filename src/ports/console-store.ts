/**
 * What the owner's console keeps: people, their sessions, the audit, jobs, and figures of conversations. Passwords and cookies are
 * stored only as hashes. All times are milliseconds since 1970 by the clock of the store.
 * Every operation throws `StoreDown` or `StoreRefused` if it fails, and then has changed nothing.
 */
import type { ConsoleRole } from '../protocol/console-routes.ts';
import type { ReportOutcome } from './store.ts';

/** Attempts to sign in with one name. */
export interface StoredAttempts {
  /** Time of the first attempt. */
  readonly since: number;
  readonly count: number;
}

export interface StoredPerson {
  readonly name: string;
  readonly role: ConsoleRole;
  readonly passwordHash: string;
  readonly since: number;
  readonly seenAt: number | null;
  /** Null: no attempt since the person last signed in. */
  readonly attempts: StoredAttempts | null;
}

/** The attempts including this one. `waitMs`: this attempt is refused and not counted. */
export type AttemptDecision =
  | { readonly attempts: StoredAttempts; readonly waitMs: 0 }
  | { readonly attempts: null; readonly waitMs: number };
/** Decides on one attempt. Pure. */
export type DecideAttempt = (known: StoredAttempts | null, now: number) => AttemptDecision;

/** A person who is signed in. */
export interface SignedIn {
  readonly name: string;
  readonly role: ConsoleRole;
  readonly endsAt: number;
}

/** `last`: the change would leave the console without an administrator. */
export type PersonOutcome = 'done' | 'unknown' | 'last';

export interface AuditEntry {
  readonly who: string;
  readonly from: string;
  readonly what: string;
  readonly on: string | null;
  /** JSON of the arguments. */
  readonly args: string;
}
export interface StoredAudit extends AuditEntry {
  readonly id: string;
  readonly at: number;
  readonly result: { readonly at: number; readonly ok: boolean; readonly text: string } | null;
}
export interface AuditFilter {
  readonly who?: string | undefined;
  /** Beginning of the action's name. */
  readonly what?: string | undefined;
  readonly on?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly before?: string | undefined;
}

/** A job as JSON, with the fields needed to find it. */
export interface StoredJob {
  readonly id: string;
  readonly at: number;
  readonly endedAt: number | null;
  readonly body: string;
}

export interface StoredConversation {
  /** Unique, so that a conversation is written only once. */
  readonly id: string;
  readonly device: string;
  readonly durationS: number;
  readonly sentences: number;
  readonly delayMs: number | null;
  readonly billedS: number;
  readonly languages: readonly string[];
}
/** Sums of conversations that have the same key. */
export interface ConversationSum {
  /** Number of the day since 1970, name of the device, or languages separated by commas. */
  readonly key: string;
  readonly conversations: number;
  readonly durationS: number;
  readonly sentences: number;
  readonly billedS: number;
  /** Sum and number of the measured delays. */
  readonly delayMs: number;
  readonly delays: number;
}

export interface ConsoleStore {
  open(): Promise<void>;
  people(): Promise<StoredPerson[]>;
  person(name: string): Promise<StoredPerson | null>;
  /**
   * Decides on an attempt to sign in with a name, serialised over all instances. Attempts are counted on the row
   * found, because a database may find one row under several spellings.
   * @returns the person, or null if there is none, and how long a refused attempt must wait
   */
  attempt(
    name: string,
    decide: DecideAttempt,
  ): Promise<{ readonly person: StoredPerson | null; readonly waitMs: number }>;
  /** Forgets the attempts with a name. */
  clearAttempts(name: string): Promise<void>;
  /** False: the name is taken. */
  addPerson(person: Pick<StoredPerson, 'name' | 'role' | 'passwordHash'>): Promise<boolean>;
  /** Ends all sessions of the person except `keep`. A new password also clears the person's attempts. */
  changePerson(
    name: string,
    change: { readonly role?: ConsoleRole | undefined; readonly passwordHash?: string | undefined },
    keep?: string,
  ): Promise<PersonOutcome>;
  /** Ends the person's sessions. */
  removePerson(name: string): Promise<PersonOutcome>;

  /** @param key hash of the cookie's value. Null: the person no longer exists, or the password has changed meanwhile. */
  openSession(
    key: string,
    person: Pick<StoredPerson, 'name' | 'passwordHash'>,
    longestMs: number,
  ): Promise<SignedIn | null>;
  /**
   * Null: the session has ended.
   * @param isUse whether this counts as activity, so that the session is not idle
   */
  useSession(key: string, idleMs: number, isUse?: boolean): Promise<SignedIn | null>;
  endSession(key: string): Promise<void>;

  /** @returns the id of the audit line */
  beginAudit(entry: AuditEntry): Promise<string>;
  endAudit(id: string, ok: boolean, text: string): Promise<void>;
  /** Changes the audit line of a target's newest configuration with the result `said` to failed, and appends `how`. Idempotent. */
  contradictAudit(on: string, said: string, how: string): Promise<void>;
  /** Newest first. */
  audit(filter: AuditFilter, most: number): Promise<StoredAudit[]>;

  /** Admits one change of a desired configuration at a time, over all instances. False: another change is running. */
  claimConfig(target: string, holder: string, leaseMs: number): Promise<boolean>;
  releaseConfig(target: string, holder: string): Promise<void>;

  /** Writes a job that this instance works on, and extends the lease on it to `leaseMs`. False: another instance has it now. */
  saveJob(job: StoredJob, instance: string, leaseMs: number): Promise<boolean>;
  /** Newest first. */
  jobs(most: number): Promise<StoredJob[]>;
  job(id: string): Promise<StoredJob | null>;
  /** Claims the unfinished jobs of instances that are gone. */
  claimJobs(instance: string, leaseMs: number): Promise<StoredJob[]>;

  /** @param most maximum number that the device can have had in the last days; a further one is `implausible` and not written */
  addConversation(one: StoredConversation, most: number): Promise<ReportOutcome>;
  conversations(from: number, to: number, by: 'day' | 'device' | 'languages'): Promise<ConversationSum[]>;

  /** Deletes expired entries. */
  prune(): Promise<void>;
  close(): Promise<void>;
}
