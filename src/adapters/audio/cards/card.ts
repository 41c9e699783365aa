/** What a machine's kernel tells of its sound cards. */

export type Direction = 'capture' | 'playback';

/** What a device can do; a list is empty where nobody tells. */
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
  /** Null where the kernel does not say it, as for a program of another container. */
  readonly pid: number | null;
  /** In the words of an operator: "arecord", or "arecord of dragoman". */
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
  /** One for each place that is taken; a program may have several. */
  readonly holders: readonly Holder[];
}

/** Where a USB card is plugged in and what it is. */
export interface UsbPlace {
  /** The kernel's name of the socket and interface, the same after each boot: "1-1.3:1.0". Null where it is not told. */
  readonly port: string | null;
  /** Vendor and product, "0d8c:0014"; equal cards are equal in this. */
  readonly model: string | null;
}

export interface Card {
  /** Changes between boots and as cards come and go: never to be written down. */
  readonly index: number;
  /** What a configuration names the card by. */
  readonly id: string;
  readonly driver: string;
  readonly name: string;
  /** Null for a card that is not on the USB. */
  readonly usb: UsbPlace | null;
  readonly streams: readonly CardStream[];
  /** Whether this user may open it; null where that can't be told. */
  readonly isAllowed: boolean | null;
}

/** Where the kernel tells of the machine; tests put recorded folders there. */
export interface MachineFolders {
  readonly proc: string;
  readonly sys: string;
  readonly dev: string;
}

export const MACHINE_FOLDERS: MachineFolders = { proc: '/proc', sys: '/sys', dev: '/dev' };

/** Whether nobody else can open it now. */
export function isBusy(stream: CardStream): boolean {
  return stream.holders.length >= stream.places;
}

/**
 * What a configuration calls a stream of a card: by the card's id, with every conversion that the device may need. The
 * hardware of an HDMI output takes no plain samples; its card's own default converts them.
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
