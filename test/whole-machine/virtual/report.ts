/** Requests to the host about the USB loudspeaker. `keep`: store its sound so far as a separate piece. */
export type UsbRequest = 'plug' | 'pull' | 'keep';

/** The report directly before a power cut; it is not written to the disk. */
export interface PowerCut {
  readonly kind: 'cut';
  /** Ids of commands. */
  readonly sent: readonly string[];
  /** Those of `sent` that were answered with success. */
  readonly answered: readonly string[];
}

/** The report of the next start. */
export interface AfterCut {
  readonly kind: 'survived';
  /** Commands on the disk before the agent could write again: digest of the id, and status. */
  readonly remembered: readonly (readonly [string, string | undefined])[];
  /** Time from the start of the machine (s). */
  readonly liveS: number;
  /** Whether an answered command was executed again when it was repeated. */
  readonly isDoneTwice: boolean;
  /** Lines of the agent's log about a damaged file or a defect. */
  readonly damage: readonly string[];
  /** Number of restarts by systemd. */
  readonly restarts: number;
}

/** Reports from inside the machine, one line of JSON each. */
export type Report =
  | PowerCut
  | AfterCut
  | { readonly kind: 'asked'; readonly usb: UsbRequest }
  | { readonly kind: 'began'; readonly scenario: string; readonly atS: number }
  | {
      readonly kind: 'ended';
      readonly scenario: string;
      /** Time since power-on by the machine's clock. */
      readonly atS: number;
      /** Measured values. */
      readonly found: Readonly<Record<string, unknown>>;
      /** Sound of the loudspeaker: 24 kHz, one channel, 16 bits, in base64. */
      readonly sound: string | null;
      /** Last messages at the broker and lines in the journal. */
      readonly told: readonly string[];
      /** Why the scenario failed to run; null if it ran. */
      readonly problem: string | null;
    };

/** Scenarios in their order, most important first, as far as time allows. */
export const SCENARIOS = [
  'installation',
  'recording',
  'network-8s',
  'broker',
  'microphone',
  'crashes',
  'full-disk',
  'clock',
  'network-3min',
  'killed',
  'upgrade',
  'hung',
  'crashes-with-pause',
  'memory-bound',
  'read-only',
  'usb-loudspeaker',
  'power',
] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

/** Address of the owner's programs, behind a cable that can be pulled; and the device's address. */
export const OWNER_ADDRESS = '10.0.2.100';
export const DEVICE_ADDRESS = '10.0.2.15';
/** Address of the broker for the test, which works while that cable is pulled. */
export const DESK_ADDRESS = '10.0.3.100';
export const PORTS = { device: 8883, people: 8884, service: 443 };

/** The order for the program inside, in its folder. */
export interface Order {
  readonly scenarios: readonly ScenarioName[];
  /** Lines of the installation page. */
  readonly lines: readonly { readonly line: string; readonly isAnswered: boolean }[];
  /** The device's configuration. */
  readonly configuration: string;
  /** Path of the owner's folder. */
  readonly folder: string;
  /** Number of power cuts. */
  readonly cuts: number;
  /** Environment of the backend. */
  readonly backend: Readonly<Record<string, string>>;
  /** Arguments of the emulator. */
  readonly emulator: readonly string[];
}
