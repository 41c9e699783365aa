import { describe, expect, it } from 'vitest';
import { WITH_TROUBLE } from './later-faults.ts';
import { rulesThatNotice } from './tampered.ts';

describe('an agent with opening hours, a budget and texts to speak', () => {
  it('breaks no rule in an hour of each world', async () => {
    expect(await rulesThatNotice(WITH_TROUBLE, (world) => world, { hours: 1 })).toEqual([]);
  });
});
