import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { PATIENT } from '../setup/patience.ts';

/** The Debian on which everything runs, with systemd 257. */
const NEWEST = 'trixie';
/** The one before, with systemd 252. */
const OLDER = 'bookworm';
/** Ending of the projects that repeat the other tests on the older Debian: before a release. */
const AGAIN = 'again';

/** `expect.poll` starts programs in a container. */
const SELDOM = { poll: { ...PATIENT.poll, interval: 200 } };

/** Parallel test files: they mostly wait. */
const TOGETHER = { maxWorkers: 8, sequence: { groupOrder: 0 } };

/** Test files that run in the same way. */
interface ProjectKind {
  readonly name?: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Files about what the older Debian does in its own way. */
  readonly differs: readonly string[];
  /** Not in parallel with others: they load the processors and measure time. */
  readonly alone?: boolean;
}

/**
 * Tests in containers of each Debian: all on the newest, and on the one before what it does in its own way. The rest on that one is in
 * projects of their own. A project's name starts with the Debian, with suffixes after dashes.
 */
export const bootedTests = (...kinds: readonly ProjectKind[]): ViteUserConfig => {
  const projects = kinds.flatMap(({ name, include, exclude, differs, alone = false }) =>
    [
      { name: [NEWEST, name], include, exclude, alone },
      { name: [OLDER, name], include: differs, exclude, alone },
      { name: [OLDER, name, AGAIN], include, exclude: [...exclude, ...differs], alone },
    ].filter((project) => project.include.length > 0),
  );
  return defineConfig({
    test: {
      globalSetup: 'test/setup/run-folder.ts',
      projects: projects.map(({ name, include, exclude, alone }, index) => ({
        test: {
          name: name.filter((part) => part !== undefined).join('-'),
          include: [...include],
          exclude: [...exclude],
          globalSetup: ['test/nspawn/setup.ts'],
          // Long enough for slow machines; only a hang exceeds it.
          testTimeout: alone ? 900_000 : 600_000,
          hookTimeout: 600_000,
          expect: SELDOM,
          ...(alone ? { maxWorkers: 1, sequence: { groupOrder: 1 + index } } : TOGETHER),
        },
      })),
    },
  });
};
