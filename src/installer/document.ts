/** Parses the file. Its problems name the field and the fix, never a secret. */
import type { z } from 'zod';
import { type JsoncResult, type Path, type Position, parseJsonc } from '../adapters/config/jsonc.ts';
import { suggest } from '../adapters/config/known-keys.ts';
import { formatPath } from '../adapters/config/layer.ts';
import { isObject } from '../protocol/common/json.ts';
import {
  type ProvisioningDocument,
  provisioningSchema,
  UNSUPPORTED_WIFI_KEYS,
} from '../protocol/provisioning.ts';
import { PROVISIONING_FILE, type ProvisioningOutcome, type ProvisioningProblem } from './core/outcome.ts';
import { secretTexts } from './core/secrets.ts';

export type DocumentResult =
  | {
      readonly ok: true;
      readonly document: ProvisioningDocument;
      /** As it was written. */
      readonly value: unknown;
      readonly locate: Locate;
    }
  | {
      readonly ok: false;
      readonly outcome: ProvisioningOutcome;
      readonly problems: readonly ProvisioningProblem[];
      /** The part that the configuration check needs, so that one run names all mistakes; null: no configuration. */
      readonly forConfig: { readonly document: ProvisioningDocument; readonly locate: Locate } | null;
    };

type Locate = Extract<JsoncResult, { ok: true }>['locate'];

/** Further problems are only counted. */
const MOST_PROBLEMS = 20;
const LONGEST_NAME = 60;
/** The fix for each field, by its path without indexes. */
const FIXES: Readonly<Record<string, string>> = {
  format: 'Write "format": 1.',
  wifi: 'Write "wifi": { "ssid": "...", "passphrase": "...", "country": "DE" }.',
  'wifi.ssid': 'Write the name of the network as the router has it.',
  'wifi.passphrase': 'Look at the router for it; leave it out for an open network.',
  'wifi.country': 'Write the country where the device is used.',
  'wifi.hidden': 'Write true for a network that hides its name, or leave it out.',
  address: 'Leave it out for DHCP.',
  caPem: 'Copy the certificate from its file, with each line break as \\n.',
  certPem: 'Copy the certificate from its file, with each line break as \\n.',
  keyPem: 'Copy the private key from its file, with each line break as \\n.',
  ownerKeysPem: 'Write a list of public keys, as "dragoman-backend keys create" makes them.',
  sshKeys: 'Copy the line of a file such as id_ed25519.pub.',
};
const NAMES: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(provisioningSchema.shape),
  wifi: ['ssid', 'passphrase', 'country', 'hidden'],
  address: ['address', 'gateway', 'dns'],
  secrets: ['mqtt-password'],
};

/** The secrets of a file that may have other errors. A text that is not JSON is never quoted. */
export function secretsIn(text: string): string[] {
  const parsed = parseJsonc(text);
  return parsed.ok ? secretTexts(parsed.value) : [];
}

export function readDocument(text: string): DocumentResult {
  const parsed = parseJsonc(text);
  if (!parsed.ok) return invalid([syntaxProblem(parsed)]);
  const read = provisioningSchema.safeParse(parsed.value);
  if (read.success) return { ok: true, document: read.data, value: parsed.value, locate: parsed.locate };
  const misspelt = misspeltKeys(read.error.issues);
  const issues = read.error.issues.filter(
    ({ path }) => !misspelt.has(formatPath(path)) || parsed.locate(steps(path)) !== undefined,
  );
  const problems = withoutConsequences(issues).flatMap((issue): ProvisioningProblem[] => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownKey(issue.path, key, parsed.locate([...steps(issue.path), key])));
    return [{ field: formatPath(issue.path), message: issue.message, fix: fixFor(issue.path, parsed.value) }];
  });
  const document = documentForConfig(parsed.value);
  const outcome = invalid(problems);
  return {
    ...outcome,
    problems: outcome.problems.map((problem) => withLine(problem, parsed.locate)),
    forConfig: document && { document, locate: parsed.locate },
  };
}

/** The configuration, with placeholders for the parts that get files of their own; null: it is missing or not an object. */
function documentForConfig(value: unknown): ProvisioningDocument | null {
  if (!isObject(value) || !isObject(value['config'])) return null;
  const { config, secrets, caPem, certPem, keyPem, ownerKeysPem } = value;
  const hasPassword = isObject(secrets) && Object.hasOwn(secrets, 'mqtt-password');
  return {
    format: 1,
    config,
    ...(hasPassword && { secrets: { 'mqtt-password': null } }),
    ...(caPem !== undefined && { caPem: '' }),
    ...(certPem !== undefined && { certPem: '' }),
    ...(keyPem !== undefined && { keyPem: null }),
    ...(Array.isArray(ownerKeysPem) && { ownerKeysPem: ownerKeysPem.map(() => '') }),
  };
}

