import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { PATIENT } from '../setup/patience.ts';

/** What ships the agent, by its systemd: 252 and 257. */
const DEBIANS = ['bookworm', 'trixie'];

/** How many of its files run side by side, and when: they mostly wait. */
const TOGETHER = { maxWorkers: 8, sequence: { groupOrder: 0 } };

/** Files of tests that run in the same way. */
interface ProjectKind {
  readonly name?: string;
  readonly include: string[];
  readonly exclude: string[];
  /** With nothing beside them: they keep the processors busy themselves, and time counts in them. */
  readonly alone?: boolean;
}

/** The same tests in a machine of each Debian. A project is named after its Debian, and after a dash what is special about it. */
export const bootedTests = (...kinds: readonly ProjectKind[]): ViteUserConfig =>
  defineConfig({
    test: {
      globalSetup: 'test/setup/run-folder.ts',
      projects: kinds.flatMap(({ name, alone = false, ...files }, kind) =>
        DEBIANS.map((debian, index) => ({
          test: {
            ...files,
            name: name === undefined ? debian : `${debian}-${name}`,
            globalSetup: ['test/nspawn/setup.ts'],
            // They end what hangs, and not what is slow.
            testTimeout: alone ? 900_000 : 600_000,
            hookTimeout: 600_000,
            expect: PATIENT,
            ...(alone
              ? { maxWorkers: 1, sequence: { groupOrder: 1 + DEBIANS.length * kind + index } }
              : TOGETHER),
          },
        })),
      ),
    },
  });
