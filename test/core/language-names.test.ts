import { expect, it } from 'vitest';
import { directionOf, ownName } from '../../src/core/language-names.ts';

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

it.each([
  ['ar-EG', 'rtl'],
  ['he', 'rtl'],
  ['ckb', 'rtl'],
  ['es', 'ltr'],
  // Begins with the letters of Arabic.
  ['arn', 'ltr'],
])('%s is written %s', (language, direction) => expect(directionOf(language)).toBe(direction));
