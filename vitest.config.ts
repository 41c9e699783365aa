import { defineConfig } from 'vitest/config';

const ALL = 'test/**/*.test.ts';
/** Boots machines, with a configuration of its own: `npm run test:systemd`. */
const BOOTED = 'test/nspawn/**';
/** Programs and sound in real time: their processes must not be starved by the tests that only reckon. */
const REAL_TIME = ['test/e2e/**/*.test.ts', 'test/card/**/*.test.ts'];

const common = {
  // Far beyond what any test needs: a machine may be slow and busy.
  testTimeout: 120_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'calculated',
          include: [ALL],
          exclude: [...REAL_TIME, BOOTED],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'real-time',
          include: REAL_TIME,
          // They mostly wait.
          maxWorkers: 4,
          // The demos of the end-to-end test all wait for real time, together.
          maxConcurrency: 8,
          sequence: { groupOrder: 1 },
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
