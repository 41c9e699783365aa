import { withoutEditorMarks } from '../../protocol/common/plain-text.ts';
import { foreignEncoding, SAVE_AS_UTF8 } from './encoding.ts';
import { readBoundedFile, UnreadableFile } from './read-file.ts';

export interface TextFile {
  /** Without a byte order mark and without the final line break. */
  readonly text: string;
  /** The file's bytes without a byte order mark. */
  readonly bytes: Buffer;
  /** Permissions of the very file that was read. */
  readonly mode: number;
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const PEM_BLOCK = /^-----BEGIN /m;
const AS_PEM =
  'Convert it to PEM: "openssl x509 -inform der" for a certificate, "openssl pkey -inform der" for a key.';

/**
 * Reads a secret, a key or a certificate. Every such file is read here, so that the same rules apply to all of them. The blocks of
 * a PEM file are ASCII; the text between them, such as OpenSSL's names, may have any encoding.
 * @throws UnreadableFile, also for another encoding than UTF-8
 */
export function readTextFile(file: string, limitBytes: number): TextFile {
  const { bytes: found, mode } = readBoundedFile(file, limitBytes);
  const isMarked = found.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const bytes = isMarked ? found.subarray(BYTE_ORDER_MARK.length) : found;
  const foreign = foreignEncoding(bytes);
  if (foreign === null) return { text: withoutEditorMarks(bytes.toString('utf8')), bytes, mode };
  const text = bytes.toString('latin1');
  if (PEM_BLOCK.test(text)) return { text: withoutEditorMarks(text), bytes, mode };
  throw new UnreadableFile(`it is ${foreign}. ${foreign.startsWith('DER') ? AS_PEM : SAVE_AS_UTF8}`, null);
}

/** Why a file cannot be read, as the end of a sentence about it. */
export function unreadableReason(error: unknown): string {
  return `: ${error instanceof UnreadableFile ? error.message : 'unknown reason'}`;
}
