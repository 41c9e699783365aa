import { describe, expect, it } from 'vitest';
import { openingText } from '../../../src/page/kiosk/opening.ts';

const NOW = new Date(2026, 0, 1, 23, 30);
const at = (day: number, hour = 9) => new Date(2026, 0, day, hour);

describe('the time at which the kiosk opens', () => {
  it.each([
    ['today', new Date(2026, 0, 1, 23, 45), 'en', 'today 11:45 PM'],
    ['the next day, half an hour later', at(2, 0), 'en', 'tomorrow 12:00 AM'],
    ['the day after', at(3), 'de', 'Samstag 9:00'],
    ['the last day of a week', at(7), 'es', 'miércoles 9:00'],
    ['a week later', at(8), 'en', 'Thursday, January 8 at 9:00 AM'],
    ['tomorrow in Arabic', at(2), 'ar', 'غدًا 9:00 ص'],
    ['tomorrow in Chinese', at(2), 'zh', '明天 9:00'],
  ])('is said as people say it when it is %s', (_what, until, language, text) => {
    expect(openingText(until, NOW, language).replace(/\u202f/g, ' ')).toBe(text);
  });
});
