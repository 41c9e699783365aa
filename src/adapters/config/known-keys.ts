import { closest, distance } from 'fastest-levenshtein';
import { isObject } from '../../protocol/common/json.ts';
import { configJsonSchema, type SchemaNode } from '../../protocol/config-schema.ts';

/** The step of a pattern that matches any index of an array. */
export const ANY_INDEX = '[]';

/** One key that can be set, from the schema. */
export interface KnownKey {
  /** `['lanes', '[]', 'capture', 'device']`. */
  readonly pattern: readonly string[];
  readonly node: SchemaNode;
}

export const ROOT: SchemaNode = configJsonSchema();

/** Every key with a value of its own, in the schema's order. */
export const KNOWN_KEYS: readonly KnownKey[] = leaves(ROOT, []);

function leaves(node: SchemaNode, pattern: readonly string[]): KnownKey[] {
  const keysByPattern = new Map<string, KnownKey>();
  const add = (keys: readonly KnownKey[]): void => {
    for (const key of keys) {
      const name = key.pattern.join('.');
      if (!keysByPattern.has(name)) keysByPattern.set(name, key);
    }
  };
  for (const alternative of node.oneOf ?? []) add(leaves(alternative, pattern));
  for (const [name, child] of Object.entries(node.properties ?? {})) add(leaves(child, [...pattern, name]));
  if (node.items?.type === 'object') add(leaves(node.items, [...pattern, ANY_INDEX]));
  if (keysByPattern.size === 0 && pattern.length > 0) keysByPattern.set('', { pattern, node });
  return [...keysByPattern.values()];
}

/** `lanes[].capture.device`. */
export function formatPattern(pattern: readonly string[]): string {
  return pattern.reduce((text, step) => {
    if (step === ANY_INDEX) return text + step;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** The node at a path of `value`; the value's `driver` selects the alternative. Null when it is unknown. */
export function nodeAt(path: readonly PropertyKey[], value: unknown): SchemaNode | null {
  let node: SchemaNode | undefined = ROOT;
  let here = value;
  for (const step of path) {
    const holder: SchemaNode = chooseAlternative(node, here);
    node = typeof step === 'number' ? holder.items : propertyNode(holder, String(step));
    if (node === undefined) return null;
    here = isObject(here) || Array.isArray(here) ? (here as Record<PropertyKey, unknown>)[step] : undefined;
  }
  return node;
}

/** The allowed names in an object at a path. */
export function namesAt(path: readonly PropertyKey[], value: unknown): string[] {
  const node = nodeAt(path, value);
  if (node === null) return [];
  let here = value;
  for (const step of path) here = (here as Record<PropertyKey, unknown> | undefined)?.[step];
  return Object.keys(chooseAlternative(node, here).properties ?? {});
}

/** The driver that allows a name in an object at a path; null when no driver does. */
export function driverOf(name: string, path: readonly PropertyKey[], value: unknown): string | null {
  const alternatives = nodeAt(path, value)?.oneOf ?? [];
  const owner = alternatives.find(({ properties }) => properties?.[name] !== undefined);
  return owner === undefined ? null : String(owner.properties?.['driver']?.const);
}

function propertyNode(holder: SchemaNode, name: string): SchemaNode | undefined {
  const direct = holder.properties?.[name];
  if (direct !== undefined) return direct;
  // The driver is missing or unknown: the discriminator itself can still be described.
  const choices = (holder.oneOf ?? []).flatMap((alternative) => alternative.properties?.[name]?.const ?? []);
  return choices.length > 0 ? { enum: choices } : undefined;
}

function chooseAlternative(node: SchemaNode, value: unknown): SchemaNode {
  // For a nullable object, the keys are in the other alternative.
  const keyed = node.anyOf?.find(({ properties }) => properties !== undefined);
  if (keyed !== undefined) return keyed;
  const driver = isObject(value) ? value['driver'] : undefined;
  const chosen = node.oneOf?.find(({ properties }) => {
    const { const: name, default: fallback } = properties?.['driver'] ?? {};
    return name === (driver ?? fallback);
  });
  return chosen ?? node;
}

/** Describes the allowed values, as the end of "must be ...". */
export function describeAllowed(node: SchemaNode): string {
  if (node.anyOf !== undefined) return node.anyOf.map(describeAllowed).join(' or ');
  if (node.enum !== undefined) return choice(node.enum);
  if (node.const !== undefined) return JSON.stringify(node.const);
  switch (node.type) {
    case 'integer':
      return `a whole number${range(node.minimum, node.maximum)}`;
    case 'number':
      return `a number${range(node.minimum, node.maximum)}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'string':
      return node.maxLength === undefined
        ? 'a text'
        : `a text of ${node.minLength ?? 0} to ${node.maxLength} characters`;
    case 'array':
      return `a list${node.maxItems === undefined ? '' : ` of ${node.minItems ?? 0} to ${node.maxItems}`}`;
    default:
      return 'an object { ... }';
  }
}

function choice(values: readonly unknown[]): string {
  const names = values.map((value) => JSON.stringify(value));
  return names.length === 1 ? String(names[0]) : `one of ${names.join(', ')}`;
}

function range(minimum: number | undefined, maximum: number | undefined): string {
  return minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
}

/** Longest name to compare: a longer one is not a misspelling of ours. */
const LONGEST_NAME = 128;

/** The likeliest meaning of a misspelt name; null when none is close. */
export function suggest(name: string, known: readonly string[]): string | null {
  if (known.length === 0 || name.length > LONGEST_NAME) return null;
  const lower = name.toLowerCase();
  const begun = known.find((other) => lower.length >= 4 && other.toLowerCase().startsWith(lower));
  if (begun !== undefined) return begun;
  const byLower = new Map(known.map((other) => [other.toLowerCase(), other]));
  const near = closest(lower, [...byLower.keys()]);
  if (distance(lower, near) <= Math.max(1, Math.floor(near.length / 3))) return byLower.get(near) ?? null;
  return known.find((other) => beginsLike(other.toLowerCase(), lower)) ?? null;
}

/** Like `suggest`, for names in a fleet: another number in a name means another device, not a typing error. */
export function suggestName(name: string, known: readonly string[]): string | null {
  const numberIn = (text: string): string => text.replaceAll(/\D/g, '').replace(/^0+/, '');
  const number = numberIn(name);
  return suggest(
    name,
    known.filter((other) => number === '' || numberIn(other) === number),
  );
}

/** `pasword` matches the beginning of `passwordFile`, with one letter wrong. */
function beginsLike(long: string, begun: string): boolean {
  if (begun.length < 4) return false;
  return [-1, 0, 1].some((more) => distance(begun, long.slice(0, begun.length + more)) <= 1);
}

/** The place where a misplaced key belongs; null when the key is unknown. */
export function suggestPlace(name: string): string | null {
  const key = KNOWN_KEYS.find(({ pattern }) => pattern.at(-1) === name);
  return key === undefined ? null : formatPattern(key.pattern);
}
