import { createThrottle } from '../../machine/throttle.ts';
import type { Bus, BusMessage, BusProblem } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { parseJson } from '../../protocol/json.ts';
import { statusSchema } from '../../protocol/mqtt/device.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Publisher } from '../status/publisher.ts';
import {
  type HeardStatus,
  judgeStatus,
  noteConnection,
  noteOtherSeen,
  settleIdentity,
  UNDISPUTED,
  undisputedAt,
} from './presence-rules.ts';

/**
 * Shortest interval between corrections of a wrong status (ms), however often it is overwritten. The first is
 * immediate.
 */
const REPEAT_EACH_MS = 2000;
/** Size limit of a status (characters); our own are shorter. */
const LONGEST_STATUS = 4096;

const heardSchema = statusSchema.pick({ status: true, boot_id: true, conn_seq: true });

export interface PresenceDeps {
  readonly topics: DeviceTopics;
  readonly bootId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly publisher: Publisher;
  bus(): Bus | null;
}

/** Keeps the retained status of this device correct, and reports another device with the same identity. */
export interface Presence {
  /** False if the topic is not the device's status. */
  receive(message: BusMessage): boolean;
  /** A message was too large to read. On the status topic it is certainly not ours. */
  oversized(topic: string): void;
  connected(): void;
  down(problem: BusProblem): void;
  /** The filters that the broker refused. */
  refused(filters: readonly string[]): void;
  close(): void;
}

export function createPresence({ topics, bootId, clock, log, publisher, bus }: PresenceDeps): Presence {
  let identity = UNDISPUTED;
  let foreign: HeardStatus | null = null;
  let otherBootId: string | null = null;
  let refusedBefore = '';
  let cancel = (): void => {};
  const repeat = createThrottle(clock, REPEAT_EACH_MS, () => publisher.repeat());

  const look = (): void => {
    cancel();
    const before = identity;
    identity = settleIdentity(identity, clock.now());
    if (before.seenAt !== null && identity.seenAt === null) {
      otherBootId = null;
      bus()?.disputed?.(false);
      publisher.condition('identity_conflict', false);
      log.info({}, 'no other device uses this identity any more');
    }
    const at = undisputedAt(identity);
    if (at !== null) cancel = clock.at(at, look);
  };
  const dispute = (): void => {
    const isNew = identity.seenAt === null;
    identity = noteOtherSeen(identity, clock.now());
    bus()?.disputed?.(true);
    if (isNew) {
      const other = otherBootId === null ? {} : { other_boot_id: otherBootId };
      log.error({ problem: 'taken_over', ...other }, 'another device uses this identity');
      const message = 'another device uses this identity, and the two keep disconnecting each other';
      publisher.tell('identity_conflict', { lane: null, message, ...other });
      publisher.condition('identity_conflict', true);
    }
    look();
  };

  return {
    receive({ topic, payload, retain }) {
      if (topic !== topics.status) return false;
      const json = payload.length > LONGEST_STATUS ? null : parseJson(payload);
      const heard = heardSchema.safeParse(json).data ?? null;
      const own = { bootId, connection: publisher.connections, foreign };
      const verdict = judgeStatus(heard, retain, own);
      if (heard !== null && heard.boot_id !== bootId) foreign = heard;
      if (verdict.isWrong) repeat.request();
      if (verdict.otherBootId !== null) {
        otherBootId = verdict.otherBootId.slice(0, 64);
        dispute();
      }
      return true;
    },
    oversized(topic) {
      if (topic === topics.status) repeat.request();
    },
    connected() {
      identity = noteConnection(identity, true, clock.now());
      look();
    },
    down(problem) {
      identity = noteConnection(identity, false, clock.now());
      if (problem === 'taken_over') dispute();
      else look();
    },
    refused(filters) {
      const missing = filters.filter((filter) => filter !== topics.status);
      const fingerprint = filters.join(' ');
      if (fingerprint !== refusedBefore && filters.length > 0) {
        log.error({ topics: filters }, 'the broker refuses subscriptions that the agent needs');
      } else if (fingerprint !== refusedBefore) {
        log.info({}, 'the broker allows all subscriptions that the agent needs');
      }
      refusedBefore = fingerprint;
      publisher.condition('not_subscribed', missing.length > 0, missing.map(shortOf));
    },
    close() {
      cancel();
      repeat.cancel();
    },
  };

  /** The short name of a filter: `token/res`, `cmd`, `group/lobby/cmd`. */
  function shortOf(filter: string): string {
    const tenant = topics.fleetBase.replace(/all$/, '');
    const own = `${topics.base}/`;
    const short = filter.startsWith(own) ? filter.slice(own.length) : filter.slice(tenant.length);
    return short.replace(/\/\+$/, '');
  }
}
