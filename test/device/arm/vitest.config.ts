import { defineConfig } from 'vitest/config';
import { PATIENT } from '../../setup/patience.ts';

/** The shipped agent on the Node of other processors: `npm run test:arm`. */
export default defineConfig({
  test: {
    include: ['test/device/arm/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: PATIENT,
  },
});
