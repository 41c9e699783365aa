import { expect, it } from 'vitest';
import { z } from 'zod';
import { plainIssue } from '../../src/protocol/plain-issues.ts';

/** Schemas with a refused value and the expected message. */
function said(schema: z.ZodType, value: unknown): string {
  const { error } = schema.safeParse(value, { error: (issue) => plainIssue(issue) });
  return (error?.issues ?? []).map(({ message }) => message).join('; ');
}

const kind = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('a') }),
  z.object({ kind: z.literal('b') }),
]);

it.each<[z.ZodType, unknown, string]>([
  [z.string(), 5, 'must be a text'],
  [z.coerce.number(), 'abc', 'must be a number'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.array(z.string()), {}, 'must be a list'],
  [z.object({ a: z.string() }), [], 'must be an object'],
  [z.object({ a: z.string() }), {}, 'is missing'],
  [z.object({ a: z.enum(['x', 'y']) }), {}, 'is missing'],
  [z.enum(['x', 'y']), 'z', 'must be one of "x", "y"'],
  [z.literal(3), 4, 'must be 3'],
  [z.number().min(3), 2, 'must be at least 3'],
  [z.number().gt(3), 3, 'must be more than 3'],
  [z.number().max(3), 4, 'must be at most 3'],
  [z.number().multipleOf(5), 4, 'must be a multiple of 5'],
  [z.string().min(2), 'a', 'must have at least 2 characters'],
  [z.string().max(2), 'abc', 'must have at most 2 characters'],
  [z.array(z.string()).min(1), [], 'must have at least 1 entries'],
  [z.strictObject({}), { x: 1 }, 'must not have "x", which is not known here'],
  [z.string().regex(/^a/), 'b', 'must have the right form'],
  [z.url(), 'b', 'must have the right form (url)'],
  [z.union([z.string(), z.number()]), null, 'must have one of the allowed forms'],
  [kind, { kind: 'c' }, 'must have one of the allowed forms'],
  [z.record(z.enum(['a']), z.string()), { b: '' }, 'is missing; must not have "b", which is not known here'],
  [z.map(z.string(), z.string()), new Map([[1, '']]), 'must be a text'],
  [z.custom(() => false), 1, 'must be another value'],
  [z.string().refine(() => false, 'must rhyme'), 'x', 'must rhyme'],
])('%#: describes the problem of a refused value in plain words', (schema, value, words) => {
  expect(said(schema, value)).toBe(words);
});
