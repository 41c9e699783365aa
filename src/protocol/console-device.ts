/** One device in the owner's console. Captions are not part of it. */
import type { DesiredDocument } from './console-config.ts';
import type { FleetRow } from './console-fleet.ts';

export interface DeviceDetail {
  readonly row: FleetRow;
  /** `dragoman/v1/museum/kiosk-01` */
  readonly topic: string;
  /** When the last message came; null: none since the backend's start. */
  readonly heardAt: string | null;
  readonly lanes: readonly DeviceLane[];
  readonly budget: { readonly usedMinutes: number; readonly minutesPerDay: number } | null;
  /** The latest health; null: none yet. */
  readonly health: DeviceVitals | null;
  /** The latest events, newest last; 20 at most, since the backend's start. */
  readonly events: readonly DeviceEvent[];
  /** End of the device's log streaming, as known by this backend; null: no streaming. */
  readonly logUntil: string | null;
}

export interface DeviceLane {
  readonly id: string;
  readonly phase: string;
  readonly source: string;
  readonly targets: readonly string[];
  readonly muted: boolean;
  readonly volume: number | null;
  readonly capture: string;
  readonly playback: string;
  readonly captureFindings: readonly string[];
  readonly echo: string;
  readonly session: string | null;
  readonly streamHost: string | null;
  readonly nextTryAt: string | null;
  readonly closedUntil: string | null;
  readonly inConversation: boolean;
  readonly speechLostMs: number;
  readonly unspokenMs: number;
  readonly speechDroppedMs: number;
  readonly lastError: DeviceNotice | null;
  readonly lastWarning: DeviceNotice | null;
  /**
   * From the latest health: level of the room, and the 99th percentiles of both delays, microphone to network and network to
   * loudspeaker.
   */
  readonly levelDbfs: number | null;
  readonly captureToWireMs: number | null;
  readonly wireToSpeakerMs: number | null;
}
export interface DeviceNotice {
  readonly at: string | null;
  readonly code: string;
  readonly message: string;
}

export interface DeviceVitals {
  readonly at: string | null;
  readonly rssBytes: number | null;
  readonly temperatureC: number | null;
  readonly uptimeS: number;
  readonly loopLagMs: number | null;
  readonly reconnects: number;
  readonly outboxDropped: number;
}

/** How the console's page shows a value, by the type that the value must have. */
export interface FieldFormats {
  /** Null: "none". */
  readonly text: string | null;
  /** Null: "unknown". */
  readonly number: number | null;
  /** Null: "unknown". */
  readonly time: string | null;
  /** No entry for null. */
  readonly timeIfAny: string | null;
  /** A duration in ms that is a warning; no entry for 0. */
  readonly lossMs: number;
}
type FormatOf<Value> = {
  [Format in keyof FieldFormats]: Value extends FieldFormats[Format] ? Format : never;
}[keyof FieldFormats];
type Fields<Of> = {
  readonly [Name in keyof Of]?: { readonly label: string; readonly as: FormatOf<Of[Name]> };
};

export interface Sheets {
  readonly lane: DeviceLane;
  readonly device: DeviceDetail;
  readonly health: DeviceVitals;
}

/** What the sheets of a device list, in their order. `now.tsx` adds the entries that it has to draw itself. */
export const FIELDS = {
  lane: {
    playback: { label: 'Loudspeaker', as: 'text' },
    echo: { label: 'Echo', as: 'text' },
    streamHost: { label: 'Service', as: 'text' },
    nextTryAt: { label: 'Next attempt', as: 'timeIfAny' },
    closedUntil: { label: 'Closed until', as: 'timeIfAny' },
    speechLostMs: { label: 'Lost speech', as: 'lossMs' },
    unspokenMs: { label: 'Unspoken', as: 'lossMs' },
    speechDroppedMs: { label: 'Not played', as: 'lossMs' },
  },
  device: {
    heardAt: { label: 'Last heard', as: 'time' },
  },
  health: {
    reconnects: { label: 'Reconnections to the broker', as: 'number' },
    at: { label: 'Measured', as: 'time' },
  },
} as const satisfies { readonly [Sheet in keyof Sheets]: Fields<Sheets[Sheet]> };

export interface DeviceEvent {
  /** Sequence number over the events of all devices since the backend's start. */
  readonly number: number;
  /** Time of the occurrence; null: the device's clock was not set. */
  readonly at: string | null;
  readonly kind: string;
  readonly lane: string | null;
  /** The event's `message`; null: it has none. */
  readonly message: string | null;
  /** The other fields that are texts, numbers or booleans. */
  readonly fields: Readonly<Record<string, string | number | boolean | null>>;
}

/** The last 24 hours in steps, oldest first. Each value is the worst of its step; null: no report. */
export interface DeviceHealth {
  /** Start time of the first step. */
  readonly from: string;
  readonly stepS: number;
  readonly series: Readonly<Record<HealthSeries, readonly (number | null)[]>>;
}
/** In the order of the page, with their English headings. */
export const HEALTH_HEADINGS = {
  captureToWireMs: 'Delay to the service, 99 % (ms)',
  wireToSpeakerMs: 'Delay to the loudspeaker, 99 % (ms)',
  levelDbfs: 'Level of the room (dBFS)',
  speechLostS: 'Lost speech (s)',
  cpuPercent: 'Processor (%)',
  rssMb: 'Memory (MB)',
  temperatureC: 'Temperature (°C)',
  loopLagMs: 'Event loop, 99 % (ms)',
} as const;
export type HealthSeries = keyof typeof HEALTH_HEADINGS;
export const HEALTH_SERIES = Object.keys(HEALTH_HEADINGS) as readonly HealthSeries[];

/** Desired and reported configuration. */
export interface DeviceConfig {
  /** The device's own document; null: none. */
  readonly desired: DesiredDocument | null;
  /** Documents of its groups, in order; later ones win. */
  readonly groups: readonly { readonly group: string; readonly desired: DesiredDocument | null }[];
  /** Null: no report yet. */
  readonly reported: {
    readonly at: string | null;
    readonly versions: Readonly<Record<string, number>>;
    readonly effective: unknown;
    readonly errors: readonly { readonly from: string; readonly key: string; readonly message: string }[];
  } | null;
  /** Keys whose value in force differs from the device's own document. */
  readonly differences: readonly {
    readonly key: string;
    readonly desired: unknown;
    readonly effective: unknown;
  }[];
}
