import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { PATIENT } from '../setup/patience.ts';

/** What ships the agent, by its systemd: 252 and 257. */
const DEBIANS = ['bookworm', 'trixie'];

/** The same tests in a machine of each Debian. */
export function bootedTests(files: {
  readonly include: string[];
  readonly exclude: string[];
}): ViteUserConfig {
  return defineConfig({
    test: {
      projects: DEBIANS.map((name) => ({
        test: {
          ...files,
          name,
          globalSetup: ['test/nspawn/setup.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: PATIENT,
          // They mostly wait.
          maxWorkers: 8,
        },
      })),
    },
  });
}
