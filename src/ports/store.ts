/**
 * What the backends of one owner share and keep across restarts. It holds session ids and states, never tokens. All times are
 * milliseconds since 1970 by the clock of the store; Infinity stands for "without end".
 */

/** A lane's request for a session. One row per device, lane and request. */
export interface MintRow {
  readonly lane: string;
  readonly request: string;
  /** `making`: an instance is asking the service. `made`: `session` is the answer. `over`: it failed, or a newer request replaced it. */
  readonly state: 'making' | 'made' | 'over';
  /** The backend that works on it, until `leaseUntil`; afterwards any other may take it over. */
  readonly instance: string;
  readonly leaseUntil: number;
  /** Arrival of the request. */
  readonly askedAt: number;
  /** Latest end of the stream, as planned. */
  readonly endsAt: number;
  readonly session: string | null;
  /** The same request gets the same session until this time. */
  readonly freshUntil: number;
  /** When to look for an orphaned session at the service, because the instance died; null: no need. */
  readonly recheckAt: number | null;
}

export interface SessionRow {
  readonly id: string;
  readonly lane: string;
  readonly madeAt: number;
  /** A stream must begin before this time. */
  readonly windowUntil: number;
  /** Latest end of its stream, if the stream begins at once. */
  readonly endsAt: number;
  /** Latest end of its stream, if the stream begins at the end of the window. */
  readonly overAt: number;
  /** The session replaces the lane's previous one, which continues for a while. */
  readonly isRollover: boolean;
  /** As far as is known, no stream has begun. */
  readonly isPending: boolean;
  /** Created for a device that had no session before. */
  readonly isUnknown: boolean;
  /** `leaving`: is being revoked. `gone`: no longer exists at the service. */
  readonly state: 'live' | 'leaving' | 'gone';
}

/** What the store knows of one device: requests and sessions of the last hour, oldest first. */
export interface DeviceBook {
  readonly mints: readonly MintRow[];
  readonly sessions: readonly SessionRow[];
}

/**
 * Number of pending sessions, including those being created, and the time at which the first of them
 * expires. A request whose instance died counts until its sessions and its row are gone.
 */
export interface UnusedCount {
  readonly count: number;
  readonly firstUntil: number;
}

/** Unused sessions of all devices, and of devices that had no session before. */
export interface UnusedCounts {
  readonly all: UnusedCount;
  readonly unknown: UnusedCount;
}

/** One line of the ledger. Lines are only ever added. */
export interface LedgerEntry {
  /** Unique, so that each event is written only once. */
  readonly id: string;
  readonly device: string;
  readonly lane: string;
  /** The session's id, shortened as in the device's reports. */
  readonly session: string;
  /** `backend`: a session was issued, for `ms` at most. `device`, `service`: a stream of this session lasted `ms`. */
  readonly source: 'backend' | 'device';
  readonly ms: number;
}

/** A device says that a stream of this session lasted `ms`. The session's id is shortened. */
export type EndReport = Pick<LedgerEntry, 'device' | 'lane' | 'session' | 'ms'>;
/** `known`: it was written before. `implausible`: not written, because it fits no session, or another end was reported. */
export type ReportOutcome = 'new' | 'known' | 'implausible';

/** Number of a device's recent sessions, and the longest total time their streams could have lasted. */
export interface RecentStreams {
  readonly sessions: number;
  readonly ms: number;
}

/** The ledger's sums for one device. */
export interface DeviceSum {
  readonly device: string;
  readonly sessions: number;
  readonly ms: number;
  readonly unreported: number;
  /** Null: without limit. */
  readonly unreportedMs: number | null;
  /** Number of implausible reports. */
  readonly implausible: number;
}

/** Rows to write: new ones and changed ones. */
export interface BookChange {
  readonly mints?: readonly MintRow[];
  readonly sessions?: readonly SessionRow[];
  readonly ledger?: readonly Omit<LedgerEntry, 'device'>[];
}

export interface Decision<T> {
  readonly change: BookChange;
  readonly result: T;
}
/** Decides on one device. Pure. */
export type Decide<T> = (book: DeviceBook, now: number) => Decision<T>;
/** Decides on one device, and also gets the counts over all devices. Pure. */
export type DecideCounted<T> = (book: DeviceBook, now: number, unused: UnusedCounts) => Decision<T>;

/** A request to check for orphaned sessions. `device` is `tenant/device`. */
export interface LaneToCheck {
  readonly device: string;
  readonly lane: string;
  readonly request: string;
}
export interface SessionToRevoke {
  readonly device: string;
  readonly id: string;
}

/** Argument of `tell` when a problem has been resolved. */
export const FINE = 'fine';

/** The store cannot be used now; it may be later. The message says why, without secrets. */
export class StoreDown extends Error {}
/** The store can never be used as it is: a person must act. The message says how. */
export class StoreRefused extends Error {}

/** The store cannot hold these values: the same operation would always fail, but others still work. */
export class ValueRefused extends Error {}

/** Every operation throws one of these errors if it fails, and then has changed nothing. */
export interface Store {
  /** Connects, and creates or upgrades the tables. Every other operation does so, too. */
  open(): Promise<void>;
  /** Tries the writes of a grant, and undoes them. */
  check(): Promise<void>;
  /** Changes one device's rows; no other instance changes them meanwhile. */
  change<T>(device: string, decide: Decide<T>): Promise<T>;
  /** Like `change`, but one at a time over all devices: no instance changes the counts meanwhile. */
  changeCounted<T>(device: string, decide: DecideCounted<T>): Promise<T>;
  /** Extends the leases of requests that an instance still works on. */
  renew(instance: string, leaseMs: number): Promise<void>;
  /** Devices that had a session before, newest first. */
  knownDevices(most: number): Promise<string[]>;
  /**
   * Requests whose instance died. Each is given to one caller only, and not again for `againMs`.
   * @param graceMs time after the end of a lease in which a repeated request may still take it over
   */
  takeAbandoned(graceMs: number, againMs: number, most: number): Promise<LaneToCheck[]>;
  /** Sessions that should have been revoked. Each is given to one caller only, and not again for `againMs`. */
  takeLeaving(againMs: number, most: number): Promise<SessionToRevoke[]>;
  /** Adds one line to the ledger. False if it was there already. */
  append(entry: LedgerEntry): Promise<boolean>;
  /** Writes the end of a stream into the ledger: once for each recent session of the device. */
  report(report: EndReport): Promise<ReportOutcome>;
  /** Adds to the numbers of implausible reports, for devices that had a session. */
  addImplausible(numbers: ReadonlyMap<string, number>): Promise<void>;
  recentStreams(device: string): Promise<RecentStreams>;
  /** The ledger's sums for each device. @param from start of the period, `to` its end (ms since 1970) */
  sums(from: number, to: number): Promise<DeviceSum[]>;
  /**
   * Records the last alert about a device or a group. False if any backend has already sent this alert.
   * @param what `FINE`: the problem has been resolved
   */
  tell(subject: string, what: string): Promise<boolean>;
  /** The last alert about each subject that is not `FINE`. */
  told(): Promise<ReadonlyMap<string, string>>;
  /** Deletes rows that no decision needs any more. */
  prune(): Promise<void>;
  close(): Promise<void>;
}
