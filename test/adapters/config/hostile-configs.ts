/** Hostile configurations, which are costly to read. */
import { expect } from 'vitest';

const times = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(',');

/** Texts of about this many bytes; blanks have ten times as many. */
export const BURDENS: readonly (readonly [what: string, make: (bytes: number) => string])[] = [
  ['blanks', (bytes) => ' '.repeat(10 * bytes)],
  ['line breaks', (bytes) => '\n'.repeat(bytes)],
  ['comments', (bytes) => '/**/'.repeat(bytes / 5)],
  ['a comment', (bytes) => `/*${'*'.repeat(bytes)}`],
  ['a text', (bytes) => `"${'x'.repeat(bytes)}`],
  ['backslashes', (bytes) => `"${'\\\\'.repeat((bytes * 2) / 5)}"`],
  ['a number', (bytes) => '1'.repeat(bytes)],
  ['half a million levels', () => '['.repeat(500_000)],
  ['a long key above a long list', () => `{"${'x'.repeat(500_000)}":[${times(240_000, () => '1')}]}`],
];

/** Configurations with the same problem over and over. */
export const PROBLEMS: readonly (readonly [what: string, make: () => string])[] = [
  ['keys', () => `{${times(60_000, (index) => `"key${index}":${index}`)}}`],
  ['keys on lines of their own', () => `{${times(60_000, (index) => `\n"key${index}":1`)}}`],
  ['keys of the broker', () => `{"mqtt":{${times(60_000, (index) => `"key${index}":1`)}}}`],
  ['lanes', () => `{"lanes":[${times(300_000, () => '{}')}]}`],
  ['lanes with ids', () => `{"lanes":[${times(60_000, (index) => `{"id":"a${index}"}`)}]}`],
  ['languages', () => `{"lanes":[{"targets":[${times(190_000, () => '"es"')}]}]}`],
];

export function expectFirstHundred(problems: readonly string[]): void {
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.length).toBeLessThanOrEqual(101);
  expect(problems.join('\n').length).toBeLessThan(40_000);
}
