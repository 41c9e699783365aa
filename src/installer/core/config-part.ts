/** The file's part of the agent's configuration: as written, with the paths of its separate files filled in. */
import { isObject, parseJson } from '../../protocol/common/json.ts';
import type { ProvisioningDocument } from '../../protocol/provisioning.ts';
import type { ProvisioningProblem } from './outcome.ts';
import { ownerKeyPlace, PLACES } from './places.ts';

export interface ConfigPart {
  /** Null: the file contains no configuration. */
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly problems: readonly ProvisioningProblem[];
}

interface NamedPart {
  /** Key in dragoman.json. */
  readonly part: string;
  readonly isGiven: boolean;
  readonly section: 'mqtt' | 'owner';
  readonly key: string;
  readonly place: string | readonly string[];
}

/**
 * @param before part of an earlier file; null: none. Settings that this file leaves out stay: the whole configuration, or the
 *   path of an earlier certificate or password.
 */
export function configPart(document: ProvisioningDocument, before: string | null): ConfigPart {
  const parts = namedParts(document);
  if (document.config === undefined && !parts.some(({ isGiven }) => isGiven))
    return { value: null, problems: [] };
  const parsedBefore = before === null ? null : parseJson(before);
  const earlier = isObject(parsedBefore) ? parsedBefore : {};
  let value: Record<string, unknown> = { ...(document.config ?? earlier) };
  const problems: ProvisioningProblem[] = [];
  for (const part of parts) {
    const { section, key } = part;
    const present = value[section];
    // Values that are not objects are rejected by the configuration's own schema.
    if (present !== undefined && !isObject(present)) continue;
    const place = part.isGiven ? part.place : keptPlace(part, present ?? {}, earlier);
    if (place === null) continue;
    const named = present?.[key];
    if (named !== undefined && named !== null && !isSamePlace(named, place))
      problems.push({
        field: `config.${section}.${key}`,
        message: `names a file other than the one to which "${part.part}" is written`,
        fix: `Leave "${key}" out of "${section}": it is filled in automatically.`,
      });
    else value = { ...value, [section]: { ...present, [key]: place } };
  }
  return { value, problems };
}

/** Path of a part that this file does not have: that of the earlier part, unless this file's configuration names one. */
function keptPlace(
  { section, key }: NamedPart,
  present: Readonly<Record<string, unknown>>,
  earlier: Readonly<Record<string, unknown>>,
): string | readonly string[] | null {
  const named = isObject(earlier[section]) ? earlier[section][key] : undefined;
  if (Object.hasOwn(present, key) || (key === 'passwordFile' && !present['username'])) return null;
  if (Array.isArray(named)) return named.map(String);
  return typeof named === 'string' ? named : null;
}

function namedParts({ secrets, caPem, certPem, keyPem, ownerKeysPem }: ProvisioningDocument): NamedPart[] {
  const isThere = (part: unknown): boolean => part !== undefined;
  // The key may already be on the device; another check verifies that the pair is complete.
  const hasPair = isThere(certPem) || isThere(keyPem);
  const mqtt = (part: string, isGiven: boolean, key: string, place: string): NamedPart => ({
    part,
    isGiven,
    section: 'mqtt',
    key,
    place,
  });
  return [
    mqtt('secrets.mqtt-password', isThere(secrets?.['mqtt-password']), 'passwordFile', PLACES.password),
    mqtt('caPem', isThere(caPem), 'caFile', PLACES.ca),
    mqtt('certPem', hasPair, 'certFile', PLACES.certificate),
    mqtt('keyPem', hasPair, 'keyFile', PLACES.key),
    {
      part: 'ownerKeysPem',
      isGiven: isThere(ownerKeysPem),
      section: 'owner',
      key: 'publicKeyFiles',
      place: (ownerKeysPem ?? []).map((_, index) => ownerKeyPlace(index)),
    },
  ];
}

/** A bare name means a secret of the file: `"passwordFile": "mqtt-password"`. */
function isSamePlace(named: unknown, place: string | readonly string[]): boolean {
  if (typeof place === 'string')
    return named === place || (typeof named === 'string' && named === place.split('/').at(-1));
  return Array.isArray(named) && (named.length === 0 || JSON.stringify(named) === JSON.stringify(place));
}
