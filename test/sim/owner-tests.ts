import { expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { rulesThatNotice } from './tampered.ts';

const ALL = ['documents', 'commands', 'file_reread', 'disk_troubled', 'kill', 'broker_away'];

/** Tests that the shipped agent breaks no rule, whatever its owner sends. */
export function testOwned(limits: { hours?: number; seeds?: readonly number[] } = {}): void {
  it('breaks no rule as shipped', async () => {
    expect(await rulesThatNotice(ALL, (world) => world, limits)).toEqual([]);
  });
}

/** Runs seeds. @returns the phases of a lane in which documents and commands have reached it */
export async function phasesReached(seeds: readonly number[], hours = 0.5) {
  const faults = ['operator', 'sigterm', 'refused', 'reset', 'max_duration', 'token_late'];
  const reached = { document: new Set<string>(), command: new Set<string>() };
  for (const seed of seeds) {
    const run = await runSeed(seed, hours, { faults, restless: true });
    expect(run.violations).toEqual([]);
    for (const [kind, phases] of Object.entries(run.reached))
      for (const phase of Object.keys(phases)) reached[kind === 'document' ? kind : 'command'].add(phase);
  }
  return reached;
}
