/** The messages to the owner's console: a snapshot, then numbered differences, as server-sent events. */
import * as z from 'zod';
import type { DeviceDetail, DeviceEvent, LogLines } from './console-device.ts';
import {
  deviceNameSchema,
  type FleetCounts,
  type FleetFacets,
  type FleetRow,
  type FleetWindow,
  fleetViewSchema,
} from './console-fleet.ts';
import type { Job } from './console-jobs.ts';

export const viewChangeSchema = z.strictObject({
  /** `stream` of the snapshot. */
  stream: z.string().max(64),
  /** Counts the page's changes, from 1: the server forgets one that comes after a later one. */
  number: z.int().min(1),
  view: fleetViewSchema,
  /** The device to follow, too; null: none. Left out: as before. */
  device: deviceNameSchema.nullable().optional(),
});
export type ViewChange = z.infer<typeof viewChangeSchema>;

/** The first message of each connection, and whenever the reader was too slow: it replaces everything before. */
export interface StreamSnapshot {
  readonly seq: number;
  /** Name of this stream, for `POST /api/stream/view`; empty: it is not of a stream. */
  readonly stream: string;
  /** Whether the backend hears the devices now. */
  readonly broker: 'connected' | 'away';
  readonly counts: FleetCounts;
  readonly facets: FleetFacets;
  readonly window: FleetWindow;
  /** The followed device; null: none, or not known. */
  readonly device: DeviceDetail | null;
  /** Jobs that run, and those that ended in the last hour; newest first. */
  readonly jobs: readonly Job[];
}

/** Changes of the last 250 ms. Missing parts are unchanged. `seq` is one more than in the previous message. */
export interface StreamDiff {
  readonly seq: number;
  readonly broker?: 'connected' | 'away';
  readonly counts?: FleetCounts;
  readonly facets?: FleetFacets;
  /** The answer to a change of the view: it replaces the window. No other part of the window is beside it. */
  readonly window?: FleetWindow;
  /** Number of devices that the filter admits. */
  readonly total?: number;
  /** The devices of the window in their order, if one came, went or moved. The page may wait while a pointer is over its rows. */
  readonly order?: readonly string[];
  /** Rows of the window that are new or changed, whole. */
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

/** By the name of the server-sent event. A `ping` comes every 10 s. After `end` the page must sign in again. */
export interface StreamMessages {
  readonly snapshot: StreamSnapshot;
  readonly diff: StreamDiff;
  readonly ping: Record<string, never>;
  readonly end: { readonly code: 'signed_out' };
}
