/** Turns zod schemas into Markdown tables. The meaning of a field is its description in the schema. */
import { z } from 'zod';

interface Json {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Json[];
  readonly items?: Json;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** One field of a payload. */
export interface Field {
  /** `echo.mode`, `lanes[].id` */
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  readonly says: string;
}

/** The schema's own description. */
export function describes(schema: z.ZodType): string {
  return toJson(schema).description ?? '';
}

/** Every field, nested ones included. @param without fields that the page describes elsewhere */
export function fieldsOf(schema: z.ZodType, without: readonly string[] = []): Field[] {
  return fieldsIn(toJson(schema), '').filter(({ name }) => !without.includes(name));
}

export function fieldTable(fields: readonly Field[]): string {
  if (fields.length === 0) return '';
  const rows = fields.map(({ name, type, isOptional, says }) => {
    const meaning = isOptional ? `${says} (may be missing)` : says;
    return `| \`${name}\` | ${type} | ${meaning} |`;
  });
  return ['| field | type | what |', '|---|---|---|', ...rows].join('\n');
}

function toJson(schema: z.ZodType): Json {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json;
}

function fieldsIn({ properties = {}, required = [] }: Json, path: string): Field[] {
  return Object.entries(properties).flatMap(([key, json]) => {
    const name = `${path}${key}`;
    const isOptional = !required.includes(key);
    const inner = plain(json);
    const own = { name, type: typeOf(json), isOptional, says: json.description ?? inner.description ?? '' };
    // docs/service.md describes the fields of the service's own objects.
    if (own.says.includes('service.md#')) return [own];
    if (inner.type === 'object' && inner.properties !== undefined)
      return own.says === '' ? fieldsIn(inner, `${name}.`) : [own, ...fieldsIn(inner, `${name}.`)];
    const item = inner.items;
    if (inner.type !== 'array' || item?.properties === undefined) return [own];
    const ofItems = own.says.startsWith('as on') ? [] : fieldsIn(item, `${name}[].`);
    return own.says === '' ? ofItems : [own, ...ofItems];
  });
}

/** The schema without null. */
function plain(json: Json): Json {
  const [only, ...others] = (json.anyOf ?? []).filter(({ type }) => type !== 'null');
  return only !== undefined && others.length === 0 ? only : json;
}

function typeOf(json: Json): string {
  if (typeof json.type === 'object') return json.type.map((type) => typeOf({ ...json, type })).join(' or ');
  if (json.anyOf !== undefined) return [...new Set(json.anyOf.map(typeOf))].join(' or ');
  if (json.const !== undefined) return `\`${JSON.stringify(json.const)}\``;
  if (json.enum !== undefined) return json.enum.map((value) => `\`${String(value)}\``).join(', ');
  switch (json.type) {
    case 'array':
      return `list of ${json.items === undefined ? 'anything' : plural(typeOf(json.items))}`;
    case 'string':
      return json.format === 'date-time' ? 'time' : 'text';
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `whole number${range(json)}`;
    case undefined:
      return 'anything';
    default:
      return json.type;
  }
}

function plural(type: string): string {
  return { text: 'texts', object: 'objects', number: 'numbers' }[type] ?? type;
}

/** Larger limits are not shown: they only reject nonsense. */
const LARGEST_SHOWN = 100_000;

function range({ minimum, maximum }: Json): string {
  const isBounded = minimum !== undefined && maximum !== undefined && maximum <= LARGEST_SHOWN;
  return isBounded ? `, ${minimum} to ${maximum}` : '';
}
