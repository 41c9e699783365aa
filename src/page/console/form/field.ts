import { createContext } from 'preact';
import type { JsonSchema } from '../../../protocol/console-jobs.ts';
import type { ConsoleFault } from '../../../protocol/console-routes.ts';
import type { Json } from './schema.ts';

export interface FormHelp {
  /** What the backend's validator found, by JSON pointer. */
  readonly faults: readonly ConsoleFault[];
  /** Values to choose from, by the name of the key. */
  readonly suggestions: Readonly<Record<string, readonly string[]>>;
}

export const Help = createContext<FormHelp>({ faults: [], suggestions: {} });

export interface FieldProps {
  readonly schema: JsonSchema;
  readonly name: string;
  readonly pointer: string;
  readonly isRequired: boolean;
  /** Undefined: not set. */
  readonly value: Json;
  onChange(value: Json): void;
}
