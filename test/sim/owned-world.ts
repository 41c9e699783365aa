import { expect, it } from 'vitest';
import { rulesThatNotice } from './tampered.ts';

const ALL = ['documents', 'commands', 'file_reread', 'disk_troubled', 'kill', 'broker_away'];

/** The agent as it is breaks no rule, whatever its owner sends. */
export function testOwned(limits: { hours?: number; seeds?: readonly number[] } = {}): void {
  it('as it is, it is not', async () => {
    expect(await rulesThatNotice(ALL, (world) => world, limits)).toEqual([]);
  });
}
