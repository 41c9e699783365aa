import { defineConfig } from 'vitest/config';
import { localImports } from '../setup/local-imports.ts';
import { PATIENT } from '../setup/patience.ts';

/** Tests of the kiosk's page in a real browser, one file after the other: `npm run test:screen`. */
export default defineConfig({
  plugins: [localImports()],
  test: {
    include: ['test/screen/**/*.test.ts'],
    globalSetup: 'test/setup/run-folder.ts',
    fileParallelism: false,
    // Loading puppeteer and building the page for each file took seconds.
    isolate: false,
    // Only a hang exceeds it: on a busy machine a browser takes a minute to begin, and under cage one begins twice.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: PATIENT,
  },
});
