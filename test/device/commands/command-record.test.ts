import { describe, expect, it } from 'vitest';
import { EMPTY_LEDGER, note, settle } from '../../../src/device/commands/command-ledger.ts';
import { createCommandRecord } from '../../../src/device/commands/command-record.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createMemoryFile } from '../memory-file.ts';

const begin = (ledger = EMPTY_LEDGER, key = 'a') =>
  note(ledger, { key, content: 'c', open: { id: key, name: 'mute' } }, null);

function device() {
  const clock = createVirtualClock();
  const disk = createMemoryFile();
  const saved: boolean[] = [];
  let ledger = begin();
  const record = createCommandRecord({
    file: disk.file,
    clock,
    log: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    kept() {},
    ledger: () => ledger,
    found() {},
  });
  const end = (isSaved: boolean): void => void saved.push(isSaved);
  return {
    clock,
    disk,
    record,
    saved,
    saveNote: () => record.saveNote('a', end),
    saveResult() {
      ledger = settle(ledger, 'a', { status: 'ok' });
      record.saveResult(end);
    },
  };
}

describe('the file of commands', () => {
  it('lists a command from the beginning of its write until its result is written', async () => {
    const { clock, disk, record, saved, saveNote, saveResult } = device();
    disk.hang();
    saveNote();
    expect(record.isListed('a')).toBe(true);
    disk.letGo();
    await clock.elapse(0);
    expect([record.isListed('a'), saved]).toEqual([true, [true]]);
    disk.hang();
    saveResult();
    expect(record.isListed('a')).toBe(true);
    disk.letGo();
    await clock.elapse(0);
    expect([record.isListed('a'), saved]).toEqual([false, [true, true]]);
  });

  it('does not list a command whose write has failed', async () => {
    const { clock, disk, record, saved, saveNote } = device();
    disk.fail('the disk is full (ENOSPC)');
    saveNote();
    await clock.elapse(0);
    expect([record.isListed('a'), saved]).toEqual([false, [false]]);
  });

  it('does not list a command whose write has timed out, until the disk has written it after all', async () => {
    const { clock, disk, record, saved, saveNote } = device();
    disk.hang();
    saveNote();
    await clock.elapse(2000);
    expect([record.isListed('a'), saved]).toEqual([false, [false]]);
    disk.letGo();
    await clock.elapse(0);
    expect(record.isListed('a')).toBe(true);
  });

  it('still lists a command when the write of its result has failed', async () => {
    const { clock, disk, record, saveNote, saveResult } = device();
    saveNote();
    await clock.elapse(0);
    disk.fail('the disk is full (ENOSPC)');
    saveResult();
    await clock.elapse(0);
    expect(record.isListed('a')).toBe(true);
  });
});
