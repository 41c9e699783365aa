/** The machine's sound cards, as its kernel reports them. */

export type Direction = 'capture' | 'playback';

/** The abilities of a device; a list is empty when unknown. */
export interface Ability {
  /** As ALSA names them: "S16_LE". */
  readonly formats: readonly string[];
  readonly channels: readonly Span[];
  /** Samples per second. */
  readonly rates: readonly Span[];
}

/** From `least` to `most`, both included; one number where they are equal. */
export interface Span {
  readonly least: number;
  readonly most: number;
}

export const UNKNOWN_ABILITY: Ability = { formats: [], channels: [], rates: [] };

/** A program that has a device open. */
export interface Holder {
  /** Null when the kernel does not report it, as for a program in another container. */
  readonly pid: number | null;
  /** For an operator: "arecord", or "arecord of dragoman". */
  readonly program: string;
}

/** One direction of one device of a card. */
export interface CardStream {
  readonly direction: Direction;
  /** Number of the device on its card, nearly always 0. */
  readonly device: number;
  readonly name: string;
  readonly ability: Ability;
  /** How many programs may open it at once. */
  readonly places: number;
  /** One entry for each place in use; a program may hold several places. */
  readonly holders: readonly Holder[];
}

/** A USB card's socket and model. */
export interface UsbPlace {
  /** The kernel's name for socket and interface, the same after each boot: "1-1.3:1.0". Null when unknown. */
  readonly port: string | null;
  /** Vendor and product, "0d8c:0014"; the same for identical cards. */
  readonly model: string | null;
}

export interface Card {
  /** Changes between boots and when cards come and go: never store it. */
  readonly index: number;
  /** The name of the card in a configuration. */
  readonly id: string;
  readonly driver: string;
  readonly name: string;
  /** Null for a card that is not on the USB. */
  readonly usb: UsbPlace | null;
  readonly streams: readonly CardStream[];
  /** Whether this user may open the card; null when unknown. */
  readonly isAllowed: boolean | null;
}

/** Folders where the kernel describes the machine; tests put recorded folders there. */
export interface MachineFolders {
  readonly proc: string;
  readonly sys: string;
  readonly dev: string;
}

export const MACHINE_FOLDERS: MachineFolders = { proc: '/proc', sys: '/sys', dev: '/dev' };

/** Whether all places are taken, so that no other program can open it now. */
export function isBusy(stream: CardStream): boolean {
  return stream.holders.length >= stream.places;
}

/**
 * The name of a card's stream in a configuration: the card's id, with all conversions that the device may need. HDMI hardware does
 * not accept plain samples; the card's `sysdefault` converts them.
 */
export function addressOf(card: Card, stream: CardStream): string {
  if (isHdmi(card, stream)) return `sysdefault:CARD=${card.id}`;
  return `plughw:CARD=${card.id}${stream.device === 0 ? '' : `,DEV=${stream.device}`}`;
}

function isHdmi({ driver }: Card, { ability, device }: CardStream): boolean {
  if (device !== 0) return false;
  const { formats } = ability;
  const takesOnlyFrames = formats.length > 0 && formats.every((format) => format.startsWith('IEC958'));
  return takesOnlyFrames || driver === 'vc4-hdmi';
}

/** "arecord of dragoman (pid 812) and mpd (pid 900)"; a program that holds several places is named once. */
export function describeHolders(holders: readonly Holder[]): string {
  const names = holders.map(({ pid, program }) => (pid === null ? program : `${program} (pid ${pid})`));
  const [last = 'no program', ...others] = [...new Set(names)].reverse();
  return others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`;
}
