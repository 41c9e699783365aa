import { bootedTests } from './projects.ts';

/** Tests the packages from installation to purge: `npm run test:packages`, as root. */
export default bootedTests({ include: ['test/nspawn/packages*.test.ts'], exclude: [] });
