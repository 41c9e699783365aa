/** The secrets of a document: finding them, and removing them. */

import { isObject } from '../../protocol/common/json.ts';
import { withoutEditorMarks } from '../../protocol/common/plain-text.ts';
import type { ProvisioningDocument } from '../../protocol/provisioning.ts';

/** Paths of the secrets; each is null after it was removed. */
const SECRETS = [['wifi', 'passphrase'], ['secrets', 'mqtt-password'], ['keyPem']] as const;

function textAtPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (holder, step) => (isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined),
    value,
  );
}

/** Shortest secret that is hidden in texts (characters): a shorter one is part of too many words. */
const SHORTEST_HIDDEN = 5;

/** Secret texts in a file, which must be hidden wherever else they appear. */
export function secretTexts(value: unknown): string[] {
  return SECRETS.flatMap((path) => {
    const text = textAtPath(value, path);
    // Without byte order mark and line end, which a repetition may lack.
    const used = typeof text === 'string' ? withoutEditorMarks(text) : '';
    return used.length >= SHORTEST_HIDDEN ? [used] : [];
  });
}

/** Whether the document has secrets to remove. */
export function holdsSecrets(document: ProvisioningDocument): boolean {
  return SECRETS.some((path) => typeof textAtPath(document, path) === 'string');
}

/** Replaces the secrets by null; all else stays as written, except comments. */
export function withoutSecrets(value: unknown): unknown {
  return SECRETS.reduce<unknown>(without, value);
}

function without(value: unknown, [step = '', ...rest]: readonly string[]): unknown {
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  const part = value[step];
  if (rest.length > 0) return { ...value, [step]: without(part, rest) };
  return typeof part === 'string' ? { ...value, [step]: null } : value;
}
