import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ISOLATED } from './test/setup/isolated.ts';
import { localImports } from './test/setup/local-imports.ts';
import { PATIENT } from './test/setup/patience.ts';

/** Cards, packages, whole machines and a browser: `npm run test:card`, `test:packages`, `test:systemd`, `test:arm`, `test:screen`, `test:console`. */
const APART = [
  'test/card/**',
  'test/deb/**',
  'test/build/image/**',
  'test/nspawn/**',
  'test/whole-machine/*/**',
  'test/{screen,console}/**',
];
/** Whole programs in real time: they mostly wait, and need the processor at once when they do not. */
const REAL_TIME = ['test/e2e/**/*.test.ts'];
/** Many draws or much computing, for `npm run test:long`; the file beside each, without `long`, checks the main claim. */
const LONG = ['test/**/*.long.test.ts'];
/** Tests without files, sockets and waiting: `npm run test:fast`. */
const PURE = [
  'test/*.test.ts',
  'test/{core,protocol,config,scripts,sim,sound,tidy,updater}/**/*.test.ts',
  'test/{emulator,installer}/core/**/*.test.ts',
  'test/device/*.test.ts',
  // Without `throwing`: its tests replace modules, which files that share a process must not do.
  'test/device/!(throwing|doctor)/**/*.test.ts',
  // Of the doctor, most tests read the machine or open sockets.
  'test/device/doctor/**/*-rules.test.ts',
  'test/device/doctor/{report,checks/playback}/*.test.ts',
  'test/device/doctor/{lanes-in-turn,machine-checks}.test.ts',
];

/** The order in which projects start: the slowest first, so that short files fill the end. */
const ORDER = ['real-time', 'isolated', 'programs', 'long', 'pure'];
/** Files that compute or wait for many seconds. They start first in their project: one that starts last runs alone at the end. */
const SLOW = [
  'adapters/audio/child/capture',
  'adapters/audio/child/playback',
  'adapters/audio/child/slow-start',
  'adapters/echo/echo-filter',
  'adapters/echo/rest',
  'adapters/mqtt/refused-publish',
  'adapters/network/far-network',
  'installer/lock',
  'backend/broker/hostile-requests',
  'backend/broker/second-authority',
  'backend/broker/stays-out',
  'backend/broker/template',
  'backend/cli',
  'backend/jobs/jobs',
  'backend/console/killed-console',
  'backend/issuing/request-intake',
  'backend/store/killed-backends',
  'backend/store/two-backends',
  'build/bundles',
  'build/phrases',
  'cli/devices/real-meter',
  'sound/canceller-filter',
  'sound/echo-detector',
  'sound/half-duplex',
  'device/doctor/checks/playback/test-tone',
  'sound/speech/talk-detector',
  'e2e/demo',
  'echo/echo',
  'examples/backend',
  'fleet/fleet',
  'program/hanging-disk',
  'sim/seeds',
].flatMap((name) => [`/test/${name}.test.ts`, `/test/${name}.long.test.ts`]);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) => SLOW.some((name) => moduleId.endsWith(name));
    const rank = (file: TestSpecification) => 2 * ORDER.indexOf(file.project.name) + Number(!isSlow(file));
    // Without tests in real time, no test needs to yield the processor.
    if (files.some(({ project }) => project.name === ORDER[0])) process.env['TESTS_GIVE_WAY'] = '1';
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

/** Lowers the priority of programs below tests in real time. */
const GIVES_WAY = ['test/setup/priority.ts'];

const common = {
  // Projects and later runs share transformed files.
  experimental: { fsModuleCache: true },
  // Several times what any test needs: the machine may be slow and busy.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: PATIENT,
};

/**
 * For tests that mostly wait: ten files at a time keep two cores busy. Each further worker loads all modules once more. Projects of one
 * group must have the same number.
 */
const WAITING = { maxWorkers: 10, sequence: { groupOrder: 0 } };
/** For tests that compute, after those that wait: one process per core, because each loads and compiles the same modules. */
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
          exclude: LONG,
          // The demos of the end-to-end test run at the same time, all in real time.
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
          exclude: [...REAL_TIME, ...PURE, ...ISOLATED, ...APART, ...LONG],
          // Loading zod, a broker and a client for each of a hundred files took a third of their time.
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
          // Loading the core and zod for each of hundreds of files took a third of their time; compiled code stays in use.
          isolate: false,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: [
        'src/{core,sound}/**',
        'src/installer/core/**',
        'src/device/{lane,playout,screen/captions}/**',
        'src/device/**/*-{rules,machine}.ts',
        'src/device/desk/{conversation,notice,restoration,typing,visitor-language}.ts',
        'src/device/limits/{admission,budget,local-time,schedule}.ts',
        'src/device/{commands/command-ledger,screen/screen-status,tokens/stream-address,update/good-moment}.ts',
      ],
      exclude: ['src/device/lane/runner/**'],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 95, branches: 95 },
    },
  },
});
