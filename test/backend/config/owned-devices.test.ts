/** Which devices the owner's patterns name. */
import { expect, it } from 'vitest';
import { isAllowed } from '../../../src/backend/config/owned-devices.ts';

it.each([
  ['museum/*', ['museum/kiosk', 'museum/'], ['museums/kiosk', 'archive/kiosk']],
  ['*/kiosk', ['museum/kiosk', 'archive/kiosk'], ['museum/kiosk-2']],
  ['museum/*-hall-*', ['museum/east-hall-1', 'museum/-hall-'], ['museum/east-1', 'museum/east-lobby-1']],
  ['museum/a*b*c', ['museum/abc', 'museum/a-b-b-c'], ['museum/ac', 'museum/acb', 'museum/cba']],
  // The two ends may not share a character.
  ['museum/ab*ba', ['museum/abba', 'museum/ab-ba'], ['museum/aba']],
  ['museum/*-*-*', ['museum/a-b-c', 'museum/--'], ['museum/a-b', 'museum/-']],
])('the pattern %s allows %j, and none of %j', (pattern, allowed, others) => {
  const mayAsk = (name: string): boolean => {
    const [tenant = '', device = ''] = name.split('/');
    return isAllowed({ allow: [pattern] }, { tenant, device });
  };
  expect([...allowed, ...others].filter(mayAsk)).toEqual(allowed);
});
