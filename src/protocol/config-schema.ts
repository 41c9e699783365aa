import { z } from 'zod';
import { configSchema } from './config.ts';

/** A node of the JSON Schema, as far as `configSchema` makes use of it. */
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

/** What `config/schema.json` holds: the configuration as an operator may write it, every default left out. */
export function configJsonSchema(): SchemaNode {
  return z.toJSONSchema(configSchema, { io: 'input' }) as SchemaNode;
}

/** `config/schema.json` as text. */
export function configSchemaFile(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}
