import { defineConfig } from 'vitest/config';

/** The tests under a real systemd: `npm run test:systemd`, as root. They boot machines, so `npm test` leaves them out. */
export default defineConfig({
  test: {
    include: ['test/nspawn/**/*.test.ts'],
    globalSetup: ['test/nspawn/setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // They mostly wait.
    maxWorkers: 4,
  },
});
