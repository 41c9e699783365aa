import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { excesses, parseList } from '../../scripts/skips.mjs';

const LIST = parseList('# comment\n\nbare | 2 | needs mosquitto\nbare | 1 | the machine was too busy\n');
const skipped = (...reasons: (string | null)[]) =>
  reasons.map((reason, i) => ({ file: 'a.test.ts', name: `test ${i}`, reason }));

describe('the list of skipped tests', () => {
  it('accepts as many as it names for each reason, and fewer', () => {
    const busy = 'the machine was too busy: this process stalled for 412 ms';
    expect(excesses(LIST, 'bare', skipped('needs mosquitto', busy, 'needs mosquitto'))).toEqual([]);
    expect(excesses(LIST, 'bare', [])).toEqual([]);
  });

  it('names each reason for which more are skipped than listed, and those that it does not know', () => {
    const skips = skipped('needs mosquitto', 'needs mosquitto', 'needs mosquitto', 'needs sox');
    expect(excesses(LIST, 'bare', skips)).toEqual([
      'bare: 3 skipped, at most 2 expected: needs mosquitto',
      'bare: 1 skipped, at most 0 expected: needs sox',
    ]);
  });

  it('holds for its own suite only', () => {
    expect(excesses(LIST, 'other', skipped('needs mosquitto'))).toEqual([
      'other: 1 skipped, at most 0 expected: needs mosquitto',
    ]);
  });

  it('names tests that are skipped without a reason', () => {
    expect(excesses(LIST, 'bare', skipped(null))).toEqual([
      'bare: skipped without a reason: a.test.ts: test 0',
    ]);
  });

  it('refuses a line that is not an entry', () => {
    expect(() => parseList('bare | two | x')).toThrow(
      'line 1 is not "suite | most | reason": bare | two | x',
    );
  });

  it('is readable as committed', () => {
    expect(parseList(readFileSync(new URL('../../.ci/skips.txt', import.meta.url), 'utf8'))).not.toEqual([]);
  });
});
