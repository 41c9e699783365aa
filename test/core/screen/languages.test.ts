import { expect, it } from 'vitest';
import { ownName } from '../../../src/core/screen/languages.ts';

it.each([
  ['es', 'Español'],
  ['pt-br', 'Português (Brasil)'],
  ['tr', 'Türkçe'],
  ['ar', 'العربية'],
  ['zh', '中文'],
  ['en-us-us', 'English'],
  ['auto', 'Auto'],
])('a language is called by its own name: %s', (language, name) => {
  expect(ownName(language)).toBe(name);
});
