/** The part of DER (X.690) that certificate requests need: each value is a tag, a length and the content. */

export const TAG = {
  integer: 0x02,
  bits: 0x03,
  object: 0x06,
  utf8: 0x0c,
  printable: 0x13,
  sequence: 0x30,
  set: 0x31,
  attributes: 0xa0,
} as const;

export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** The value with its tag and length: the bytes that are signed. */
  readonly whole: Buffer;
}

/** The input is truncated, too long, or not DER. */
export class DerError extends Error {}

/** Encodes with lengths of one to three bytes: our values are at most 64 KB. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** Parses values in sequence. @throws DerError */
export function readDer(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = readOne(bytes.subarray(at));
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

function readOne(bytes: Buffer): DerValue {
  const [tag = 0, first = 0, second = 0, third = 0] = bytes;
  const [head, length] =
    first < 0x80 ? [2, first] : first === 0x81 ? [3, second] : [4, (second << 8) | third];
  const isShortest = first < 0x80 || (first === 0x81 && second >= 0x80) || (first === 0x82 && second > 0);
  if (!isShortest || bytes.length < head + length) throw new DerError('not DER, or cut off');
  return { tag, content: bytes.subarray(head, head + length), whole: bytes.subarray(0, head + length) };
}
