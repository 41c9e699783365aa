/** Records of all devices, with a limit on every list. */

import { type Bucket, fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import { countUnknownDevices } from './denials.ts';
import type { Answer } from './issue-event.ts';
import type { Rank } from './job-queue.ts';

/** Largest number of records of devices that had sessions. They are kept separately, so that invented names cannot displace them. */
export const MOST_KNOWN = 20_000;
const MOST_UNKNOWN_DEVICES = 5000;
const MOST_ANSWERS = 16;
/** Limit on answers of any kind, as a multiple of the allowed requests. Further requests get no answer. */
const ANSWERS_PER_REQUEST = 4;
/** Burst of trials, as a multiple of the allowed requests: a person who looks for a fault tries often. */
const TRIAL_BURST = 2;
/** Limit on availability checks: a device makes one every ten minutes, in up to three attempts. Further ones get no answer. */
const PROBES: Rate = { burst: 6, perMinute: 6 };

interface GivenAnswer {
  readonly answer: Answer;
  /** The same request gets the same answer until this time. */
  readonly freshUntil: number;
}

/** Remaining requests and answers of a device. */
interface Buckets {
  requests: Bucket;
  answers: Bucket;
}

export interface DeviceRecord {
  /** Trials have their own buckets, so that they take nothing from the lanes. */
  readonly wants: Buckets;
  readonly trials: Buckets;
  /** Availability checks of the backend. */
  probes: Bucket;
  /** Time of the first session; null for an unknown device. */
  knownSince: number | null;
  readonly answered: Map<string, GivenAnswer>;
}

export interface DeviceRegistry {
  /** Returns the device's record, or a new record. When full, drops the device whose last request is the oldest. */
  of(who: DeviceName, now: number): DeviceRecord;
  /** Counts one answer; true if the device has had too many and gets no answer. */
  isFlood(record: DeviceRecord, isTrial: boolean, now: number): boolean;
  /** Counts one availability check; true if there are too many. */
  isProbeFlood(record: DeviceRecord, now: number): boolean;
  /** Counts one answer to an unknown device; true if all of them together have had too many. */
  isUnknownFlood(rank: Rank, now: number): boolean;
  /** Counts one request. @returns how long the device should have waited (ms) */
  spendRequest(record: DeviceRecord, isTrial: boolean, now: number): number;
  /** Records that the device has had a session. */
  know(who: DeviceName, record: DeviceRecord, now: number): void;
  keepAnswer(record: DeviceRecord, id: string, given: GivenAnswer): void;
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
    knownSince: null,
    answered: new Map(),
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
    isUnknownFlood: countUnknownDevices(),
    spendRequest(record, isTrial, now) {
      const buckets = isTrial ? record.trials : record.wants;
      const spent = spend(buckets.requests, isTrial ? trials : requests, now);
      buckets.requests = spent.bucket;
      return spent.waitMs;
    },
    keepAnswer(record, id, given) {
      putLast(record.answered, id, given, MOST_ANSWERS);
    },
  };
}

/** Keeps a map in the order of use, and drops the least recently used entry. */
function putLast<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
