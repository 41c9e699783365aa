import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { cleanedJson } from '../../../../src/page/console/texts/cleaned.ts';
import {
  language,
  lastingText,
  longTimeText,
  maybeText,
  numberText,
  t,
  timeText,
} from '../../../../src/page/console/texts/text.ts';

const NOON = Date.UTC(2026, 10, 27, 12);

beforeEach(() => {
  vi.stubGlobal('navigator', { languages: ['en-GB', 'de-DE'] });
  vi.stubEnv('TZ', 'Europe/Berlin');
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  language.value = 'en';
});
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

describe('a time', () => {
  it.each([
    ['2026-11-26T23:00:00.000Z', '00:00:00'],
    ['2026-11-26T22:59:59.000Z', '26 Nov, 23:59:59'],
    ['2026-11-27T22:59:59.000Z', '23:59:59'],
    ['2025-12-31T23:00:00.000Z', '01 Jan, 00:00:00'],
    ['2025-12-31T22:59:59.000Z', '31 Dec 2025, 23:59:59'],
  ])("of %s is %s in the viewer's zone, with its day and year where they are others", (at, shown) => {
    expect(timeText(at)).toBe(shown);
  });

  it('that is not known says so', () => {
    for (const at of [null, undefined, 'soon']) expect(timeText(at)).toBe(t('unknown'));
    expect(longTimeText('soon')).toBe('');
    expect(longTimeText(NOON)).toMatch(/^Friday,? 27 November 2026.*13:00:00 (CET|GMT\+1)$/);
  });
});

describe('a duration', () => {
  it.each([
    [59.4, '59 seconds'],
    [60, '1 minute'],
    [3599, '60 minutes'],
    [3600, '1.0 h'],
    [86_399, '24.0 h'],
    [86_400, '1.0 d'],
    [216_000, '2.5 d'],
  ])('of %s s is "%s"', (seconds, shown) => {
    expect(lastingText(seconds)).toBe(shown);
  });
});

describe('a text', () => {
  it('has the form of its number, as the language writes it', () => {
    expect(t('devices', { n: 1 })).toBe('1 device');
    expect(t('devices', { n: 0 })).toBe('0 devices');
    expect(t('devices', { n: 1200 })).toBe('1,200 devices');
    expect(numberText(1234.56, 1)).toBe('1,234.6');
    language.value = 'de';
    expect(numberText(1_234_567.5, 1)).toBe('1.234.567,5');
  });

  it('is null where there is none', () => {
    expect(maybeText('role', 'viewer')).toBe(t('role_viewer'));
    expect(maybeText('role', 'emperor')).toBeNull();
  });
});

describe('an answer of a device', () => {
  it('keeps the line ends of its JSON, and shows what could hide or turn text', () => {
    const shown = cleanedJson({ lanes: [{ id: 'main\n\u202e' }] });
    expect(shown.split('\n')).toEqual([
      '{',
      '  "lanes": [',
      '    {',
      '      "id": "main\\n�"',
      '    }',
      '  ]',
      '}',
    ]);
  });
});
