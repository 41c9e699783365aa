import { defineConfig } from 'vitest/config';
import { PATIENT } from '../setup/patience.ts';

/** The project that takes an hour; it runs only when named. */
const LONG = 'day';
const isNamed = process.argv.includes(LONG);

const COMMON = {
  testTimeout: 300_000,
  hookTimeout: 600_000,
  expect: PATIENT,
  fileParallelism: false,
  bail: 0,
};

/** One machine at a time. */
const project = (name: string) => ({
  test: {
    name,
    include: ['test/whole-machine/scenarios/*.test.ts'],
    exclude: isNamed ? [] : [`test/whole-machine/scenarios/${LONG}.test.ts`],
    globalSetup: ['test/whole-machine/setup.ts'],
    ...COMMON,
  },
});

/** Debian 13 with virtual time, the same on every host. */
const VIRTUAL = {
  test: {
    name: 'virtual',
    include: ['test/whole-machine/virtual/*.test.ts'],
    globalSetup: ['test/whole-machine/virtual/setup.ts'],
    ...COMMON,
  },
};

/** Debian 13 on User-Mode Linux, whose power is cut during updates. */
const UPDATE = { test: { name: 'update', include: ['test/whole-machine/update/*.test.ts'], ...COMMON } };

/** The installed packages on a whole machine with its own kernel: `npm run test:device`, as root. */
export default defineConfig({
  test: {
    globalSetup: 'test/setup/run-folder.ts',
    maxWorkers: 1,
    projects: [...['trixie', 'bookworm', 'trixie-arm64'].map(project), VIRTUAL, UPDATE],
  },
});
