import { bootedTests } from './projects.ts';

/** Tests under a real systemd: `npm run test:systemd`, as root. They boot containers, so `npm test` leaves them out. */
const FLOOD = 'test/nspawn/memory.test.ts';

/** The sandbox, credentials, sound programs and installed Node.js of each Debian. */
const DIFFERS = ['sandbox', 'service', 'sound', 'pipewire', 'page-lines'].map(
  (name) => `test/nspawn/${name}.test.ts`,
);

export default bootedTests(
  {
    include: ['test/nspawn/**/*.test.ts'],
    exclude: ['test/nspawn/packages*.test.ts', FLOOD],
    differs: DIFFERS,
  },
  { name: 'flood', include: [FLOOD], exclude: [], differs: [], alone: true },
);
