import type { JsonSchema } from '../../../protocol/console-jobs.ts';

export type Json = unknown;
export type JsonObject = Readonly<Record<string, Json>>;

export const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const schemaAt = (value: unknown): JsonSchema => (isObject(value) ? value : {});

/** The part of a schema that is not null, and whether null is allowed, too. */
export function withoutNull(schema: JsonSchema): {
  readonly inner: JsonSchema;
  readonly isNullable: boolean;
} {
  const parts = Array.isArray(schema['anyOf']) ? schema['anyOf'].map(schemaAt) : [];
  const others = parts.filter(({ type }) => type !== 'null');
  const [inner] = others;
  if (inner === undefined || others.length !== 1) return { inner: schema, isNullable: false };
  return { inner, isNullable: others.length < parts.length };
}

export type Kind =
  | 'object'
  | 'choices'
  | 'texts'
  | 'objects'
  | 'choice'
  | 'truth'
  | 'number'
  | 'time'
  | 'text';

/** How a value of this schema is edited. */
export function kindOf(schema: JsonSchema): Kind {
  const { type, format } = schema;
  if (type === 'object') return 'object';
  if (type === 'array') {
    const items = itemsOf(schema);
    if (items['type'] === 'object') return 'objects';
    return optionsOf(items).length > 0 ? 'choices' : 'texts';
  }
  if (optionsOf(schema).length > 0) return 'choice';
  if (type === 'boolean') return 'truth';
  if (type === 'number' || type === 'integer') return 'number';
  return format === 'date-time' ? 'time' : 'text';
}

export const itemsOf = (schema: JsonSchema): JsonSchema => schemaAt(schema['items']);

export function optionsOf(schema: JsonSchema): readonly (string | number | boolean)[] {
  if (schema['const'] !== undefined) return [schema['const'] as string | number | boolean];
  return Array.isArray(schema['enum']) ? schema['enum'] : [];
}

export function propertiesOf(schema: JsonSchema): readonly {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(schemaAt(schema['properties'])).map(([name, part]) => ({
    name,
    schema: schemaAt(part),
    isRequired: required.includes(name),
  }));
}

export const textOf = (schema: JsonSchema, key: string): string =>
  typeof schema[key] === 'string' ? schema[key] : '';
export const numberOf = (schema: JsonSchema, key: string): number | undefined =>
  typeof schema[key] === 'number' ? schema[key] : undefined;

/** Initial value of a required part. */
export function blankOf(schema: JsonSchema): Json {
  const kind = kindOf(schema);
  if (kind === 'object') {
    const parts = propertiesOf(schema).filter(({ isRequired }) => isRequired);
    return Object.fromEntries(parts.map((part) => [part.name, blankOf(part.schema)]));
  }
  if (kind === 'objects') return numberOf(schema, 'minItems') === 1 ? [blankOf(itemsOf(schema))] : [];
  if (kind === 'choices' || kind === 'texts') return [];
  return undefined;
}

/** Removes unset values, and objects without any set value. */
export function pruned(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => pruned(item) ?? {});
  if (!isObject(value)) return value;
  const parts = Object.entries(value)
    .map(([name, part]) => [name, pruned(part)] as const)
    .filter(([, part]) => part !== undefined);
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

export interface Difference {
  readonly pointer: string;
  readonly before: Json;
  readonly after: Json;
}

/** Every leaf that differs, by its JSON pointer. Lists of plain values are leaves. */
export function differencesOf(before: Json, after: Json): readonly Difference[] {
  const [one, other] = [leavesOf(before), leavesOf(after)];
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((pointer) => JSON.stringify(one.get(pointer)) !== JSON.stringify(other.get(pointer)))
    .map((pointer) => ({ pointer, before: one.get(pointer), after: other.get(pointer) }));
}

function leavesOf(value: Json, pointer = '', found = new Map<string, Json>()): ReadonlyMap<string, Json> {
  const hasParts = isObject(value) || (Array.isArray(value) && value.some(isObject));
  if (!hasParts) {
    if (value !== undefined) found.set(pointer, value);
    return found;
  }
  for (const [name, part] of Object.entries(value as object)) leavesOf(part, `${pointer}/${name}`, found);
  return found;
}

/** `/lanes/0/volume` as people write it: `lanes[0].volume`. */
export const keyOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('');

export function shownValue(value: Json): string {
  if (value === undefined) return '';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
