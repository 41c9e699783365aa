import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  EXCEPTIONS,
  exceptionsAreNeeded,
  functionsAreShort,
  LONGEST_FACTORY_LINES,
  LONGEST_FUNCTION_LINES,
} from './function-lengths.ts';
import { readTree, type SourceFile } from './source.ts';

const TREE = readTree(fileURLToPath(new URL('../../', import.meta.url)));
const file = (text: string, path = 'src/core/a.ts'): SourceFile => ({ path, text });
/** This many lines with the first and the last. */
const lines = (count: number): string => '  go();\n'.repeat(count - 2);

describe('functions are short', () => {
  it('holds here, with a short list of exceptions that are all needed', () => {
    expect(functionsAreShort(TREE)).toEqual([]);
    expect(exceptionsAreNeeded(TREE)).toEqual([]);
    expect(EXCEPTIONS.length).toBeLessThanOrEqual(8);
    expect(EXCEPTIONS.every(({ why }) => why.length > 20)).toBe(true);
  });

  it.each([
    ['a function', (body: string) => `export function long(): void {\n${body}}`],
    ['an arrow function', (body: string) => `const long = (): void => {\n${body}};`],
    ['a method', (body: string) => `class A {\n  long(): void {\n${body}}\n}`],
    ['a method of an object', (body: string) => `const a = {\n  long(): void {\n${body}},\n};`],
    ['a property of an object', (body: string) => `const a = {\n  long: async () => {\n${body}},\n};`],
    ['a constructor', (body: string) => `class A {\n  constructor() {\n${body}}\n}`],
    ['a callback', (body: string) => `listen(() => {\n${body}});`],
  ])('would be broken by %s', (_, write) => {
    expect(functionsAreShort([file(write(lines(LONGEST_FUNCTION_LINES + 1)))])).toHaveLength(1);
    expect(functionsAreShort([file(write(lines(LONGEST_FUNCTION_LINES)))])).toEqual([]);
  });

  it('would be broken by a factory of many functions, in what is shipped', () => {
    const inner = `  const one = () => {\n${lines(54)}  };\n`;
    const factory = (count: number): string => `function create() {\n${inner.repeat(count)}}`;
    expect(functionsAreShort([file(factory(2))])).toEqual([]);
    const [found] = functionsAreShort([file(factory(3))]);
    expect(found).toBe(`src/core/a.ts: create has ${3 * 54 + 2} lines in all`);
    expect(3 * 54 + 2).toBeGreaterThan(LONGEST_FACTORY_LINES);
    expect(functionsAreShort([file(factory(3), 'test/a.ts')])).toEqual([]);
  });

  it('is not broken by a list of tests', () => {
    const list = `describe('a', () => {\n${lines(200)}});`;
    expect(functionsAreShort([file(list, 'test/a.test.ts')])).toEqual([]);
  });
});
