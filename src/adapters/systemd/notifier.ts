import { spawn } from 'node:child_process';
import { LONGEST_STATUS_LINE } from '../../core/unit-status.ts';
import type { InitSystem, ServiceNews } from '../../ports/init-system.ts';
import type { Log } from '../../ports/log.ts';
import { oneLine } from '../../protocol/common/plain-text.ts';
import { kernelMicroseconds } from '../clock.ts';

/** Maximum number of waiting messages: if more wait, systemd is not reading them, and the oldest are dropped. */
const MOST_WAITING = 16;
/** Timeout of a call (milliseconds). A call takes 6 ms, or a second on a board with a busy SD card. */
const CALL_LIMIT_MS = 10_000;

/** Used when no init system listens (no NOTIFY_SOCKET). */
export const NO_INIT_SYSTEM: InitSystem = { listens: false, watchdogMs: null, tell() {} };

/**
 * systemd's notification protocol, sd_notify(3). Node has no unix datagram sockets, so each message runs `systemd-notify`: 6 ms of
 * CPU, a few times a minute and at most once a second. The unit allows this with NotifyAccess=all.
 * @param program for tests
 */
export function createSystemdNotifier(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
  program = 'systemd-notify',
): InitSystem {
  if (!env['NOTIFY_SOCKET']) return NO_INIT_SYSTEM;
  const waiting: ServiceNews[] = [];
  let isBusy = false;
  let hasFailed = false;
  const fail = (why: string): void => {
    if (!hasFailed)
      log.error(
        { program, why },
        'cannot notify systemd; check that systemd-notify is installed and the unit has NotifyAccess=all',
      );
    hasFailed = true;
  };
  const next = (): void => {
    const news = isBusy ? undefined : waiting.shift();
    if (news === undefined) return;
    isBusy = true;
    // A program that cannot be started emits `error`, but no `exit`.
    let isOver = false;
    const done = (failure: string | null): void => {
      if (isOver) return;
      isOver = true;
      isBusy = false;
      if (failure === null) hasFailed = false;
      else fail(failure);
      next();
    };
    try {
      const child = spawn(program, assignments(news), {
        stdio: 'ignore',
        env: { PATH: env['PATH'], NOTIFY_SOCKET: env['NOTIFY_SOCKET'] },
        timeout: CALL_LIMIT_MS,
        killSignal: 'SIGKILL',
      });
      child.on('error', (error) => done(error.message));
      child.on('exit', (code, signal) => done(code === 0 ? null : `ended with ${signal ?? code}`));
    } catch (error) {
      done(error instanceof Error ? error.message : 'unknown error');
    }
  };
  return {
    listens: true,
    watchdogMs: readWatchdog(env),
    tell(news) {
      const last = waiting.at(-1);
      // Only a change of the unit's state needs a message of its own.
      if (last !== undefined && !news.ready && !news.reloading && !news.stopping)
        waiting.splice(-1, 1, { ...last, ...news });
      else waiting.push(news);
      if (waiting.length > MOST_WAITING) waiting.shift();
      next();
    },
  };
}

/** WatchdogSec= in milliseconds; null when it is not meant for this process. */
function readWatchdog(env: Readonly<Record<string, string | undefined>>): number | null {
  const { WATCHDOG_USEC: usec, WATCHDOG_PID: pid } = env;
  const ms = Number(usec) / 1000;
  return ms > 0 && (pid === undefined || pid === String(process.pid)) ? ms : null;
}

function assignments({ ready, reloading, stopping, alive, status }: ServiceNews): string[] {
  const words: string[] = [];
  // Type=notify-reload uses the time to tell this reload from the end of an older one.
  if (reloading) words.push('RELOADING=1', `MONOTONIC_USEC=${kernelMicroseconds()}`);
  if (ready) words.push('READY=1');
  if (stopping) words.push('STOPPING=1');
  if (alive) words.push('WATCHDOG=1');
  if (status !== undefined) words.push(`STATUS=${statusLine(status)}`);
  return words;
}

function statusLine(text: string): string {
  return oneLine(text).trim().slice(0, LONGEST_STATUS_LINE);
}
