import { describe, expect, it } from 'vitest';
import { WITH_TROUBLE } from './later-faults.ts';
import { rulesThatNotice } from './tampered.ts';

describe('an agent whose owner orders hours, a budget and texts', () => {
  it('is left alone as it is, for an hour in each world', async () => {
    expect(await rulesThatNotice(WITH_TROUBLE, (world) => world, { hours: 1 })).toEqual([]);
  });
});
