import { defineConfig, mergeConfig } from 'vitest/config';
import { PATIENT } from '../setup/patience.ts';
import { bootedTests } from './projects.ts';

/** What the builders write, inspected file by file. */
const BUILT = ['test/deb/**/*.test.ts', 'test/build/image/!(*.long).test.ts'];

/** dpkg, apt and systemd of each Debian: from installation to purge, what apt refuses, and the way back from a bad update. */
const DIFFERS = ['packages', 'packages-admin', 'packages-attacks', 'packages-updates'].map(
  (name) => `test/nspawn/${name}.test.ts`,
);

/** Tests the packages and the image: first the built files, then installation to purge under systemd, as root: `npm run test:packages`. */
export default mergeConfig(
  defineConfig({
    test: {
      projects: [
        {
          test: {
            name: 'built',
            include: BUILT,
            testTimeout: 240_000,
            hookTimeout: 240_000,
            expect: PATIENT,
            maxWorkers: 8,
            sequence: { groupOrder: 0 },
          },
        },
      ],
    },
  }),
  bootedTests({ include: ['test/nspawn/packages*.test.ts'], exclude: [], differs: DIFFERS }),
);
