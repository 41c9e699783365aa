import { describe } from 'vitest';
import { LONG_WAITS, testAskedWaits, testSpacing } from './waits.ts';

describe('a lane that waits', () => {
  testSpacing({ lanes: 200, minutes: 60 });
  testAskedWaits(LONG_WAITS, 20);
});
