import { describe, expect, it } from 'vitest';
import { ownLine, shownAddress } from '../../src/adapters/own-line.ts';

describe('a line of another program', () => {
  it.each([
    [
      'a login',
      'open rtsp://anna:pa@ss/w@cam.example/1 failed',
      'open rtsp://[redacted]@cam.example/1 failed',
    ],
    ['two logins', 'a://u:p@b and c://u:p@d', 'a://[redacted]@b and c://[redacted]@d'],
    ['a secret by name', 'refused: token=abcdef1234, again', 'refused: token=[redacted], again'],
    ['a token by form', 'Bearer abcdef1234 is old', 'Bearer [redacted] is old'],
    ['control characters', ' a\u001b[2Jb\u0000c\u202e ', 'a?[2Jb?c?'],
    ['line breaks', 'one\r\ntwo\u2028three', 'one two three'],
  ])('is shown without %s', (_, text, shown) => {
    expect(ownLine(text)).toBe(shown);
  });

  it('is cut when it is long, and shows no secret that the cut leaves open', () => {
    expect(ownLine('x'.repeat(10_000))).toHaveLength(160);
    expect(ownLine(`${'x'.repeat(150)} token=${'s'.repeat(10_000)}`)).not.toContain('ss');
    expect(ownLine(`mqtt://anna:${'s'.repeat(10_000)}@host`)).not.toContain('ss');
  });
});

describe('the address of a redirect', () => {
  it.each([
    ['https://anna:pa%40ss@other.example:8443/a?token=x#y', 'https://other.example:8443/a'],
    ['/b?token=x', 'wss://broker.example/b'],
    ['//other.example', 'wss://other.example/'],
    ['mqtt://anna:pass@other.example', null],
    ['https://[', null],
  ])('is shown without login, query and fragment: %s', (text, shown) => {
    expect(shownAddress(text, 'wss://broker.example/mqtt')).toBe(shown);
  });
});
