/** The file's part of the agent's configuration: as it was written, with the places of what came beside it. */
import { isObject, parseJson } from '../../protocol/json.ts';
import type { ProvisioningDocument } from '../../protocol/provisioning.ts';
import type { ProvisioningProblem } from './outcome.ts';
import { ownerKeyPlace, PLACES } from './places.ts';

export interface ConfigPart {
  /** Null: the file says nothing about the configuration. */
  readonly value: Readonly<Record<string, unknown>> | null;
  readonly problems: readonly ProvisioningProblem[];
}

interface NamedPart {
  /** The key of the file. */
  readonly part: string;
  readonly isGiven: boolean;
  readonly section: 'mqtt' | 'owner';
  readonly key: string;
  readonly place: string | readonly string[];
}

/**
 * @param before what an earlier file has left as its part; null: nothing. What this one leaves out stays: all of the
 * configuration, or what an earlier certificate or password is called.
 */
export function configPart(document: ProvisioningDocument, before: string | null): ConfigPart {
  const parts = namedParts(document);
  if (document.config === undefined && !parts.some(({ isGiven }) => isGiven))
    return { value: null, problems: [] };
  const found = before === null ? null : parseJson(before);
  const earlier = isObject(found) ? found : {};
  let value: Record<string, unknown> = { ...(document.config ?? earlier) };
  const problems: ProvisioningProblem[] = [];
  for (const part of parts) {
    const { section, key } = part;
    const present = value[section];
    // What is no object is for the configuration's own schema to refuse.
    if (present !== undefined && !isObject(present)) continue;
    const place = part.isGiven ? part.place : keptPlace(part, present ?? {}, earlier);
    if (place === null) continue;
    const named = present?.[key];
    if (named !== undefined && named !== null && !isSamePlace(named, place))
      problems.push({
        field: `config.${section}.${key}`,
        message: `names another file than the one that "${part.part}" is put into`,
        fix: `Leave "${key}" out of "${section}": it is filled in.`,
      });
    else value = { ...value, [section]: { ...present, [key]: place } };
  }
  return { value, problems };
}

/** Of a part that this file does not have: its place, if an earlier one had it and this one's configuration does not name any. */
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
  // The key may be on the device already; whether the pair is whole is checked elsewhere.
  const hasPair = isThere(certPem) || isThere(keyPem);
  const mqtt = (part: string, isGiven: boolean, key: string, place: string): NamedPart => ({
    ...{ part, isGiven, section: 'mqtt', key, place },
  });
  return [
    mqtt('secrets.mqtt-password', isThere(secrets?.['mqtt-password']), 'passwordFile', PLACES.password),
    mqtt('caPem', isThere(caPem), 'caFile', PLACES.ca),
    mqtt('certPem', hasPair, 'certFile', PLACES.certificate),
    mqtt('keyPem', hasPair, 'keyFile', PLACES.key),
    {
      ...{ part: 'ownerKeysPem', isGiven: isThere(ownerKeysPem), section: 'owner', key: 'publicKeyFiles' },
      place: (ownerKeysPem ?? []).map((_, index) => ownerKeyPlace(index)),
    },
  ];
}

/** A bare name is that of a secret in the file: `"passwordFile": "mqtt-password"`. */
function isSamePlace(named: unknown, place: string | readonly string[]): boolean {
  if (typeof place === 'string')
    return named === place || (typeof named === 'string' && named === place.split('/').at(-1));
  return Array.isArray(named) && (named.length === 0 || JSON.stringify(named) === JSON.stringify(place));
}
