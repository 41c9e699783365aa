import { expect } from 'vitest';
import { runSeed } from './run-seed.ts';

/** In which phases of a lane documents and commands have met it in these worlds, which it leaves whole. */
export async function metPhases(seeds: readonly number[], hours = 0.5) {
  const faults = ['operator', 'sigterm', 'refused', 'reset', 'max_duration', 'token_late'];
  const met = { document: new Set<string>(), command: new Set<string>() };
  for (const seed of seeds) {
    const run = await runSeed(seed, hours, { faults, restless: true });
    expect(run.violations).toEqual([]);
    for (const [kind, phases] of Object.entries(run.met))
      for (const phase of Object.keys(phases)) met[kind === 'document' ? kind : 'command'].add(phase);
  }
  return met;
}
