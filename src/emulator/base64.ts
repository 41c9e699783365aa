const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PADDING = '='.charCodeAt(0);
const ENCODE = Uint8Array.from(LETTERS, (letter) => letter.charCodeAt(0));
/** Value of each byte as a base64 letter, including the URL-safe ones; -1 for any other byte. */
const DECODE = new Int8Array(256).fill(-1);
for (let value = 0; value < 64; value++) DECODE[ENCODE[value] as number] = value;
DECODE['-'.charCodeAt(0)] = 62;
DECODE['_'.charCodeAt(0)] = 63;

/**
 * Decodes base64 directly from bytes, without creating a string: most of a stream is sound, and strings of that size
 * keep the garbage collector busy.
 * @returns null if the bytes are not base64
 */
export function decodeBase64(bytes: Uint8Array, from: number, to: number): Uint8Array | null {
  let end = to;
  while (end > from && to - end < 2 && bytes[end - 1] === PADDING) end--;
  const letters = end - from;
  const rest = letters & 3;
  if (rest === 1) return null;
  const output = new Uint8Array(Math.floor((letters * 3) / 4));
  const whole = end - rest;
  let out = 0;
  let bad = 0;
  for (let at = from; at < whole; at += 4) {
    const a = DECODE[bytes[at] as number] as number;
    const b = DECODE[bytes[at + 1] as number] as number;
    const c = DECODE[bytes[at + 2] as number] as number;
    const d = DECODE[bytes[at + 3] as number] as number;
    bad |= a | b | c | d;
    output[out++] = (a << 2) | (b >> 4);
    output[out++] = (b << 4) | (c >> 2);
    output[out++] = (c << 6) | d;
  }
  if (rest > 0) {
    const a = DECODE[bytes[whole] as number] as number;
    const b = DECODE[bytes[whole + 1] as number] as number;
    const c = rest === 3 ? (DECODE[bytes[whole + 2] as number] as number) : 0;
    bad |= a | b | c;
    output[out++] = (a << 2) | (b >> 4);
    if (rest === 3) output[out++] = (b << 4) | (c >> 2);
  }
  return bad < 0 ? null : output;
}

/** Number of base64 characters for this many bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Writes bytes as base64 into `target`. @returns the position after the last character */
export function encodeBase64(bytes: Uint8Array, target: Uint8Array, from: number): number {
  const whole = bytes.length - (bytes.length % 3);
  let out = from;
  for (let at = 0; at < whole; at += 3) {
    const word = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
    target[out++] = ENCODE[word >> 18] as number;
    target[out++] = ENCODE[(word >> 12) & 63] as number;
    target[out++] = ENCODE[(word >> 6) & 63] as number;
    target[out++] = ENCODE[word & 63] as number;
  }
  if (whole === bytes.length) return out;
  const two = bytes.length - whole === 2;
  const word = ((bytes[whole] as number) << 16) | (two ? (bytes[whole + 1] as number) << 8 : 0);
  target[out++] = ENCODE[word >> 18] as number;
  target[out++] = ENCODE[(word >> 12) & 63] as number;
  target[out++] = two ? (ENCODE[(word >> 6) & 63] as number) : PADDING;
  target[out++] = PADDING;
  return out;
}
