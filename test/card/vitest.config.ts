import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { localImports } from '../setup/local-imports.ts';
import { PATIENT } from '../setup/patience.ts';

/** Minutes of sound, judged sample by sample: beside other tests they would be skipped or fail. */
const ALONE = ['addon', 'cancel', 'desk', 'loop-delay', 'kiosk', 'program'].map(
  (name) => `test/card/${name}.test.ts`,
);

const project = (name: string, test: TestProjectInlineConfiguration['test']) => ({
  plugins: [localImports()],
  test: { name, testTimeout: 240_000, hookTimeout: 240_000, expect: PATIENT, ...test },
});

/** Sound on a virtual card, in real time: `npm run test:card`, on an otherwise idle machine. */
export default defineConfig({
  test: {
    globalSetup: 'test/setup/run-folder.ts',
    projects: [
      project('together', {
        include: ['test/card/**/*.test.ts'],
        exclude: ALONE,
        maxWorkers: 4,
        sequence: { groupOrder: 0 },
      }),
      project('alone', { include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } }),
    ],
  },
});
