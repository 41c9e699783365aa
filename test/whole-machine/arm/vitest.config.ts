import { defineConfig } from 'vitest/config';
import { PATIENT } from '../../setup/patience.ts';

/** The shipped agent on the Node of other processors: `npm run test:arm`. */
export default defineConfig({
  test: {
    include: ['test/whole-machine/arm/*.test.ts'],
    globalSetup: 'test/setup/run-folder.ts',
    testTimeout: 480_000,
    hookTimeout: 480_000,
    expect: PATIENT,
  },
});
