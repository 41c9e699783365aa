import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ALONE } from './test/setup/alone.ts';
import { ISOLATED } from './test/setup/isolated.ts';
import { localImports } from './test/setup/local-imports.ts';
import { PATIENT } from './test/setup/patience.ts';

/** Boots machines or emulates processors, with configurations of its own: `npm run test:systemd`, `test:arm`. */
const BOOTED = ['test/nspawn/**', 'test/device/*/**'];
/** Programs and sound in real time: they mostly wait, and must be served at once when they do not. */
const REAL_TIME = ['test/e2e/**/*.test.ts', 'test/card/**/*.test.ts'];
/** Computes or draws for long; what it holds in full, the file beside it without `long` holds in part: `npm run test:long`. */
const LONG = ['test/**/*.long.test.ts'];
const SIMULATED = ['test/sim/**/*.test.ts'];
/** What decides, without files, sockets or time: `npm run test:fast`. */
const PURE = [
  'test/*.test.ts',
  'test/{core,protocol,config,scripts,tidy}/**/*.test.ts',
  'test/{backend,emulator}/core/**/*.test.ts',
  'test/agent/*.test.ts',
  // Not those of `throwing`: they replace modules, and must be alone with them.
  'test/agent/!(throwing)/**/*.test.ts',
];

/** The order in which they start: those that take longest to wait for, first; small ones fill what is left. */
const ORDER = ['real-time', 'isolated', 'programs', 'long', 'simulated', 'pure'];
/** Files that compute for seconds: one of them, begun last, would keep one core busy and leave the others idle. */
const HEAVY = [
  'adapters/echo/echo-filter',
  'adapters/echo/rest',
  'core/audio/canceller-filter',
  'core/audio/echo-detector',
  'core/audio/half-duplex',
  'core/doctor/test-tone',
  'core/speech/talk-detector',
  'echo/echo',
  'build/phrases',
  'build/image/image',
  'e2e/demo',
  'sim/seeds',
].flatMap((name) => [`/test/${name}.test.ts`, `/test/${name}.long.test.ts`]);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isHeavy = ({ moduleId }: TestSpecification) => HEAVY.some((name) => moduleId.endsWith(name));
    const rank = (file: TestSpecification) => 2 * ORDER.indexOf(file.project.name) + Number(!isHeavy(file));
    // Where nothing is in real time, nobody has to give way.
    if (files.some(({ project }) => project.name === ORDER[0])) process.env['TESTS_GIVE_WAY'] = '1';
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

/** Programs run when nothing in real time wants the processor. */
const GIVES_WAY = ['test/setup/priority.ts'];

const common = {
  // Projects share what one of them has transformed, as does the next run.
  experimental: { fsModuleCache: true },
  // Far beyond what any test needs: a machine may be slow and busy.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: PATIENT,
};

/** What mostly waits, for others and for time: this many side by side keep two cores busy. */
const WAITING = { maxWorkers: 8, sequence: { groupOrder: 0 } };
/** What only computes comes when all that has ended: one process a core, each of which loads and compiles the same. */
const COMPUTING = { maxWorkers: availableParallelism(), sequence: { groupOrder: 1 } };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: 'test/setup/run-folder.ts',
    projects: [
      {
        plugins: [localImports()],
        test: {
          ...common,
          ...WAITING,
          name: 'real-time',
          include: REAL_TIME,
          exclude: [...ALONE, ...LONG],
          // The demos of the end-to-end test all wait for real time, together.
          maxConcurrency: 8,
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          ...COMPUTING,
          name: 'long',
          include: LONG,
          isolate: false,
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          ...COMPUTING,
          name: 'simulated',
          include: SIMULATED,
          exclude: LONG,
          // What is compiled and in use stays so from one file to the next.
          isolate: false,
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          ...WAITING,
          name: 'isolated',
          include: ISOLATED,
          setupFiles: GIVES_WAY,
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          ...WAITING,
          name: 'programs',
          include: ['test/**/*.test.ts'],
          exclude: [...REAL_TIME, ...SIMULATED, ...PURE, ...ISOLATED, ...BOOTED, ...LONG],
          // Loading zod, a broker and a client of it for each of a hundred files took a third of their time.
          isolate: false,
          setupFiles: GIVES_WAY,
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          ...COMPUTING,
          name: 'pure',
          include: PURE,
          exclude: LONG,
          // Loading the core and zod for each of a hundred files took a third of their time.
          isolate: false,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/core/**'],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 95, branches: 95 },
    },
  },
});
