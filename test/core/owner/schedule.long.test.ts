import { describe } from 'vitest';
import { describeYear } from './opening-year.ts';

describe.each([
  ['Europe/Berlin', 'two changes of an hour'],
  ['America/New_York', 'two changes of an hour'],
  ['Australia/Lord_Howe', 'two changes of half an hour, on the other half of the year'],
  ['Asia/Kolkata', 'half an hour beside the others, no changes'],
  ['Asia/Tokyo', 'no changes'],
  ['America/St_Johns', 'half an hour beside the others, two changes'],
  ['UTC', 'no zone at all'],
])('a year in %s (%s)', (zone) => {
  describeYear(zone, 101);
});
