import { describe, expect, it } from 'vitest';
import {
  type Characters,
  REDACTED,
  redactText,
  redactValue,
  secretSpans,
} from '../../src/adapters/redaction.ts';
import { fc } from '../properties.ts';

/** How often the scan reads a character. */
function steps(text: string): number {
  let looks = 0;
  const counted: Characters = {
    length: text.length,
    charCodeAt(index) {
      looks += 1;
      return text.charCodeAt(index);
    },
  };
  secretSpans(counted, false);
  return looks;
}

const PIECES = [
  'a',
  '_',
  '-',
  '=',
  '.',
  '"',
  "'",
  '\\',
  ':',
  ' ',
  '/',
  '@',
  '://',
  'token',
  'Token',
  'api_key',
  'eyJ',
  'eyJa.b',
  'Bearer ',
  'basic ',
  '"token":"',
  'token=',
  'secret-',
  '\\"password\\"',
  '=x',
  '\n',
];
const MOST_STEPS_PER_CHARACTER = 20;

describe('redaction', () => {
  it('takes time in proportion to the text, for any content', () => {
    const nasty = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 });
    void fc.assert(
      fc.property(nasty, nasty, fc.integer({ min: 1, max: 400 }), (unit, end, times) => {
        const text = unit.join('').repeat(times) + end.join('');
        expect(steps(text)).toBeLessThanOrEqual(MOST_STEPS_PER_CHARACTER * (text.length + 1));
      }),
      { numRuns: 500 },
    );
  });

  it.each(PIECES)('takes at most twice the steps for twice as many "%s"', (piece) => {
    const once = steps(piece.repeat(5000));
    expect(steps(piece.repeat(10_000)) / once).toBeLessThan(2.1);
  });

  it('removes what looks like a secret, anywhere, and nothing else', () => {
    for (const [text, safe] of [
      ['token=abc&x=1', `token=${REDACTED}&x=1`],
      ['a my-api_key=abc, b', `a my-api_key=${REDACTED}, b`],
      ['authorization=Bearer abcdefgh x', `authorization=Bearer ${REDACTED} x`],
      ['wss://me:pa ss', 'wss://me:pa ss'],
      ['mqtt://me:pass@host/x', `mqtt://${REDACTED}@host/x`],
      ["{'sessionToken' : 'abc'}", `{'sessionToken' : '${REDACTED}'}`],
      [String.raw`"{\"jwt\":\"abc\"}"`, String.raw`"{\"jwt\":\"${REDACTED}\"}"`],
      ['x-eyJhbGciOiJ9.e30.sig.', `x-${REDACTED}.`],
      ['tokens = 3, tokens=3, Basic fact', 'tokens = 3, tokens=3, Basic fact'],
      ['cannot reach mqtt://10.0.0.1:1883', 'cannot reach mqtt://10.0.0.1:1883'],
      ['token=', 'token='],
      ['', ''],
    ] as const) {
      expect(redactText(text)).toBe(safe);
    }
  });

  it('removes a secret that was cut in its middle', () => {
    for (const text of ['mqtt://me:passw', 'Bearer abc', 'eyJhbGciOiJ9.e30abc']) {
      expect(redactText(text, true)).toContain(REDACTED);
      expect(redactText(text, false)).toBe(text);
    }
  });

  it('cuts before it searches, keys too, and reports the missing length', () => {
    const long = 'x'.repeat(5000);
    expect(redactValue({ [long]: [long] }, 10)).toEqual({
      'xxxxxxxxxx... (4990 more characters)': ['xxxxxxxxxx... (4990 more characters)'],
    });
  });

  it.each([
    ['token', true],
    ['access_token', true],
    ['accessToken', true],
    ['x-api-key', true],
    ['privateKey', true],
    ['PASSWORD', true],
    [`${'very_'.repeat(10)}secret`, true],
    ['tokens', false],
    ['betoken', false],
    ['key', false],
  ])('hides the value of the key "%s": %s', (key, isSecret) => {
    expect(redactValue({ [key]: 'abc' })).toEqual({ [key]: isSecret ? REDACTED : 'abc' });
  });
});
