import { describe, expect, it } from 'vitest';
import { createCommandRecord } from '../../src/device/commands/command-record.ts';
import type { Log } from '../../src/ports/log.ts';
import type { StateFile } from '../../src/ports/state-file.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { testJournal } from './disk-tests.ts';

const DAY_MS = 86_400_000;
const QUIET: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
/** Limits for a day: a slow card lasts for years with ten times as much. */
const DAY = { commands: 100, commandBytes: 3_000_000 };

describe('disk writes in a day', () => {
  testJournal({ hoursOfRest: 1, hoursOfVisits: 1 });

  it('writes the command file twice for each command', async ({ annotate }) => {
    const clock = createVirtualClock();
    const written = { writes: 0, bytes: 0 };
    const file: StateFile = {
      name: 'commands',
      read: () => ({ kind: 'none' }),
      async write(text) {
        written.writes += 1;
        written.bytes += Buffer.byteLength(text);
        return { ok: true };
      },
    };
    const record = createCommandRecord(file, clock, QUIET);
    const answered: string[] = [];
    for (let count = 0; count < 3 * DAY.commands; count++) {
      // Measure the third day only: the record then drops old commands.
      if (count === 2 * DAY.commands) Object.assign(written, { writes: 0, bytes: 0 });
      clock.advance(DAY_MS / DAY.commands);
      const command = { id: `command-${count}`, name: 'volume', content: `["volume",{"percent":${count}}]` };
      record.noteThen(command, () =>
        record.settleThen(command.id, { status: 'ok', data: {} }, () => answered.push(command.id)),
      );
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    await annotate(`${written.writes} writes, ${(written.bytes / 1e6).toFixed(1)} MB a day`);
    expect(answered).toHaveLength(3 * DAY.commands);
    expect(written.writes).toBe(2 * DAY.commands);
    expect(written.bytes).toBeLessThan(DAY.commandBytes);
  });
});
