import { isUtf8 } from 'node:buffer';
import { encodingOf, SAVE_AS_UTF8 } from './encoding.ts';
import { LARGEST_CONFIG_BYTES, readBoundedFile, UnreadableFile } from './read-file.ts';

const LINE_BREAK = 0x0a;

/**
 * Reads a configuration in UTF-8, with or without a byte order mark. Any other encoding would silently produce wrong names.
 * @throws UnreadableFile
 */
export function readConfigText(file: string): string {
  const { bytes } = readBoundedFile(file, LARGEST_CONFIG_BYTES);
  if (encodingOf(bytes) !== 'utf-8') throw new UnreadableFile(`it is UTF-16. ${SAVE_AS_UTF8}`, null);
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const what = `its line ${firstForeignLine(bytes)} holds letters in another encoding than UTF-8`;
  throw new UnreadableFile(`${what}. ${SAVE_AS_UTF8}`, null);
}

/** Splits at line breaks, which never occur within a UTF-8 letter. */
function firstForeignLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(LINE_BREAK, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
