import { defineConfig } from 'vitest/config';
import { localImports } from '../setup/local-imports.ts';
import { PATIENT } from '../setup/patience.ts';

/** Milliseconds of paint, sound beside the page, and a browser that starts twice under cage: CI runs these alone on the machine. */
const IN_TIME = ['latency', 'reaction', 'load', 'cage'].map((name) => `test/screen/${name}.test.ts`);

const common = {
  fileParallelism: false,
  // Loading puppeteer and building the page for each file took seconds.
  isolate: false,
  // Only a hang exceeds it: on a busy machine a browser takes a minute to begin, and under cage one begins twice.
  testTimeout: 600_000,
  hookTimeout: 120_000,
  expect: PATIENT,
};

/** Tests of the kiosk's page in a real browser, one file after the other: `npm run test:screen`. */
export default defineConfig({
  test: {
    globalSetup: 'test/setup/run-folder.ts',
    projects: [
      {
        plugins: [localImports()],
        test: { ...common, name: 'page', include: ['test/screen/**/*.test.ts'], exclude: IN_TIME },
      },
      { plugins: [localImports()], test: { ...common, name: 'in-time', include: IN_TIME } },
    ],
  },
});
