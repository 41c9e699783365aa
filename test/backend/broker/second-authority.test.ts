import { describeSecondAuthority } from './second-authority.ts';

/** The long test covers the other combinations. */
describeSecondAuthority([['dynsec', 'certificate']]);
