import * as z from 'zod';
import { configSchema } from './config.ts';

/** A node of the JSON Schema: only the keywords that `configSchema` produces. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Content of `config/schema.json`: the input form, in which everything with a default is optional. */
export function configJsonSchema(): SchemaNode {
  return z.toJSONSchema(configSchema, { io: 'input' }) as SchemaNode;
}

/** `config/schema.json` as text. */
export function configSchemaFile(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}
