import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Config } from '../../protocol/config.ts';

const LENGTH = 16;

/**
 * A fingerprint of the value of each top-level key; the schema fixes the order of nested keys. Of a file path only the name counts:
 * the agent's unit reads secrets from a credentials folder, a person's doctor from beside the configuration.
 */
export function fingerprints(config: Config): Record<string, string> {
  const pairs = Object.entries(config).map(([key, value]): [string, string] => {
    const hash = createHash('sha256').update(JSON.stringify(value, withoutFolder)).digest('hex');
    return [key, hash.slice(0, LENGTH)];
  });
  return Object.fromEntries(pairs);
}

/** The top-level keys that differ. */
export function differingKeys(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((key) => one[key] !== other[key]);
}

function withoutFolder(key: string, value: unknown): unknown {
  if (key.endsWith('File') && typeof value === 'string') return basename(value);
  if (key.endsWith('Files') && Array.isArray(value)) return value.map((name) => basename(String(name)));
  return value;
}
