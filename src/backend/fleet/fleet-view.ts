/**
 * The parts of the devices' own reports that metrics and the webhook need. Everything is bounded, because names and
 * figures come from outside. Pure: messages in, figures out. The state is changed in place, because a fleet has thousands of devices.
 */
import * as z from 'zod';
import { receivedCallSchema } from '../../fleet/device-messages.ts';
import { claimsConnection, isSilent } from '../../fleet/silence.ts';
import { type UpdateReport, updateReportSchema } from '../../protocol/common/update.ts';
import { milliseconds, seconds } from '../../protocol/mqtt/bounds.ts';
import { codeOf, REASONS, type ReasonCode } from '../../protocol/mqtt/reasons.ts';
import { DEVICE_STATUSES, type DeviceStatus } from '../../protocol/mqtt/statuses.ts';
import { PHASE_NAMES, type Phase } from '../../protocol/phases.ts';

/** Maximum number of devices: more than one broker can serve. */
const MOST_DEVICES = 50_000;
/** Maximum number of agent versions that are counted separately. */
const MOST_VERSIONS = 20;
/** Label for values outside the list of reasons, phases or versions. */
const OTHER = 'other';
const MOST_REASONS = 32;
const MOST_LANES = 16;
/** Time before the first report that later reports may include (ms): a stream reports every ten minutes. */
const LATE_MS = 900_000;

const name = z.string().max(64);
// Only the fields that are used: newer agents may add others.
const statusFields = z.object({
  status: z.enum(DEVICE_STATUSES),
  version: name,
  reasons: z.array(z.string()).max(MOST_REASONS),
});
const stateFields = z.object({
  boot_id: name,
  lanes: z
    .array(z.object({ id: name, phase: z.string(), speech_lost_ms: milliseconds, unspoken_ms: milliseconds }))
    .max(MOST_LANES),
  update: updateReportSchema.nullish().catch(null),
  help: receivedCallSchema,
});
const healthFields = z.object({
  boot_id: name,
  lanes: z.array(z.object({ id: name, billed_s: seconds })).max(MOST_LANES),
});

/** Figures that only grow. */
export interface Sums {
  lostMs: number;
  unspokenMs: number;
  billedS: number;
}
/** Maximum growth per millisecond and lane: speech can be unspoken in eight languages; two streams overlap at a rollover. */
const FASTEST: Readonly<Sums> = { lostMs: 1, unspokenMs: 8, billedS: 2 / 1000 };

export interface DeviceView {
  readonly status: DeviceStatus | null;
  /** Codes without their details. */
  readonly reasons: readonly (ReasonCode | typeof OTHER)[];
  /** One phase per lane. */
  readonly phases: readonly (Phase | typeof OTHER)[];
  readonly sums: Readonly<Sums>;
  /** It has reported more than is possible in the time that passed; the sums contain only the possible amount. */
  readonly isImplausible: boolean;
  /** The agent's version; empty: not known yet. */
  readonly version: string;
  /** Id of the agent's run; null: no state received yet. */
  readonly boot: string | null;
  /** A name that differs for each call of the device; null: no call is open. */
  readonly call: string | null;
  /** Null: no updater, or no state received yet. */
  readonly update: UpdateReport | null;
}

export interface FleetSummary {
  readonly statuses: ReadonlyMap<string, number>;
  readonly reasons: ReadonlyMap<string, number>;
  readonly phases: ReadonlyMap<string, number>;
  readonly versions: ReadonlyMap<string, number>;
}

export interface FleetView {
  /** Each returns false if the message cannot be read. @param now monotonic (ms) */
  hearStatus(device: string, body: unknown): boolean;
  hearState(device: string, body: unknown, now: number): boolean;
  hearHealth(device: string, body: unknown, now: number): boolean;
  /** A message arrived that was not retained. @returns whether the device counted as lost because of its silence */
  heard(device: string, now: number): boolean;
  /**
   * Devices that are silent for too long count as lost, whatever their retained status says.
   * @param listeningSince time since which all messages arrive; null: they do not
   * @returns devices that became lost since the last call
   */
  noteSilence(listeningSince: number | null, now: number): readonly string[];
  /** The device's status was deleted at the broker: it is no longer part of the fleet. */
  forget(device: string): void;
  get(device: string): DeviceView | undefined;
  devices(): IterableIterator<[string, DeviceView]>;
  readonly size: number;
  /** Number of messages from devices beyond the limit. */
  readonly leftOut: number;
  /** Sums of all devices' reports since this view began. */
  readonly sums: Readonly<Sums>;
  summary(): FleetSummary;
}

type Figures = readonly (readonly [sum: keyof Sums, lane: string, value: number])[];
interface Report {
  readonly boot: string;
  readonly figures: Figures;
  readonly lanes: number;
  readonly now: number;
}
/** The figures of the last report, counted since the start of this run of the agent. */
interface Last {
  readonly boot: string;
  readonly figures: ReadonlyMap<string, number>;
}
type Kept = {
  -readonly [K in keyof DeviceView]: K extends 'sums' ? Sums : DeviceView[K];
} & {
  state: Last | null;
  health: Last | null;
  /** Time of the device's first figures. */
  countedSince: number | null;
  /** As the device published it. */
  published: Pick<DeviceView, 'status' | 'reasons'>;
  heardAt: number | null;
  isSilent: boolean;
};

