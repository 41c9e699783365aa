import { describe } from 'vitest';
import { testJournal } from './journal.ts';

describe('what a day writes to the disk', () => {
  testJournal({ hoursOfRest: 1.5, hoursOfVisits: 3 });
});
