/** What is remembered of each device, bounded in every direction. */

import { type Bucket, fullBucket, type Rate, spend } from '../../core/rate.ts';
import type { Answer } from './issue-event.ts';
import type { DeviceName } from './policy.ts';

const MOST_DEVICES = 20_000;
const MOST_LANES = 32;
const MOST_ANSWERS = 16;
/** Answers of any kind, as a multiple of the requests that are allowed; what is beyond gets silence. */
const ANSWERS_PER_REQUEST = 4;

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

export interface DeviceRecord {
  requests: Bucket;
  answers: Bucket;
  readonly answered: Map<string, GivenAnswer>;
  readonly sessions: Map<string, LaneSession>;
}

export interface DeviceBook {
  /** The device's record; a new one where there is none. The device that asked longest ago is forgotten when it is full. */
  of(who: DeviceName, now: number): DeviceRecord;
  /** Counts one answer; true when the device has had so many that silence is the better one. */
  isFlood(record: DeviceRecord, now: number): boolean;
  keepAnswer(record: DeviceRecord, id: string, given: GivenAnswer): void;
  remember(record: DeviceRecord, lane: string, session: LaneSession): void;
  forget(record: DeviceRecord, lane: string): void;
}

export function openDeviceBook(requests: Rate): DeviceBook {
  const answers: Rate = {
    burst: requests.burst * ANSWERS_PER_REQUEST,
    perMinute: requests.perMinute * ANSWERS_PER_REQUEST,
  };
  const records = new Map<string, DeviceRecord>();

  return {
    of({ tenant, device }, now) {
      const name = `${tenant}/${device}`;
      const record = records.get(name) ?? {
        requests: fullBucket(requests, now),
        answers: fullBucket(answers, now),
        answered: new Map(),
        sessions: new Map(),
      };
      putLast(records, name, record, MOST_DEVICES);
      return record;
    },
    isFlood(record, now) {
      const spent = spend(record.answers, answers, now);
      record.answers = spent.bucket;
      return spent.waitMs > 0;
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
