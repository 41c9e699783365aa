/** The file on the boot partition: found, read, and decoded whatever editor has written it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROVISIONING_FILE, type ProvisioningProblem } from '../../core/provisioning/outcome.ts';
import { readBoundedFile, UnreadableFile } from '../config/read-file.ts';

/** Twenty certificates with their chains have a tenth of that. */
const LARGEST_BYTES = 1_000_000;
/** What Windows makes of the name, whose end it hides, and what copies are called. */
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

/** Names beside the file that somebody may have meant for it. */
export function similarNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => WRONG_NAME.test(name) && name.toLowerCase() !== PROVISIONING_FILE)
      .sort();
  } catch {
    return [];
  }
}

function misnamed(folder: string): BootFile {
  const [name] = similarNames(folder);
  if (name === undefined) return { kind: 'none' };
  return unreadable(
    `is not there, but ${JSON.stringify(name)} is`,
    `Rename it to ${PROVISIONING_FILE}. Windows hides the end of a name: in the Explorer, View, "File name extensions" shows it.`,
  );
}

function unreadable(what: string, fix: string): BootFile {
  return { kind: 'unreadable', problem: { field: '', message: `${PROVISIONING_FILE} ${what}`, fix } };
}

/** UTF-8, or UTF-16 with its mark, as Notepad may write it. */
function decode(bytes: Buffer): BootFile {
  const mark = bytes.subarray(0, 2).toString('hex');
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
  try {
    return { kind: 'text', text: new TextDecoder(encoding, { fatal: true }).decode(bytes) };
  } catch {
    return unreadable(
      'holds letters in another encoding than UTF-8',
      'Save it again as UTF-8: in Notepad, "Save as" has "Encoding" at its bottom.',
    );
  }
}
