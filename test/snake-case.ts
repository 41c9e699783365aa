import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';

/** @returns the error in a program's output by its schema, unknown keys included; null if it is valid */
export function wrongIn(schema: z.ZodType, value: unknown): string | null {
  const odd = keysNotSnake(value);
  if (odd.length > 0) return `not snake_case: ${odd.join(', ')}`;
  const parsed = schema.safeParse(value);
  if (!parsed.success) return JSON.stringify(parsed.error.issues[0]);
  return isDeepStrictEqual(parsed.data, value) ? null : 'has keys that are not in the schema';
}

/** Keys that are not snake_case, with their paths, at any depth. */
export function keysNotSnake(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => keysNotSnake(one, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    return [...(/^[a-z0-9]+(_[a-z0-9]+)*$/.test(key) ? [] : [here]), ...keysNotSnake(inner, here)];
  });
}
