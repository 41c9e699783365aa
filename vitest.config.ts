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
const ORDER = ['real-time', 'simulated', 'isolated', 'programs', 'pure'];
/** Before all of them: they compute for half a minute and more, and give way to whatever wants to be served at once. */
const BACKGROUND = ['sim/seeds', 'sim/spoiled', 'core/audio/canceller'].map(
  (name) => `/test/${name}.test.ts`,
);
/** Files that compute for ten seconds and more: one of them, begun last, would keep one core busy and leave the others idle. */
const LONG = [
  'adapters/echo/echo-filter',
  'core/audio/echo-detector',
  'core/doctor/test-tone',
  'core/speech/talk-detector',
  'core/audio/half-duplex',
  'core/lane/hostile',
  'core/audio/loudness/normalizer',
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isOf = (list: readonly string[], { moduleId }: TestSpecification) =>
      list.some((name) => moduleId.endsWith(name));
    const rank = (file: TestSpecification) =>
      isOf(BACKGROUND, file) ? -1 : 2 * ORDER.indexOf(file.project.name) + Number(!isOf(LONG, file));
    // Where nothing is in real time, nobody has to give way.
    if (files.some(({ project }) => project.name === ORDER[0])) process.env['TESTS_GIVE_WAY'] = '1';
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

/** What computes runs when nothing in real time wants the processor, programs that are started and asked before what only computes. */
const GIVES_WAY = ['test/setup/priority.ts'];

/** Who gives way to everybody, on a busy machine too, waits long. */
const LAST_IN_LINE_TIMEOUT_MS = 600_000;

const common = {
  // Far beyond what any test needs: a machine may be slow and busy.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: PATIENT,
  // All projects share one queue, and therefore one number: on two cores some wait while others compute.
  maxWorkers: 8,
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        plugins: [localImports()],
        test: {
          ...common,
          name: 'real-time',
          include: REAL_TIME,
          exclude: ALONE,
          // The demos of the end-to-end test all wait for real time, together.
          maxConcurrency: 8,
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          name: 'simulated',
          include: SIMULATED,
          // What is compiled and in use stays so from one file to the next.
          isolate: false,
          setupFiles: GIVES_WAY,
          env: { TESTS_PRIORITY: '10' },
          testTimeout: LAST_IN_LINE_TIMEOUT_MS,
          hookTimeout: LAST_IN_LINE_TIMEOUT_MS,
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          name: 'isolated',
          include: ISOLATED,
          setupFiles: GIVES_WAY,
          env: { TESTS_PRIORITY: '5' },
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          name: 'programs',
          include: ['test/**/*.test.ts'],
          exclude: [...REAL_TIME, ...SIMULATED, ...PURE, ...ISOLATED, ...BOOTED],
          // Loading zod, a broker and a client of it for each of a hundred files took a third of their time.
          isolate: false,
          setupFiles: GIVES_WAY,
          env: { TESTS_PRIORITY: '5' },
        },
      },
      {
        plugins: [localImports()],
        test: {
          ...common,
          name: 'pure',
          include: PURE,
          // Loading the core and zod for each of a hundred files took a third of their time.
          isolate: false,
          setupFiles: GIVES_WAY,
          env: { TESTS_PRIORITY: '10' },
          testTimeout: LAST_IN_LINE_TIMEOUT_MS,
          hookTimeout: LAST_IN_LINE_TIMEOUT_MS,
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
