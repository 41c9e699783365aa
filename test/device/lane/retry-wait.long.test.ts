import { describe } from 'vitest';
import { LONG_WAITS, testAskedWaits, testSpacing } from './retry-waits.ts';

describe('a lane that waits', () => {
  testSpacing({ lanes: 200, minutes: 60 });
  testAskedWaits(LONG_WAITS, 20);
});
