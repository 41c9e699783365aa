import { bootedTests } from './projects.ts';

/** What an owner does with the packages, from the first day to the last: `npm run test:packages`, as root. */
export default bootedTests({ include: ['test/nspawn/packages*.test.ts'], exclude: [] });
