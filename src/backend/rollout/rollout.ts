/** A roll-out as stored: its plan, its progress, and each selected device. */
import * as z from 'zod';
import { plainVersion } from '../../core/update/package-versions.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { manifestUrlSchema, versionSchema } from '../../protocol/common/update.ts';

/** `stopped`: automatically. `done`: the last wave is over; devices that connect later still get the version. */
export const ROLLOUT_STATES = ['running', 'paused', 'stopped', 'aborted', 'done'] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];

const percent = z.number().positive().max(100);

export const planSchema = z.object({
  version: versionSchema,
  /** Null: each device's own list of sources. */
  manifestUrl: manifestUrlSchema.nullable(),
  /** Shares of the devices in percent, ascending to 100. */
  waves: z.array(percent).min(1),
  /** A group of the backend's configuration; null: all devices. */
  group: z.string().nullable(),
  by: z.string(),
});
export type Plan = z.infer<typeof planSchema>;

/** `waiting`: selected, without the order. `ordered`: the order was sent, and the update has not finished. */
export const DEVICE_STATES = ['waiting', 'ordered', 'live', 'failed', 'rolled_back'] as const;

const entrySchema = z.object({
  state: z.enum(DEVICE_STATES),
  /** The wave that selected it. */
  wave: z.int(),
  /** Orders sent so far; each has an id of its own. */
  attempts: z.int(),
  sentAt: z.number().nullable(),
  /** Whether it is known that the last order has arrived. */
  isHeard: z.boolean(),
  /** The device's report on an earlier attempt with this version, from when it was selected. */
  before: z.string().nullable(),
  /** A sentence for people. */
  reason: z.string().nullable(),
  /** A person resumed the roll-out despite this device's report: it no longer counts. */
  isExcused: z.boolean(),
});
export type Entry = z.infer<typeof entrySchema>;

const speechSchema = z.object({
  /** How long the device was connected. */
  connectedMs: z.number(),
  /** Speech that was lost or unspoken. */
  troubleMs: z.number(),
});
export type Speech = z.infer<typeof speechSchema>;

export const rolloutSchema = z.object({
  id: z.string(),
  plan: planSchema,
  at: z.number(),
  state: z.enum(ROLLOUT_STATES),
  /** Why it stopped, or paused by itself. */
  reason: z.string().nullable(),
  /** When it stopped or was aborted. */
  endedAt: z.number().nullable(),
  /** Index of the present wave. */
  wave: z.int(),
  /** Time since which most of the wave's devices run the version; null: they do not yet. */
  waveSince: z.number().nullable(),
  /** Conversations that devices with the version reported since then. */
  heard: z.record(z.string(), z.int()),
  /** Number of conversations that count, see `countConversations`. */
  conversations: z.int(),
  /** Present number of devices that the roll-out can update. */
  devices: z.int(),
  /** Present number of devices without an updater. */
  unsupported: z.int(),
  /** Speech of each device while it runs the version. */
  updated: z.record(z.string(), speechSchema),
  /** Speech of each device while it runs another version. */
  rest: z.record(z.string(), speechSchema),
  /** Devices whose reports cannot be true: they do not count. */
  implausible: z.array(z.string()),
  drawn: z.record(z.string(), entrySchema),
});
export type Rollout = z.infer<typeof rolloutSchema>;

export const NO_SPEECH: Speech = { connectedMs: 0, troubleMs: 0 };

export function createRollout(id: string, plan: Plan, now: number): Rollout {
  return {
    id,
    plan,
    at: now,
    state: 'running',
    reason: null,
    endedAt: null,
    wave: 0,
    waveSince: null,
    heard: {},
    conversations: 0,
    devices: 0,
    unsupported: 0,
    updated: {},
    rest: {},
    implausible: [],
    drawn: {},
  };
}

/** Null: cannot be read, because another version wrote it. */
export function readRollout(text: string): Rollout | null {
  const parsed = rolloutSchema.safeParse(parseJson(text));
  return parsed.success ? parsed.data : null;
}

/** The version as devices report it. */
export const versionOf = ({ plan }: Rollout): string => plainVersion(plan.version);

/** Id of a device's last order. */
export const orderId = ({ id }: Pick<Rollout, 'id'>, { attempts }: Pick<Entry, 'attempts'>): string =>
  `${id}-${attempts}`;
