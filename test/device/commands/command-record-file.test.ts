import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EMPTY_LEDGER, note, settle, tell } from '../../../src/device/commands/command-ledger.ts';
import {
  INTERRUPTED,
  RECORD_VERSION,
  readRecord,
  writeRecord,
} from '../../../src/device/commands/command-record-file.ts';
import { asWall } from '../../../src/protocol/common/time.ts';

const FOLDER = new URL('../state-files/', import.meta.url);
const files = readdirSync(FOLDER).filter((file) => file.startsWith('commands'));

/** A file as a program of this version wrote it. */
const written = (version: number): string =>
  readFileSync(new URL(`commands-${version}.json`, FOLDER), 'utf8');

describe('the record of commands', () => {
  it('can be read in the version that this program writes', () => {
    const begun = note(
      EMPTY_LEDGER,
      { key: 'k1', content: 'c1', open: { id: 'a', name: 'stop' } },
      asWall(1000),
    );
    const done = settle(note(begun, { key: 'k2', content: 'c2', open: null }, asWall(2000)), 'k2', {
      status: 'ok',
    });
    const text = writeRecord(done);
    expect(JSON.parse(text)).toMatchObject({ version: RECORD_VERSION });
    const read = readRecord(text);
    if (read.kind !== 'kept') throw new Error(read.kind);
    expect(read.content.owed).toEqual([{ id: 'a', name: 'stop', answer: INTERRUPTED }]);
    expect(read.content.ledger.get('k1')?.answer).toEqual(INTERRUPTED);
    expect(read.content.ledger.get('k2')?.answer).toEqual({ status: 'ok' });
  });

  it('keeps the recipient of an answer until the answer has arrived', () => {
    const begun = note(
      EMPTY_LEDGER,
      { key: 'k1', content: 'c1', open: { id: 'a', name: 'stop' } },
      asWall(1000),
    );
    const error = { code: 'busy', message: 'later' };
    const settled = settle(begun, 'k1', { status: 'error', error });
    const owed = (text: string) => {
      const read = readRecord(text);
      return read.kind === 'kept' ? read.content.owed : read.kind;
    };
    expect(owed(writeRecord(settled))).toEqual([
      { id: 'a', name: 'stop', answer: { status: 'error', error } },
    ]);
    expect(owed(writeRecord(tell(settled, 'k1')))).toEqual([]);
  });

  it('does not hold a command that only reads until it has its answer', () => {
    const begun = note(EMPTY_LEDGER, { key: 'k1', content: 'c1', open: null }, asWall(1000));
    expect(JSON.parse(writeRecord(begun))).toMatchObject({ commands: [] });
    const answered = settle(begun, 'k1', { status: 'ok' });
    expect(JSON.parse(writeRecord(answered))).toMatchObject({ commands: [{ key: 'k1', status: 'ok' }] });
  });

  it('has a stored example of each version', () => {
    const kept = Array.from({ length: RECORD_VERSION }, (_, index) => `commands-${index + 1}.json`);
    expect(files).toEqual(kept);
  });

  it.each([RECORD_VERSION, RECORD_VERSION - 1].filter((version) => version > 0))(
    'can be read as version %i wrote it',
    (version) => {
      const read = readRecord(written(version));
      if (read.kind !== 'kept') throw new Error(read.kind);
      const { owed, ledger } = read.content;
      expect(owed).toEqual([{ id: 'stop-7', name: 'stop', answer: INTERRUPTED }]);
      expect([...ledger.values()].map(({ answer }) => answer?.status)).toEqual(['ok', 'error', 'error']);
    },
  );

  it('is recognised when a later program has written it', () => {
    const later = JSON.stringify({ version: RECORD_VERSION + 1, entries: {} });
    expect(readRecord(later)).toEqual({ kind: 'newer', version: RECORD_VERSION + 1 });
  });

  it.each([
    '',
    '{}',
    'null',
    '[]',
    '{"version":0,"commands":[]}',
    '{"version":"1","commands":[]}',
    '{"version":1}',
    '{"version":1,"commands":[{"key":5}]}',
  ])('is rejected when it is %s', (text) => {
    expect(readRecord(text)).toEqual({ kind: 'unreadable' });
  });
});