/** Known keys that a misspelt key was probably meant to be. */
function misspeltKeys(issues: readonly z.core.$ZodIssue[]): ReadonlySet<string> {
  const keys = issues.flatMap(({ path, ...issue }) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const names = NAMES[formatPath(path)] ?? [];
    return issue.keys.flatMap((key) => {
      const near = suggest(key, names);
      return near === null ? [] : [formatPath([...path, near])];
    });
  });
  return new Set(keys);
}

/** Drops the other problems of a value of the wrong type, such as its length. */
function withoutConsequences<T extends { readonly code: string; readonly path: readonly PropertyKey[] }>(
  issues: readonly T[],
): T[] {
  const ofKind = new Set(
    issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => formatPath(path)),
  );
  return issues.filter(({ code, path }) => code === 'invalid_type' || !ofKind.has(formatPath(path)));
}

function invalid(problems: readonly ProvisioningProblem[]): Extract<DocumentResult, { ok: false }> {
  const isWifi = problems.every(({ field, message }) => field.startsWith('wifi.') && message === UNSUPPORTED);
  const shown = problems.slice(0, MOST_PROBLEMS);
  const more = problems.length - shown.length;
  const rest = more === 0 ? [] : [{ field: '', message: `and ${more} more problems`, fix: '' }];
  return {
    ok: false,
    outcome: isWifi ? 'wifi_unsupported' : 'file_invalid',
    problems: [...shown, ...rest],
    forConfig: null,
  };
}

/** In a text that is not JSON, any key may be a secret, so it is not quoted. */
export function syntaxProblem({
  message,
  position,
}: Extract<JsoncResult, { ok: false }>): ProvisioningProblem {
  const fix = message.includes('does not end on its line')
    ? 'Close the double quotes on the same line; write a line break within a text (a certificate) as \\n.'
    : 'Compare that place with the example in docs/provisioning.md: quotes, commas and brackets.';
  return {
    field: `line ${position.line}, column ${position.column}`,
    message: message.replace(/the key ".*"/s, 'a key').replace(/found ".*"$/s, 'found something else'),
    fix,
  };
}

const UNSUPPORTED = 'is not supported: WPA3 alone (SAE), WEP and logins by 802.1X cannot be used';

/** Objects in which a secret may have been written in the place of a key. */
const HOLDERS_OF_SECRETS: readonly string[] = ['', 'wifi', 'secrets'];

function unknownKey(
  path: readonly PropertyKey[],
  key: string,
  position: Position | undefined,
): ProvisioningProblem {
  const place = formatPath(path);
  const shown = key.length > LONGEST_NAME ? `${key.slice(0, LONGEST_NAME)}...` : key;
  const field = formatPath([...path, shown]);
  if (place === 'wifi' && UNSUPPORTED_WIFI_KEYS.some((one) => one.toLowerCase() === key.toLowerCase()))
    return {
      field,
      message: UNSUPPORTED,
      fix: 'Use a network with WPA2 and a passphrase (or "WPA2/WPA3 mixed" at the router), and leave this key out.',
    };
  const names = NAMES[place] ?? [];
  const near = suggest(key, names);
  const fix = near === null ? `Known here: ${names.join(', ')}.` : `Did you mean "${near}"?`;
  if (HOLDERS_OF_SECRETS.includes(place) && !isMisspelt(key, near))
    return { field: place, message: `${holder(place)}holds an unknown key${inLine(position)}`, fix };
  return { field, message: 'is not a known key', fix };
}

/** A problem without a field begins the sentence with the file's name. */
const holder = (place: string): string => (place === '' ? `${PROVISIONING_FILE} ` : '');

/** Whether a key may be shown: it differs from a known key only by a few letters. */
function isMisspelt(key: string, near: string | null): boolean {
  return near !== null && near !== 'mqtt-password' && /^[a-z]+$/i.test(key);
}

export const inLine = (position: Position | undefined): string =>
  position === undefined ? '' : ` (line ${position.line}, column ${position.column})`;

/** Adds the line of the field; for a missing field, the line of its parent. */
export function withLine(problem: ProvisioningProblem, locate: Locate): ProvisioningProblem {
  if (/\(line \d/.test(problem.message)) return problem;
  const path = [...problem.field.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([step, index]) =>
    index === undefined ? step : Number(index),
  );
  const position = locate(path) ?? (path.length > 1 ? locate(path.slice(0, -1)) : undefined);
  return path.length === 0 ? problem : { ...problem, message: `${problem.message}${inLine(position)}` };
}

const steps = (path: readonly PropertyKey[]): Path =>
  path.map((step) => (typeof step === 'number' ? step : String(step)));

function fixFor(path: readonly PropertyKey[], value: unknown): string {
  if (path.length === 0 && !isObject(value))
    return 'The file must be one object, in braces: { "format": 1, ... }.';
  const names = path.filter((step) => typeof step === 'string');
  return FIXES[names.join('.')] ?? FIXES[String(names[0])] ?? '';
}
