import { describe, expect, it } from 'vitest';
import { createCommandDispatcher } from '../../src/device/commands/command-dispatcher.ts';
import { bindCommands } from '../../src/device/commands/command-table.ts';
import { createEventLoop } from '../../src/machine/event-loop.ts';
import { createRepeatFilter } from '../../src/machine/repeat-filter.ts';
import { createRunner } from '../../src/machine/runner.ts';
import type { Bus } from '../../src/ports/bus.ts';
import type { Log } from '../../src/ports/log.ts';
import type { StateFile } from '../../src/ports/state-file.ts';
import { COMMANDS } from '../../src/protocol/mqtt/commands/registry.ts';
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
    const fail = (): never => expect.unreachable();
    const dispatcher = createCommandDispatcher(
      {
        address: { prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' },
        groups: [],
        clock,
        log: QUIET,
        repeats: createRepeatFilter(clock),
        runner: createRunner({ clock, loop: createEventLoop(fail), defects: fail }),
        file,
        signatures: null,
        random: () => 0,
      },
      bindCommands({ volume: COMMANDS.volume }, { volume: () => ({}) }),
    );
    const answered: string[] = [];
    const publish: Bus['publish'] = (_, payload) => void answered.push(payload);
    const bus = { publish } as Bus;
    for (let count = 0; count < 3 * DAY.commands; count++) {
      // Measure the third day only: the record then drops old commands.
      if (count === 2 * DAY.commands) Object.assign(written, { writes: 0, bytes: 0 });
      clock.advance(DAY_MS / DAY.commands);
      const payload = JSON.stringify({ id: `command-${count}`, args: { percent: count % 100 } });
      const topic = 'dragoman/v1/museum/kiosk-01/cmd/volume';
      dispatcher.receive(bus, { topic, payload, retain: false, properties: {} });
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    await annotate(`${written.writes} writes, ${(written.bytes / 1e6).toFixed(1)} MB a day`);
    expect(answered).toHaveLength(3 * DAY.commands);
    expect(written.writes).toBe(2 * DAY.commands);
    expect(written.bytes).toBeLessThan(DAY.commandBytes);
  });
});
