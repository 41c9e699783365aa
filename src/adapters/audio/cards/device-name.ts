/** The card and device that an ALSA device name refers to. */
export interface DeviceName {
  /** "hw", "plughw", "dsnoop", ... */
  readonly plugin: string;
  /** The card's id, or its number, which changes between boots. */
  readonly card: string | number;
  readonly device: number;
}

/** Parses "plughw:CARD=Mic,DEV=0", "hw:1,0" or "plughw:Mic"; null for a name without a card, such as "default". */
export function parseDeviceName(name: string): DeviceName | null {
  const [, plugin = '', rest = ''] = /^\s*(\w+):(.+?)\s*$/.exec(name) ?? [];
  if (rest === '') return null;
  const words = rest.split(',').map((word) => word.trim());
  const named = (key: string): string | undefined =>
    words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1);
  const isNamed = words.some((word) => word.includes('='));
  const card = isNamed ? named('CARD') : words[0];
  const device = (isNamed ? named('DEV') : words[1]) ?? '0';
  if (card === undefined || !/^[\w-]+$/.test(card) || !/^\d+$/.test(device)) return null;
  return { plugin, card: /^\d+$/.test(card) ? Number(card) : card, device: Number(device) };
}
