import { describe } from 'vitest';
import { testJournal } from './disk-tests.ts';

describe('disk writes in a day', () => {
  testJournal({ hoursOfRest: 1.5, hoursOfVisits: 3 });
});
