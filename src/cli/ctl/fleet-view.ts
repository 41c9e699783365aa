import {
  type ReceivedState,
  type ReceivedStatus,
  receivedStateSchema,
  receivedStatusSchema,
} from '../../fleet/device-messages.ts';
import { createRoster, type DeviceEntry, isInGroup } from '../../fleet/roster.ts';
import type { BusMessage } from '../../ports/bus.ts';
import { parseJson } from '../../protocol/common/json.ts';
import type { OperatorTopics } from '../../protocol/mqtt/topics.ts';
import type { Target } from './target.ts';

/** Status and state of devices, as published on the broker. */
export interface FleetView {
  /** Filters to subscribe to. */
  readonly subscriptions: readonly string[];
  /** Handles a status or state message; false for other messages. */
  receive(message: BusMessage): boolean;
  /** Known devices of the target. */
  entries(): readonly DeviceEntry[];
}

export function createFleetView(topics: OperatorTopics, target: Target): FleetView {
  const roster = createRoster();
  const device = target.kind === 'device' ? target.device : null;
  const filters = { status: topics.published(device, 'status'), state: topics.published(device, 'state') };
  const isTarget = (entry: DeviceEntry): boolean => target.kind !== 'group' || isInGroup(entry, target.group);
  return {
    subscriptions: [filters.status, filters.state],
    receive({ topic, payload }) {
      const about = topics.read(topic);
      if (about === null || (about.rest !== 'status' && about.rest !== 'state')) return false;
      const news = about.rest === 'status' ? { status: readStatus(payload) } : { state: readState(payload) };
      roster.note(about.device, news);
      return true;
    },
    entries() {
      if (device !== null) return [roster.get(device) ?? { device, status: null, state: null }];
      return [...roster.entries()].filter(isTarget);
    },
  };
}

/** Reads a status; an invalid one counts as missing. */
function readStatus(payload: string): ReceivedStatus | null {
  const parsed = receivedStatusSchema.safeParse(parseJson(payload));
  return parsed.success ? parsed.data : null;
}

function readState(payload: string): ReceivedState | null {
  const parsed = receivedStateSchema.safeParse(parseJson(payload));
  return parsed.success ? parsed.data : null;
}
