import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemdNotifier } from '../../../src/adapters/systemd/notifier.ts';
import type { Log } from '../../../src/ports/log.ts';
import { makeProgram } from '../audio/child/fake-programs.ts';
import { makeFolder } from '../audio/wav-files.ts';

const within = { timeout: 60_000, interval: 20 };

function createLog() {
  const errors: string[] = [];
  const log: Log = {
    trace() {},
    debug() {},
    info() {},
    warn() {},
    error: (_f, text) => void errors.push(text),
  };
  return { log, errors };
}

/** A program in the place of systemd-notify that records its arguments and its socket. */
function createRecorder(code = '') {
  const folder = makeFolder();
  const file = join(folder, 'reported');
  const program = makeProgram(
    `fs.appendFileSync(${JSON.stringify(file)}, JSON.stringify([process.env.NOTIFY_SOCKET, ...process.argv.slice(2)]) + '\\n'); ${code}`,
    folder,
  );
  const reported = (): string[][] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as string[])
      : [];
  return { program, reported };
}
const SOCKET = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: process.env['PATH'] };

describe('an init system', () => {
  it('is absent when there is no socket', () => {
    const { program, reported } = createRecorder();
    const initSystem = createSystemdNotifier({}, createLog().log, program);
    initSystem.tell({ ready: true });
    expect(initSystem).toMatchObject({ listens: false, watchdogMs: null });
    expect(reported()).toEqual([]);
  });

  it('gets news in order, with a message of its own for each change of state', async () => {
    const { program, reported } = createRecorder();
    const initSystem = createSystemdNotifier(SOCKET, createLog().log, program);
    initSystem.tell({ ready: true, status: 'ready:\nall is well' });
    initSystem.tell({ reloading: true });
    initSystem.tell({ status: 'one' });
    initSystem.tell({ alive: true, status: 'two' });
    initSystem.tell({ ready: true });
    initSystem.tell({ stopping: true });
    await expect.poll(() => reported().length, within).toBe(4);
    expect(reported()).toEqual([
      [SOCKET.NOTIFY_SOCKET, 'READY=1', 'STATUS=ready: all is well'],
      [
        SOCKET.NOTIFY_SOCKET,
        'RELOADING=1',
        expect.stringMatching(/^MONOTONIC_USEC=\d+$/),
        'WATCHDOG=1',
        'STATUS=two',
      ],
      [SOCKET.NOTIFY_SOCKET, 'READY=1'],
      [SOCKET.NOTIFY_SOCKET, 'STOPPING=1'],
    ]);
  });

  it('causes only one log line when it cannot be notified', async () => {
    const { log, errors } = createLog();
    for (const program of ['/nonexistent/systemd-notify', createRecorder('process.exit(1);').program]) {
      errors.length = 0;
      const initSystem = createSystemdNotifier(SOCKET, log, program);
      for (let count = 0; count < 100; count++) initSystem.tell({ ready: true });
      await expect.poll(() => errors, within).toEqual([expect.stringContaining('NotifyAccess=all')]);
    }
  });

  it.each([
    [{ WATCHDOG_USEC: '60000000' }, 60_000],
    [{ WATCHDOG_USEC: '60000000', WATCHDOG_PID: String(process.pid) }, 60_000],
    [{ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '1' }, null],
    [{ WATCHDOG_USEC: 'soon' }, null],
    [{}, null],
  ])('has the watchdog time from the environment: %j', (marks, watchdogMs) => {
    expect(createSystemdNotifier({ ...SOCKET, ...marks }, createLog().log).watchdogMs).toBe(watchdogMs);
  });
});
