import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type ProvisioningResult, provisioningResultSchema } from '../../core/provisioning/outcome.ts';
import { parseJson } from '../../protocol/json.ts';
import { harmless } from '../../protocol/plain-text.ts';

const MOST_BYTES = 256 * 1024;

/**
 * Reads the result of `dragoman provision`. The agent's user owns its folder, so nothing is trusted: not its type, size, format or
 * characters.
 * @returns null when it is unusable
 */
export function readResultFile(path: string): ProvisioningResult | null {
  try {
    const read = provisioningResultSchema.safeParse(parseJson(readBounded(path)));
    if (!read.success) return null;
    const { problems, notes, file } = read.data;
    return {
      ...read.data,
      file: file === null ? null : plain(file),
      problems: problems.map(({ field, message, fix }) => ({
        ...{ field: plain(field), message: plain(message), fix: plain(fix) },
      })),
      notes: notes.map(plain),
    };
  } catch {
    return null;
  }
}

const LONGEST_TEXT = 500;
const plain = (text: string): string => harmless(text).replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST_TEXT);

function readBounded(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    if (!found.isFile() || found.size > MOST_BYTES) throw new Error('not a file of ours');
    const bytes = Buffer.alloc(found.size);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}
