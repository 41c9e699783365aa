/** The secrets of a document: which there are, which were taken out of it, and what it is without them. */
import { isObject } from '../../protocol/json.ts';
import type { ProvisioningDocument } from '../../protocol/provisioning.ts';

/** Where they stand; each is null when it was taken out. */
const SECRETS = [['wifi', 'passphrase'], ['secrets', 'mqtt-password'], ['keyPem']] as const;

function textAtPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (holder, step) => (isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined),
    value,
  );
}

/** A shorter one is in too many words to be hidden in them. */
const SHORTEST_HIDDEN = 5;

/** Of whatever a file holds: what must not be told, wherever else somebody has written it, too. */
export function secretTexts(value: unknown): string[] {
  return SECRETS.map((path) => textAtPath(value, path)).filter(
    (text): text is string => typeof text === 'string' && text.length >= SHORTEST_HIDDEN,
  );
}

/** Whether there is something to be taken out. */
export function holdsSecrets(document: ProvisioningDocument): boolean {
  return SECRETS.some((path) => typeof textAtPath(document, path) === 'string');
}

/** What was taken out is null from then on; all else stays as it was written, but for comments. */
export function withoutSecrets(value: unknown): unknown {
  return SECRETS.reduce<unknown>(without, value);
}

function without(value: unknown, [step = '', ...rest]: readonly string[]): unknown {
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  const part = value[step];
  if (rest.length > 0) return { ...value, [step]: without(part, rest) };
  return typeof part === 'string' ? { ...value, [step]: null } : value;
}
