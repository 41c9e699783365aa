import { describe } from 'vitest';
import { describeYear } from './opening-year.ts';

describe.each([
  ['Europe/Berlin', 'two changes of an hour'],
  ['America/New_York', 'two changes of an hour'],
  ['Australia/Lord_Howe', 'two changes of half an hour, in the southern summer'],
  ['Asia/Kolkata', 'an offset with half an hour, no changes'],
  ['Asia/Tokyo', 'no changes'],
  ['America/St_Johns', 'an offset with half an hour, two changes'],
  ['UTC', 'no zone at all'],
])('a year in %s (%s)', (zone) => {
  describeYear(zone, 101);
});
