import { describe, expect, it } from 'vitest';
import { EMPTY_LEDGER, isExpired, note } from '../../src/core/command-ledger.ts';

describe('the ledger of commands', () => {
  it('tells a command that comes again from a new one', () => {
    const first = note(EMPTY_LEDGER, 'a');
    expect(first.fresh).toBe(true);
    const second = note(first.ledger, 'b');
    expect(second.fresh).toBe(true);
    const again = note(second.ledger, 'a');
    expect(again.fresh).toBe(false);
    expect(again.ledger).toBe(second.ledger);
  });

  it('remembers the last 512, the oldest being forgotten first', () => {
    let ledger = EMPTY_LEDGER;
    for (let i = 0; i < 513; i++) ledger = note(ledger, `${i}`).ledger;
    expect(ledger.ids).toHaveLength(512);
    expect(note(ledger, '1').fresh).toBe(false);
    expect(note(ledger, '512').fresh).toBe(false);
    expect(note(ledger, '0').fresh).toBe(true);
  });
});

describe('a command that came too late', () => {
  const NOON = '2026-05-01T12:00:00Z';
  const noonMs = Date.parse(NOON);

  it('is told by the wall clock', () => {
    expect(isExpired(NOON, noonMs - 1)).toBe(false);
    expect(isExpired(NOON, noonMs)).toBe(false);
    expect(isExpired(NOON, noonMs + 1)).toBe(true);
  });

  it('is not told without a clock or without a limit', () => {
    expect(isExpired(NOON, null)).toBe(false);
    expect(isExpired(null, noonMs)).toBe(false);
    expect(isExpired(undefined, noonMs)).toBe(false);
  });
});
