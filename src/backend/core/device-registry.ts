/** What is remembered of each device, bounded in every direction. */

import { type Bucket, fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import { type Account, openAccount } from './device-account.ts';
import type { Answer } from './issue-event.ts';
import type { DeviceName } from './policy.ts';

/** Devices that had sessions are remembered apart from the others: whoever invents names drives out none of them. */
const MOST_KNOWN = 20_000;
const MOST_UNKNOWN_DEVICES = 5000;
const MOST_LANES = 32;
const MOST_ANSWERS = 16;
/** Answers of any kind, as a multiple of the requests that are allowed; what is beyond gets silence. */
const ANSWERS_PER_REQUEST = 4;
/** Trials at once, as a multiple of the requests: a person who looks for a fault tries often. */
const TRIAL_BURST = 2;
/** A device asks every ten minutes whether we are there, three times if need be; what is beyond gets silence. */
const PROBES: Rate = { burst: 6, perMinute: 6 };

interface GivenAnswer {
  readonly answer: Answer;
  /** Until then the same request gets the same answer. */
  readonly freshUntil: number;
}

/** The last session made for a lane. After `until` nobody can use it any more. */
interface LaneSession {
  readonly id: string;
  readonly until: number;
}

/** What a device may ask and be told at the moment. */
interface Buckets {
  requests: Bucket;
  answers: Bucket;
}

export interface DeviceRecord {
  /** Trials have their own: they take nothing from the lanes. */
  readonly wants: Buckets;
  readonly trials: Buckets;
  /** Questions whether we are there. */
  probes: Bucket;
  readonly account: Account;
  /** Moment of the first session; null for a unknown device. */
  knownSince: number | null;
  readonly answered: Map<string, GivenAnswer>;
  readonly sessions: Map<string, LaneSession>;
}

export interface DeviceRegistry {
  /** The device's record; a new one where there is none. The device that asked longest ago is forgotten when it is full. */
  of(who: DeviceName, now: number): DeviceRecord;
  /** Counts one answer; true when the device has had this many that silence is the better one. */
  isFlood(record: DeviceRecord, isTrial: boolean, now: number): boolean;
  /** Counts one question whether we are there; true when there are too many of them. */
  isProbeFlood(record: DeviceRecord, now: number): boolean;
  /** Counts one request; how long the device should have waited with it, milliseconds. */
  spendRequest(record: DeviceRecord, isTrial: boolean, now: number): number;
  /** The device has had a session. */
  know(who: DeviceName, record: DeviceRecord, now: number): void;
  keepAnswer(record: DeviceRecord, id: string, given: GivenAnswer): void;
  remember(record: DeviceRecord, lane: string, session: LaneSession): void;
  forget(record: DeviceRecord, lane: string): void;
}

export function openDeviceRegistry(requests: Rate): DeviceRegistry {
  const answers: Rate = {
    burst: requests.burst * ANSWERS_PER_REQUEST,
    perMinute: requests.perMinute * ANSWERS_PER_REQUEST,
  };
  const trials: Rate = { burst: requests.burst * TRIAL_BURST, perMinute: requests.perMinute };
  const known = new Map<string, DeviceRecord>();
  const unknownDevices = new Map<string, DeviceRecord>();
  const open = (now: number): DeviceRecord => ({
    wants: { requests: fullBucket(requests, now), answers: fullBucket(answers, now) },
    trials: { requests: fullBucket(trials, now), answers: fullBucket(answers, now) },
    probes: fullBucket(PROBES, now),
    ...{ account: openAccount(), knownSince: null, answered: new Map(), sessions: new Map() },
  });

  return {
    of({ tenant, device }, now) {
      const name = `${tenant}/${device}`;
      const record = known.get(name) ?? unknownDevices.get(name) ?? open(now);
      if (record.knownSince === null) putLast(unknownDevices, name, record, MOST_UNKNOWN_DEVICES);
      else putLast(known, name, record, MOST_KNOWN);
      return record;
    },
    know({ tenant, device }, record, now) {
      const name = `${tenant}/${device}`;
      record.knownSince ??= now;
      unknownDevices.delete(name);
      putLast(known, name, record, MOST_KNOWN);
    },
    isFlood(record, isTrial, now) {
      const buckets = isTrial ? record.trials : record.wants;
      const spent = spend(buckets.answers, answers, now);
      buckets.answers = spent.bucket;
      return spent.waitMs > 0;
    },
    isProbeFlood(record, now) {
      const spent = spend(record.probes, PROBES, now);
      record.probes = spent.bucket;
      return spent.waitMs > 0;
    },
    spendRequest(record, isTrial, now) {
      const buckets = isTrial ? record.trials : record.wants;
      const spent = spend(buckets.requests, isTrial ? trials : requests, now);
      buckets.requests = spent.bucket;
      return spent.waitMs;
    },
    keepAnswer(record, id, given) {
      putLast(record.answered, id, given, MOST_ANSWERS);
    },
    remember(record, lane, session) {
      putLast(record.sessions, lane, session, MOST_LANES);
    },
    forget(record, lane) {
      record.sessions.delete(lane);
    },
  };
}

/** Keeps a map in the order of use, and drops what was used longest ago. */
function putLast<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
