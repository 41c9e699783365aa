/** The file's part of the agent's configuration: as it was written, with the places of what came beside it. */
import { isObject } from '../../protocol/json.ts';
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

export function configPart(document: ProvisioningDocument): ConfigPart {
  const given = namedParts(document).filter(({ isGiven }) => isGiven);
  if (document.config === undefined && given.length === 0) return { value: null, problems: [] };
  let value: Record<string, unknown> = { ...document.config };
  const problems: ProvisioningProblem[] = [];
  for (const { part, section, key, place } of given) {
    const present = value[section];
    // What is no object is for the configuration's own schema to refuse.
    if (present !== undefined && !isObject(present)) continue;
    const named = present?.[key];
    if (named !== undefined && named !== null && !isSamePlace(named, place))
      problems.push({
        field: `config.${section}.${key}`,
        message: `names another file than the one that "${part}" is put into`,
        fix: `Leave "${key}" out of "${section}": it is filled in.`,
      });
    else value = { ...value, [section]: { ...present, [key]: place } };
  }
  return { value, problems };
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
