import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import { mutationsIn } from '../../scripts/mutate/mutations.ts';

/** The text after each mutation. */
function mutated(text: string): string[] {
  return mutationsIn(parseSync('a.ts', text).program, text).map(
    ({ start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end),
  );
}

describe('mutations of a source', () => {
  it.each([
    ['a === b', ['a !== b']],
    ['a < b && c', ['a <= b && c', 'a < b || c']],
    ['(a) + (b)', ['(a) - (b)']],
    ['a -= b', ['a += b']],
    ['!a', ['a']],
    ['a = f(true)', ['a = f(false)']],
    ['a = f(7)', ['a = f(8)']],
    ['a = 60_000', ['a = 120000']],
    ['if (a) f();', ['if (a) ;']],
    ['await a.close();', [';']],
    ['(a as number) * b!', ['(a as number) / b!']],
  ])('reverse operators and change literals in %j', (text, expected) => {
    expect(mutated(text)).toEqual(expected);
  });

  it.each([
    "'a' + b",
    "a = f('a')",
    "log.info({ a: 7 }, 'a');",
    'type A = 1 | true;',
    'let a: 1;',
    '// a < b',
    'a ?? b',
    'a = b',
  ])('leave %j alone', (text) => expect(mutated(text)).toEqual([]));
});
