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

/** Advice for a file that is neither. */
export const SAVE_AS_UTF8 = 'Save it again as UTF-8: in Notepad, "Save as" has "Encoding" at its bottom.';

/** Uses the byte order mark. Without one, every second byte of an ASCII letter is zero. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && second !== undefined))
    return 'utf-16be';
  return 'utf-8';
}
