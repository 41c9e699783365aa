/** The file on the boot partition: finds, reads and decodes it, whichever editor wrote it. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decodeText, SAVE_AS_UTF8 } from '../adapters/config/encoding.ts';
import { readBoundedFile, UnreadableFile } from '../adapters/config/read-file.ts';
import { PROVISIONING_FILE, type ProvisioningProblem } from './core/outcome.ts';

/** Largest file (bytes): twenty certificates with their chains take a tenth of this. */
const LARGEST_BYTES = 1_000_000;
/** Names that Windows gives the file because of a hidden extension, and names of copies. */
const WRONG_NAME =
  /^dragoman(\.json)?(\.json|\.txt|\.jsonc)?( ?-? ?\(?(copy|\d)\)?)?(\.json)?(\.txt|\.json)?$/i;

export type BootFile =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly problem: ProvisioningProblem }
  | { readonly kind: 'text'; readonly text: string };

export function readBootFile(folder: string): BootFile {
  const file = join(folder, PROVISIONING_FILE);
  try {
    return decode(readBoundedFile(file, LARGEST_BYTES).bytes);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    if (error.code === 'ENOENT') return misnamed(folder);
    return unreadable(`cannot be read: ${error.message}`, 'Write it again.');
  }
}

/** Similar names beside the file, probably meant for it. On FAT the file's own name may differ in letter case. */
export function similarNames(folder: string): string[] {
  const own = identity(join(folder, PROVISIONING_FILE));
  const isOther = (name: string): boolean => own === null || identity(join(folder, name)) !== own;
  try {
    return readdirSync(folder)
      .filter((name) => WRONG_NAME.test(name) && name !== PROVISIONING_FILE && isOther(name))
      .sort();
  } catch {
    return [];
  }
}

function identity(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

function misnamed(folder: string): BootFile {
  const [name] = similarNames(folder);
  if (name === undefined) return { kind: 'none' };
  const why =
    name.toLowerCase() === PROVISIONING_FILE
      ? 'File names are case-sensitive on this disk.'
      : 'Windows hides file name extensions: in the Explorer, View, "File name extensions" shows them.';
  return unreadable(
    `does not exist, but ${JSON.stringify(name)} does`,
    `Rename it to ${PROVISIONING_FILE}. ${why}`,
  );
}

function unreadable(what: string, fix: string): BootFile {
  return { kind: 'unreadable', problem: { field: '', message: `${PROVISIONING_FILE} ${what}`, fix } };
}

const NOT_WRITTEN_WHOLE = 'Write it again, and have the PC eject the card before you take it out.';

function decode(bytes: Buffer): BootFile {
  // A card that is removed early has file names without contents.
  if (bytes.every((byte) => byte === 0))
    return unreadable(bytes.length === 0 ? 'is empty' : 'holds nothing but zeros', NOT_WRITTEN_WHOLE);
  const text = decodeText(bytes);
  if (text === null) return unreadable('holds letters in another encoding than UTF-8', SAVE_AS_UTF8);
  if (text.trim() === '') return unreadable('is empty', NOT_WRITTEN_WHOLE);
  // After an early removal of the card, whole clusters may be zero.
  if (text.includes('\0')) return unreadable('holds zeros in place of text', NOT_WRITTEN_WHOLE);
  return { kind: 'text', text };
}
