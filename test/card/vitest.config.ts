import { defineConfig } from 'vitest/config';
import { ALONE } from '../setup/alone.ts';
import { localImports } from '../setup/local-imports.ts';
import { PATIENT } from '../setup/patience.ts';

/** Tests that run one after the other without other load: `npm run test:card`. */
export default defineConfig({
  plugins: [localImports()],
  test: {
    include: ALONE,
    globalSetup: 'test/setup/run-folder.ts',
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: PATIENT,
  },
});
