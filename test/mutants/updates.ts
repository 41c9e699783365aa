import type { Mutant } from './mutant.ts';

/** Roll-outs and the releases that devices download. */
export const MUTANTS: readonly Mutant[] = [
  {
    file: 'src/backend/store/rollout-store.ts',
    from: 'UPDATE rollout SET lease_until = 0 WHERE',
    to: 'UPDATE rollout SET lease_until = lease_until WHERE',
    seen: 'a roll-out stands for 20 s after each restart of the backend',
  },
  {
    file: 'src/backend/rollout/fleet-ear.ts',
    from: 'if (left > 0) conversations.set(name, left);\n        else conversations.delete(name);',
    to: 'conversations.delete(name);',
    seen: 'conversations that were heard while the store was written do not count for the wave',
  },
  {
    file: 'src/backend/core/rollout/step.ts',
    from: 'Math.min(elapsedMs, LONGEST_STEP_MS)',
    to: 'elapsedMs',
    seen: 'a backend that slept counts the night as hours without trouble, and a bad version passes',
  },
  {
    file: 'src/backend/release-files.ts',
    from: 'path.startsWith(root + sep)',
    to: 'path.startsWith(root)',
    seen: 'a link in the folder of releases leads to a folder beside it whose name begins the same',
  },
  {
    file: 'src/backend/release-files.ts',
    from: "part === 'none') return void response.writeHead(416",
    to: "part === 'none') return void response.writeHead(206",
    seen: 'apt takes an empty rest for the end of a download',
  },
];
