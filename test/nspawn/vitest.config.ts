import { bootedTests } from './projects.ts';

/** Tests under a real systemd: `npm run test:systemd`, as root. They boot containers, so `npm test` leaves them out. */
const FLOOD = 'test/nspawn/memory.test.ts';

export default bootedTests(
  { include: ['test/nspawn/**/*.test.ts'], exclude: ['test/nspawn/packages*.test.ts', FLOOD] },
  { name: 'flood', include: [FLOOD], exclude: [], alone: true },
);
