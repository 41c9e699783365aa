import { bootedTests } from './projects.ts';

/** The tests under a real systemd: `npm run test:systemd`, as root. They boot machines, so `npm test` leaves them out. */
const FLOOD = 'test/nspawn/memory.test.ts';

export default bootedTests(
  { include: ['test/nspawn/**/*.test.ts'], exclude: ['test/nspawn/packages*.test.ts', FLOOD] },
  { name: 'flood', include: [FLOOD], exclude: [], alone: true },
);
