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
    ['f(true)', ['f(false)']],
    ['f(7)', ['f(8)']],
    ['(a as number) * b!', ['(a as number) / b!']],
  ])('reverse operators and change literals in %j', (text, expected) => {
    expect(mutated(text)).toEqual(expected);
  });

  it.each(["'a' + b", "f('a')", 'type A = 1 | true;', 'let a: 1;', '// a < b', 'a ?? b', 'a = b'])(
    'leave %j alone',
    (text) => expect(mutated(text)).toEqual([]),
  );
});
