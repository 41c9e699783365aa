import { defineConfig } from 'vitest/config';

/** The shipped agent on the Node of other processors: `npm run test:arm`. */
export default defineConfig({
  test: {
    include: ['test/device/arm/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
