import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';

/** What is wrong with what a program has printed, by its schema; null: nothing. A key that the schema has not is wrong, too. */
export function wrongIn(schema: z.ZodType, value: unknown): string | null {
  const odd = keysNotSnake(value);
  if (odd.length > 0) return `not snake_case: ${odd.join(', ')}`;
  const parsed = schema.safeParse(value);
  if (!parsed.success) return JSON.stringify(parsed.error.issues[0]);
  return isDeepStrictEqual(parsed.data, value) ? null : 'holds keys that the schema has not';
}

/** Keys that are not snake_case, with the way to them: lists and objects are looked through to their end. */
export function keysNotSnake(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => keysNotSnake(one, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    return [...(/^[a-z0-9]+(_[a-z0-9]+)*$/.test(key) ? [] : [here]), ...keysNotSnake(inner, here)];
  });
}
