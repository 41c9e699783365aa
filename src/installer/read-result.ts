import { readBounded } from '../adapters/bounded-file.ts';
import { parseJson } from '../protocol/common/json.ts';
import { harmless } from '../protocol/common/plain-text.ts';
import { type ProvisioningResult, provisioningResultSchema } from './core/outcome.ts';

const MOST_BYTES = 256 * 1024;

/**
 * Reads the result of `dragoman provision`. The agent's user owns its folder, so nothing is trusted: not its type, size, format or
 * characters.
 * @returns null when it is unusable
 */
export function readResultFile(path: string): ProvisioningResult | null {
  try {
    const read = provisioningResultSchema.safeParse(
      parseJson(readBounded(path, MOST_BYTES)?.toString('utf8') ?? ''),
    );
    if (!read.success) return null;
    const { problems, notes, file } = read.data;
    return {
      ...read.data,
      file: file === null ? null : plain(file),
      problems: problems.map(({ field, message, fix }) => ({
        field: plain(field),
        message: plain(message),
        fix: plain(fix),
      })),
      notes: notes.map(plain),
    };
  } catch {
    return null;
  }
}

const LONGEST_TEXT = 500;
const plain = (text: string): string => harmless(text).replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST_TEXT);
