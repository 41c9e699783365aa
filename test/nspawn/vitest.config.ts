import { defineConfig } from 'vitest/config';

/** What ships the agent, by its systemd: 252 and 257. */
const DEBIANS = ['bookworm', 'trixie'];

/** The tests under a real systemd: `npm run test:systemd`, as root. They boot machines, so `npm test` leaves them out. */
export default defineConfig({
  test: {
    projects: DEBIANS.map((name) => ({
      test: {
        name,
        include: ['test/nspawn/**/*.test.ts'],
        globalSetup: ['test/nspawn/setup.ts'],
        testTimeout: 120_000,
        hookTimeout: 60_000,
        // They mostly wait.
        maxWorkers: 8,
      },
    })),
  },
});
