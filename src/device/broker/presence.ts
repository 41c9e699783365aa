import type { Handlers } from '../../machine/machine.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Bus, BusMessage, BusProblem } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { statusSchema } from '../../protocol/mqtt/device.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Publisher } from '../status/publisher.ts';
import { type PresenceEffect, type PresenceEvent, presenceMachine } from './presence-machine.ts';
import type { HeardStatus } from './presence-rules.ts';

/** Size limit of a status (characters); our own are shorter. */
const LONGEST_STATUS = 4096;

const heardSchema = statusSchema.pick({ status: true, boot_id: true, conn_seq: true });

export interface PresenceDeps {
  readonly runner: Runner;
  readonly topics: DeviceTopics;
  readonly bootId: string;
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
  disconnected(problem: BusProblem): void;
  close(): void;
}

export function createPresence(deps: PresenceDeps): Presence {
  const { runner, topics, bootId, publisher } = deps;
  const { post, close } = runner.run(presenceMachine, handlersOf(deps), () => ({
    bootId,
    connection: publisher.connections,
  }));
  return {
    receive({ topic, payload, retain }) {
      if (topic !== topics.status) return false;
      post({ type: 'heard', status: readStatus(payload), isRetained: retain });
      return true;
    },
    oversized(topic) {
      if (topic === topics.status) post({ type: 'heard', status: null, isRetained: false });
    },
    connected: () => post({ type: 'connected' }),
    disconnected: (problem) => post({ type: 'down', problem }),
    close,
  };
}

function handlersOf({ log, publisher, bus }: PresenceDeps): Handlers<PresenceEvent, PresenceEffect> {
  return {
    correct() {
      publisher.repeat();
    },
    dispute({ isDisputed }) {
      bus()?.disputed?.(isDisputed);
    },
    report_conflict({ otherBootId }) {
      const other = otherBootId === null ? {} : { other_boot_id: otherBootId };
      log.error({ problem: 'taken_over', ...other }, 'another device uses this identity');
      const message = 'another device uses this identity, and the two keep disconnecting each other';
      publisher.tell('identity_conflict', { lane: null, message, ...other });
      publisher.condition('identity_conflict', true);
    },
    report_end() {
      publisher.condition('identity_conflict', false);
      log.info({}, 'no other device uses this identity any more');
    },
  };
}

/** Null: it is not a status. */
function readStatus(payload: string): HeardStatus | null {
  const json = payload.length > LONGEST_STATUS ? null : parseJson(payload);
  return heardSchema.safeParse(json).data ?? null;
}
