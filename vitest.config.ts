import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    // The demos of the end-to-end test all wait for real time, together.
    maxConcurrency: 8,
    hookTimeout: 20_000,
    // Two files at a time: real-time tests of several programs must not starve each other on a small machine.
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['src/core/**'],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 95, branches: 95 },
    },
  },
});
