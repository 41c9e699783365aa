import { defineConfig } from 'vitest/config';

/** The image for the card of a Raspberry Pi on emulated boards, one at a time: `npm run test:image`, as root. */
export default defineConfig({
  test: {
    include: ['test/whole-machine/image/*.test.ts'],
    globalSetup: ['test/setup/run-folder.ts', 'test/whole-machine/image/setup.ts'],
    testTimeout: 2_400_000,
    hookTimeout: 1_800_000,
    fileParallelism: false,
    maxWorkers: 1,
    bail: 0,
  },
});
