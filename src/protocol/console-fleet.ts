/** The fleet in the owner's console: rows, filters and views. */
import * as z from 'zod';
import { plainTextSchema } from './common/plain-text.ts';
import { DEVICE_STATUSES } from './mqtt/statuses.ts';
import { deviceIdSchema, nameSchema } from './mqtt/topics.ts';

/** `unknown`: has published no status. `never`: expected, but has never connected. */
export const FLEET_STATUSES = [...DEVICE_STATUSES, 'unknown', 'never'] as const;
export type FleetStatus = (typeof FLEET_STATUSES)[number];

/** `tenant/device`. */
export const deviceNameSchema = z
  .string()
  .max(129)
  .refine((text) => {
    const [tenant, device, ...more] = text.split('/');
    const isRight = nameSchema.safeParse(tenant).success && deviceIdSchema.safeParse(device).success;
    return isRight && more.length === 0;
  }, 'must be a tenant and a device, such as "museum/kiosk-01"');

/** One device in the list. All texts from the device are cleaned of control and reordering characters, and shortened. */
export interface FleetRow {
  /** `tenant/device` */
  readonly device: string;
  readonly status: FleetStatus;
  /** `code` or `code:detail`, see docs/operate.md */
  readonly reasons: readonly string[];
  /** Needs a person's attention. */
  readonly isProblem: boolean;
  /** Time of the status, ISO 8601 UTC; null: not known. */
  readonly since: string | null;
  readonly groups: readonly string[];
  /** From the backend's configuration; null: none. */
  readonly site: string | null;
  readonly version: string;
  readonly lanes: readonly FleetLane[];
  /** A visitor's call for a member of staff; null: none that waits for an answer. */
  readonly call: OpenCall | null;
  /** The device's configuration differs from the desired one, or the device refused keys. */
  readonly isOffDesired: boolean;
}
export interface OpenCall {
  /** When the visitor called; null: the device's clock was not set. */
  readonly since: string | null;
  /** Whether the time for an answer is over. */
  readonly isLate: boolean;
}
/** A device at which a visitor waits for a member of staff. */
export interface FleetCall extends OpenCall {
  readonly device: string;
  readonly site: string | null;
}
export interface FleetLane {
  readonly id: string;
  readonly phase: string;
  readonly source: string;
  readonly targets: readonly string[];
  readonly muted: boolean;
  readonly volume: number | null;
}

/** Selects devices. An omitted part admits all. */
export const fleetFilterSchema = z.strictObject({
  /** Words to find in name, reasons, groups, site, version or languages; all must occur. */
  q: plainTextSchema.max(200).optional(),
  status: z.array(z.enum(FLEET_STATUSES)).max(FLEET_STATUSES.length).optional(),
  problem: z.boolean().optional(),
  tenant: nameSchema.optional(),
  group: nameSchema.optional(),
  site: plainTextSchema.max(200).optional(),
  version: plainTextSchema.max(100).optional(),
});
export type FleetFilter = z.infer<typeof fleetFilterSchema>;

export const FLEET_SORTS = ['problems', 'device', 'status', 'version', 'since'] as const;

/** Maximum number of rows of a window. */
export const LONGEST_WINDOW = 300;
/** Filter, order, and the window of rows: from `first` up to, not including, `last`. */
export const fleetViewSchema = z
  .strictObject({
    filter: fleetFilterSchema.default({}),
    /** `problems`: most severe first. Ties are always in the order of the names. */
    sort: z.enum(FLEET_SORTS).default('problems'),
    descending: z.boolean().default(false),
    first: z.int().min(0).max(1_000_000).default(0),
    last: z.int().min(0).max(1_000_000).default(60),
  })
  .refine(({ first, last }) => last - first <= LONGEST_WINDOW, `at most ${LONGEST_WINDOW} rows at once`);
export type FleetView = z.infer<typeof fleetViewSchema>;
export type FleetViewInput = z.input<typeof fleetViewSchema>;

/** All devices that a filter admits, with exceptions; or a list of devices. */
export const selectionSchema = z.union([
  z.strictObject({
    filter: fleetFilterSchema,
    except: z.array(deviceNameSchema).max(10_000).default([]),
  }),
  z.strictObject({ devices: z.array(deviceNameSchema).min(1).max(10_000) }),
]);
export type Selection = z.infer<typeof selectionSchema>;

/** Counts of the whole fleet, not of the page or the filter. */
export interface FleetCounts {
  readonly total: number;
  readonly problems: number;
  readonly byStatus: Readonly<Record<FleetStatus, number>>;
}

/** Values that the filters offer. */
export interface FleetFacets {
  readonly tenants: readonly string[];
  /** Groups with the number of their devices and of devices with a problem. */
  readonly groups: readonly { readonly name: string; readonly devices: number; readonly problems: number }[];
  readonly sites: readonly string[];
  readonly versions: readonly string[];
}

export interface FleetWindow {
  /** `number` of the view change that it answers; 0: the view came with the stream's URL or `GET /api/devices`. */
  readonly number: number;
  /** Number of devices that the filter admits. */
  readonly total: number;
  readonly first: number;
  readonly rows: readonly FleetRow[];
}
