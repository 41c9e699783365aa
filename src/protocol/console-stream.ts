/** The messages to the owner's console: a snapshot, then numbered differences, as server-sent events. */
import * as z from 'zod';
import type { DeviceDetail, DeviceEvent } from './console-device.ts';
import {
  deviceNameSchema,
  type FleetCall,
  type FleetCounts,
  type FleetFacets,
  type FleetRow,
  type FleetWindow,
  fleetViewSchema,
} from './console-fleet.ts';
import type { Job } from './console-jobs.ts';
import type { LogLines } from './console-log.ts';

export const viewChangeSchema = z.strictObject({
  /** `stream` of the snapshot. */
  stream: z.string().max(64),
  /** Number of this view change, from 1. The server ignores a change that arrives after a later one. */
  number: z.int().min(1),
  view: fleetViewSchema,
  /** The device to follow; null: none. Missing: unchanged. */
  device: deviceNameSchema.nullable().optional(),
});
export type ViewChange = z.infer<typeof viewChangeSchema>;

/** The first message of each connection: it replaces everything before. A reader that is too slow has to reconnect. */
export interface StreamSnapshot {
  readonly seq: number;
  /** Name of this stream, for `POST /api/stream/view`; empty: not from a stream. */
  readonly stream: string;
  /** Whether the backend is connected to the broker. */
  readonly broker: 'connected' | 'away';
  readonly counts: FleetCounts;
  /** Devices at which visitors wait for a member of staff, longest first; 50 at most. */
  readonly calls: readonly FleetCall[];
  readonly facets: FleetFacets;
  readonly window: FleetWindow;
  /** The followed device; null: none, or not known. */
  readonly device: DeviceDetail | null;
  /** Running jobs, and those that ended in the last hour; newest first. */
  readonly jobs: readonly Job[];
}

/** Changes of the last 250 ms. Missing parts are unchanged. `seq` is one more than in the previous message. */
export interface StreamDiff {
  readonly seq: number;
  readonly broker?: 'connected' | 'away';
  readonly counts?: FleetCounts;
  readonly calls?: readonly FleetCall[];
  readonly facets?: FleetFacets;
  /** The answer to a view change: replaces the window. The same message has no `total`, `order` or `rows`. */
  readonly window?: FleetWindow;
  /** Number of devices that the filter admits. */
  readonly total?: number;
  /** Devices of the window in order, if one was added, removed or moved. The page may wait while the pointer is over its rows. */
  readonly order?: readonly string[];
  /** New and changed rows of the window, each with all fields. */
  readonly rows?: readonly FleetRow[];
  /** Changed parts of the followed device; null: no device is followed, or the followed device is unknown. */
  readonly device?: Partial<DeviceDetail> | null;
  /** New events of the followed device, oldest first. */
  readonly events?: readonly DeviceEvent[];
  /** New log lines of the followed device. */
  readonly log?: LogLines;
  /** New jobs and jobs with progress, each with all fields. */
  readonly jobs?: readonly Job[];
}

/** Messages by the name of the server-sent event. A `ping` comes every 10 s. After `end` the page must sign in again. */
export interface StreamMessages {
  readonly snapshot: StreamSnapshot;
  readonly diff: StreamDiff;
  readonly ping: Record<string, never>;
  readonly end: { readonly code: 'signed_out' };
}
