import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { localImports } from '../setup/local-imports.ts';
import { PATIENT } from '../setup/patience.ts';

const filesOf = (...names: string[]) => names.map((name) => `test/card/${name}.test.ts`);
/** Minutes of sound, judged sample by sample: beside other tests they would be skipped or fail. */
const ALONE = filesOf('cancel', 'loop-delay', 'program');
/** Minutes of sound too, but they bear that the machine stalls for a part of a second. CI runs them beside what gives way. */
const BEARING = filesOf('desk', 'kiosk');

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
        exclude: [...ALONE, ...BEARING],
        maxWorkers: 4,
        sequence: { groupOrder: 0 },
      }),
      project('alone', { include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } }),
      project('bearing', { include: BEARING, maxWorkers: 2, sequence: { groupOrder: 2 } }),
    ],
  },
});
