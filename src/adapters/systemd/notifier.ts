import { spawn } from 'node:child_process';
import type { InitSystem, ServiceNews } from '../../ports/init-system.ts';
import type { Log } from '../../ports/log.ts';
import { oneLine } from '../../protocol/plain-text.ts';
import { kernelMicroseconds } from '../clock.ts';

/** More than that waiting means that nobody takes them: the oldest go. */
const MOST_WAITING = 16;
/** It takes 6 ms; on a board whose card is busy a second. */
const CALL_LIMIT_MS = 10_000;
const LONGEST_STATUS = 300;

/** Where nobody started the program but a person. */
export const NOBODY: InitSystem = { listens: false, watchdogMs: null, tell() {} };

/**
 * systemd's notification protocol, sd_notify(3). Node has no datagram sockets of the family unix, so that each message is a
 * run of `systemd-notify`: 6 ms of CPU, a few a minute. The unit lets it speak by NotifyAccess=all.
 * @param program for tests
 */
export function createSystemdNotifier(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
  program = 'systemd-notify',
): InitSystem {
  if (!env['NOTIFY_SOCKET']) return NOBODY;
  const waiting: ServiceNews[] = [];
  let isBusy = false;
  let hasFailed = false;
  const fail = (why: string): void => {
    if (!hasFailed)
      log.error(
        { program, why },
        'systemd cannot be told how the service is; is systemd-notify installed, and NotifyAccess=all in the unit?',
      );
    hasFailed = true;
  };
  const next = (): void => {
    const news = isBusy ? undefined : waiting.shift();
    if (news === undefined) return;
    isBusy = true;
    // A program that can't be started says so, and doesn't exit.
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
      // Only what changes the service's state needs a message of its own.
      if (last !== undefined && !news.ready && !news.reloading && !news.stopping)
        waiting.splice(-1, 1, { ...last, ...news });
      else waiting.push(news);
      if (waiting.length > MOST_WAITING) waiting.shift();
      next();
    },
  };
}

/** Milliseconds of WatchdogSec=, where it is meant for this process. */
function readWatchdog(env: Readonly<Record<string, string | undefined>>): number | null {
  const { WATCHDOG_USEC: usec, WATCHDOG_PID: pid } = env;
  const ms = Number(usec) / 1000;
  return ms > 0 && (pid === undefined || pid === String(process.pid)) ? ms : null;
}

function assignments({ ready, reloading, stopping, alive, status }: ServiceNews): string[] {
  const words: string[] = [];
  // Type=notify-reload tells a reload from an older one's end by the time.
  if (reloading) words.push('RELOADING=1', `MONOTONIC_USEC=${kernelMicroseconds()}`);
  if (ready) words.push('READY=1');
  if (stopping) words.push('STOPPING=1');
  if (alive) words.push('WATCHDOG=1');
  if (status !== undefined) words.push(`STATUS=${statusLine(status)}`);
  return words;
}

function statusLine(text: string): string {
  return oneLine(text).trim().slice(0, LONGEST_STATUS);
}
