import { describe, expect, it } from 'vitest';
import {
  type CommandLedger,
  EMPTY_LEDGER,
  isExpired,
  look,
  MOST_DATA_LENGTH,
  MOST_REMEMBERED,
  note,
  REMEMBERED_MS,
  settle,
  tell,
} from '../../../src/device/commands/command-ledger.ts';
import { asWall } from '../../../src/protocol/common/time.ts';

const DAY = asWall(Date.UTC(2026, 0, 15));
const OK = { status: 'ok' } as const;
const begin = (ledger: CommandLedger, key: string, at: number | null = DAY): CommandLedger =>
  note(
    ledger,
    { key, content: `content of ${key}`, open: { id: key, name: 'mute' } },
    at === null ? null : asWall(at),
  );
const done = (ledger: CommandLedger, key: string, at: number | null = DAY): CommandLedger =>
  settle(begin(ledger, key, at), key, OK);

describe('the ledger of commands', () => {
  it('returns the outcome of a command, and detects an id that is reused for another command', () => {
    expect(look(EMPTY_LEDGER, 'a', 'content of a')).toBe('fresh');
    const begun = begin(EMPTY_LEDGER, 'a');
    expect(look(begun, 'a', 'content of a')).toBe('open');
    expect(look(begun, 'a', 'other')).toBe('other_content');
    const answer = { status: 'error', error: { code: 'x', message: 'y' } } as const;
    const settled = settle(begun, 'a', answer);
    expect(look(settled, 'a', 'content of a')).toEqual(answer);
    expect(look(settled, 'a', 'other')).toBe('other_content');
  });

  it('marks an answer as unsent until the broker has it', () => {
    const untold = (ledger: CommandLedger) => ledger.get('a')?.untold;
    const begun = begin(EMPTY_LEDGER, 'a');
    expect(untold(begun)).toBeNull();
    const settled = settle(begun, 'a', OK);
    expect(untold(settled)).toEqual({ id: 'a', name: 'mute' });
    // The outcome changes because the disk failed: the answer is still unsent.
    expect(untold(settle(settled, 'a', { status: 'expired' }))).toEqual({ id: 'a', name: 'mute' });
    const told = tell(settled, 'a');
    expect(untold(told)).toBeNull();
    expect(tell(told, 'a')).toBe(told);
    expect(tell(told, 'unknown')).toBe(told);
  });

  it('keeps the last 1,000 commands, and every unanswered command', () => {
    let ledger = begin(EMPTY_LEDGER, 'open');
    for (let i = 0; i < MOST_REMEMBERED + 10; i++) ledger = done(ledger, `${i}`);
    expect(ledger.size).toBe(MOST_REMEMBERED);
    expect(look(ledger, 'open', 'content of open')).toBe('open');
    expect(ledger.has('10')).toBe(false);
    expect(ledger.has('11')).toBe(true);
  });

  it('forgets entries older than a day when the clock is set', () => {
    const ledger = done(done(EMPTY_LEDGER, 'timeless', null), 'old');
    expect(begin(ledger, 'b', DAY + REMEMBERED_MS).has('old')).toBe(true);
    expect(begin(ledger, 'b', null).has('old')).toBe(true);
    const later = begin(ledger, 'b', DAY + REMEMBERED_MS + 1);
    expect([...later.keys()]).toEqual(['timeless', 'b']);
  });

  it('keeps the data of the newest answers only', () => {
    const data = 'x'.repeat(MOST_DATA_LENGTH / 4);
    let ledger = EMPTY_LEDGER;
    for (const key of ['a', 'b', 'c', 'd']) ledger = settle(begin(ledger, key), key, { status: 'ok', data });
    expect(Array.from(ledger.values(), ({ answer }) => answer?.data !== undefined)).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect(look(ledger, 'a', 'content of a')).toEqual(OK);
  });
});

describe('the expiry of a command', () => {
  const NOON = '2026-05-01T12:00:00Z';
  const noonMs = asWall(Date.parse(NOON));

  it('follows the wall clock', () => {
    expect(isExpired(NOON, asWall(noonMs - 1))).toBe(false);
    expect(isExpired(NOON, noonMs)).toBe(false);
    expect(isExpired(NOON, asWall(noonMs + 1))).toBe(true);
  });

  it('never happens when the clock is not set or the command has no limit', () => {
    expect(isExpired(NOON, null)).toBe(false);
    expect(isExpired(null, noonMs)).toBe(false);
    expect(isExpired(undefined, noonMs)).toBe(false);
  });
});
