/** What the program inside asks somebody outside to do with the USB loudspeaker; `keep`: what it has said since goes into a piece of its own. */
export type UsbRequest = 'plug' | 'pull' | 'keep';

/** Told at the very moment before the power is cut: nothing of it is on a disk. */
export interface PowerCut {
  readonly kind: 'cut';
  /** Ids of commands. */
  readonly sent: readonly string[];
  /** Of these: what had been answered as done. */
  readonly answered: readonly string[];
}

/** Told by the next start. */
export interface AfterCut {
  readonly kind: 'survived';
  /** What the disk had of the commands, before the agent could write again: a digest of the id, and a status. */
  readonly remembered: readonly (readonly [string, string | undefined])[];
  /** From the start of the machine. */
  readonly liveS: number;
  /** A command that had been answered was sent again. */
  readonly isDoneTwice: boolean;
  /** Lines of the agent's log that tell of a damaged file or a defect. */
  readonly damage: readonly string[];
  /** How often systemd has started the agent again. */
  readonly restarts: number;
}

/** What is told from inside the machine, a line of JSON each. */
export type Report =
  | PowerCut
  | AfterCut
  | { readonly kind: 'asked'; readonly usb: UsbRequest }
  | { readonly kind: 'began'; readonly scenario: string; readonly atS: number }
  | {
      readonly kind: 'ended';
      readonly scenario: string;
      /** By the machine's clock, since it was switched on. */
      readonly atS: number;
      /** What was measured and found. */
      readonly found: Readonly<Record<string, unknown>>;
      /** What the loudspeaker said: 24 kHz, one channel, 16 bits, in base64. */
      readonly sound: string | null;
      /** Its last words at the broker and in its journal. */
      readonly told: readonly string[];
      /** Why it could not be carried out; null where it was. */
      readonly problem: string | null;
    };

/** In this order, as far as time allows: what matters most comes first. */
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

/** Where the owner of the device is, behind a cable that can be pulled; and the device, on its side. */
export const OWNER_ADDRESS = '10.0.2.100';
export const DEVICE_ADDRESS = '10.0.2.15';
/** Where whoever watches reaches the broker, also while that cable is pulled. */
export const DESK_ADDRESS = '10.0.3.100';
export const PORTS = { device: 8883, people: 8884, service: 443 };

/** What the program inside finds where it is unpacked. */
export interface Order {
  readonly scenarios: readonly ScenarioName[];
  /** Of the page that tells how to install. */
  readonly lines: readonly { readonly line: string; readonly isAnswered: boolean }[];
  /** The device's configuration. */
  readonly configuration: string;
  /** Where the owner's folder lies. */
  readonly folder: string;
  /** Power cuts. */
  readonly cuts: number;
  /** For the backend, in its environment. */
  readonly backend: Readonly<Record<string, string>>;
  /** For the emulator, after its name. */
  readonly emulator: readonly string[];
}