function showStatus(one: Kept): void {
  const { status, reasons } = one.published;
  const isLost = one.isSilent && status !== null && claimsConnection(status);
  one.status = isLost ? 'lost' : status;
  one.reasons = isLost ? ['connection_lost'] : reasons;
}

export function createFleetView(mostDevices = MOST_DEVICES): FleetView {
  const kept = new Map<string, Kept>();
  const sums = noSums();
  let leftOut = 0;

  const change = (device: string, work: (one: Kept) => void): true => {
    const known = kept.get(device);
    if (known !== undefined) work(known);
    else if (kept.size >= mostDevices) leftOut += 1;
    else {
      const added: Kept = {
        status: null,
        version: '',
        reasons: [],
        phases: [],
        sums: noSums(),
        state: null,
        health: null,
        boot: null,
        update: null,
        call: null,
        isImplausible: false,
        countedSince: null,
        published: { status: null, reasons: [] },
        heardAt: null,
        isSilent: false,
      };
      kept.set(device, added);
      work(added);
    }
    return true;
  };

  /** Adds the growth since the last report. The first report only sets the baseline: it may cover days. */
  const grow = (one: Kept, last: Last | null, { boot, figures, lanes, now }: Report): Last => {
    one.countedSince ??= now;
    const passedMs = (now - one.countedSince + LATE_MS) * lanes;
    for (const [sum, lane, value] of last === null ? [] : figures) {
      const before = last?.boot === boot ? (last.figures.get(`${sum} ${lane}`) ?? 0) : 0;
      const most = Math.max(0, passedMs * FASTEST[sum] - one.sums[sum]);
      const more = Math.max(0, value - before);
      if (more > most) one.isImplausible = true;
      one.sums[sum] += Math.min(more, most);
      sums[sum] += Math.min(more, most);
    }
    return { boot, figures: new Map(figures.map(([sum, lane, value]) => [`${sum} ${lane}`, value])) };
  };

  return {
    hearStatus(device, body) {
      const { success, data } = statusFields.safeParse(body);
      if (!success) return false;
      return change(device, (one) => {
        one.published = { status: data.status, reasons: [...new Set(data.reasons.map(knownCode))] };
        one.version = data.version;
        showStatus(one);
      });
    },
    hearState(device, body, now) {
      const { success, data } = stateFields.safeParse(body);
      if (!success) return false;
      const figures = data.lanes.flatMap(
        ({ id, speech_lost_ms, unspoken_ms }): Figures => [
          ['lostMs', id, speech_lost_ms],
          ['unspokenMs', id, unspoken_ms],
        ],
      );
      return change(device, (one) => {
        one.phases = data.lanes.map(({ phase }) => PHASE_NAMES.find((known) => known === phase) ?? OTHER);
        one.state = grow(one, one.state, { boot: data.boot_id, figures, lanes: data.lanes.length, now });
        one.boot = data.boot_id;
        one.update = data.update ?? null;
        one.call = data.help === null ? null : `${data.boot_id} ${data.help.since?.slice(0, 64) ?? ''}`;
      });
    },
    hearHealth(device, body, now) {
      const { success, data } = healthFields.safeParse(body);
      if (!success) return false;
      const figures: Figures = data.lanes.map(({ id, billed_s }) => ['billedS', id, billed_s]);
      return change(device, (one) => {
        one.health = grow(one, one.health, { boot: data.boot_id, figures, lanes: data.lanes.length, now });
      });
    },
    heard(device, now) {
      const one = kept.get(device);
      if (one === undefined) return false;
      one.heardAt = now;
      if (!one.isSilent) return false;
      one.isSilent = false;
      showStatus(one);
      return true;
    },
    noteSilence(listeningSince, now) {
      const lost: string[] = [];
      for (const [name, one] of kept) {
        if (one.isSilent || !isSilent(one.heardAt, listeningSince, now)) continue;
        one.isSilent = true;
        showStatus(one);
        lost.push(name);
      }
      return lost;
    },
    forget(device) {
      kept.delete(device);
    },
    get: (device) => kept.get(device),
    devices: () => kept.entries(),
    get size() {
      return kept.size;
    },
    get leftOut() {
      return leftOut;
    },
    sums,
    summary() {
      const statuses = zeros(DEVICE_STATUSES);
      const reasons = new Map<string, number>();
      const phases = zeros(PHASE_NAMES);
      const versions = new Map<string, number>();
      for (const one of kept.values()) {
        for (const reason of one.reasons) count(reasons, reason);
        for (const phase of one.phases) count(phases, phase);
        if (one.status === null) continue;
        count(statuses, one.status);
        count(versions, versions.has(one.version) || versions.size < MOST_VERSIONS ? one.version : OTHER);
      }
      return { statuses, reasons, phases, versions };
    },
  };
}

const noSums = (): Sums => ({ lostMs: 0, unspokenMs: 0, billedS: 0 });
const zeros = (names: readonly string[]) => new Map(names.map((one) => [one, 0]));

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** @param reason `code` or `code:detail` */
function knownCode(reason: string): ReasonCode | typeof OTHER {
  const code = codeOf(reason);
  return Object.hasOwn(REASONS, code) ? (code as ReasonCode) : OTHER;
}
