import { isUtf8 } from 'node:buffer';

/**
 * Decodes a file from any editor: UTF-8, or UTF-16 as Notepad and PowerShell write it.
 * @returns null when it is neither
 */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Advice for a file that is not UTF-8. */
export const SAVE_AS_UTF8 = 'Save it again as UTF-8: in Notepad, "Save as" has "Encoding" at its bottom.';

/**
 * Names the encoding of a text that is not UTF-8; null for UTF-8. DER, the binary form of keys and certificates, counts as one.
 */
export function foreignEncoding(bytes: Uint8Array): string | null {
  const [first, second, third, fourth] = bytes;
  const isWide = first === 0 ? second === 0 && third !== 0 : third === 0 && fourth === 0;
  if (bytes.length >= 4 && isWide && encodingOf(bytes.subarray(0, 2)) !== 'utf-8') return 'UTF-32';
  if (bytes.length >= 4 && first === 0 && second === 0 && third === 0xfe) return 'UTF-32';
  if (encodingOf(bytes) !== 'utf-8') return 'UTF-16';
  if (isUtf8(bytes)) return null;
  // ASN.1: a sequence whose length has one to four bytes.
  if (first === 0x30 && second !== undefined && second >= 0x81 && second <= 0x84)
    return 'DER (binary), not PEM';
  return 'another encoding than UTF-8, such as Latin-1 or Windows-1252';
}

/** Detects UTF-16 by its byte order mark or, without one, by the zero byte of an ASCII letter. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && second !== undefined))
    return 'utf-16be';
  return 'utf-8';
}
