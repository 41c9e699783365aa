import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { PATIENT } from '../setup/patience.ts';

/** Debian releases with systemd 252 and 257. */
const DEBIANS = ['bookworm', 'trixie'];

/** Parallel test files: they mostly wait. */
const TOGETHER = { maxWorkers: 8, sequence: { groupOrder: 0 } };

/** Test files that run in the same way. */
interface ProjectKind {
  readonly name?: string;
  readonly include: string[];
  readonly exclude: string[];
  /** Not in parallel with others: they load the processors and measure time. */
  readonly alone?: boolean;
}

/** The same tests in a container of each Debian. A project's name is the Debian, and for special kinds a suffix after a dash. */
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
            // Long enough for slow machines; only a hang exceeds it.
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
