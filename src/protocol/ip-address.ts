/** IP addresses compared as numbers: one address has many spellings. */

const BRACKETS_AND_ZONE = /^\[|\]$|%.*$/g;
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/** Normalises an address: dotted IPv4 (also if mapped into IPv6), IPv6 as in RFC 5952. Other text is unchanged. */
export function plainAddress(address: string): string {
  const text = address.replace(BRACKETS_AND_ZONE, '');
  if (!text.includes(':')) return text;
  const groups = groupsOf(text);
  if (groups === null) return address;
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : spell(text);
}

/** The network of one customer: an IPv4 address, or a /64 of IPv6. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  const groups = plain.includes(':') ? groupsOf(plain) : null;
  return groups === null
    ? plain
    : `${groups
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(':')}::/64`;
}

/** Whether a text is an IPv4 address, or an IPv6 address with or without brackets. */
export function isAddress(text: string): boolean {
  const plain = plainAddress(text);
  return IPV4.test(plain) ? plain.split('.').every((part) => Number(part) < 256) : groupsOf(plain) !== null;
}

/** `URL` parses every spelling and writes the shortest one. */
function spell(ipv6: string): string {
  return new URL(`http://[${ipv6}]`).hostname.slice(1, -1);
}

/** The eight groups of an IPv6 address; null: not an IPv6 address. */
function groupsOf(ipv6: string): readonly number[] | null {
  if (!ipv6.includes(':') || !URL.canParse(`http://[${ipv6}]`)) return null;
  const [head = '', tail] = spell(ipv6).split('::');
  const read = (text: string): number[] =>
    text
      .split(':')
      .filter((group) => group !== '')
      .map((group) => Number.parseInt(group, 16));
  const [first, last] = [read(head), read(tail ?? '')];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}
