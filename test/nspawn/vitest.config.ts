import { bootedTests } from './projects.ts';

/** The tests under a real systemd: `npm run test:systemd`, as root. They boot machines, so `npm test` leaves them out. */
export default bootedTests({
  include: ['test/nspawn/**/*.test.ts'],
  exclude: ['test/nspawn/packages*.test.ts'],
});
