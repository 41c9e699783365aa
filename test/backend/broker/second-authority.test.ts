import { describeSecondAuthority } from './second-authority.ts';

/** The others are the long test's. */
describeSecondAuthority([['dynsec', 'certificate']]);
