import { spawn } from 'node:child_process';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** The command that the operator wants to run when sound hardware has failed for long. */
export interface LastResortOptions {
  /** Program and arguments, no shell. */
  readonly command: readonly string[];
  /** Seconds of uninterrupted failure before the command runs. */
  readonly afterS: number;
}

/** Shortest time between two runs (milliseconds). A restart of the agent resets it. */
const INTERVAL_MS = 3_600_000;
const RUN_LIMIT_MS = 60_000;

/** The hook for hardware that only a reboot fixes: called with every failure, runs the command when it is time. */
export function createLastResort(
  { command, afterS }: LastResortOptions,
  clock: Clock,
  log: Log,
): (part: string, troubleMs: number) => void {
  let ranAt = Number.NEGATIVE_INFINITY;
  return (part, troubleMs) => {
    const now = clock.now();
    if (troubleMs < afterS * 1000 || now - ranAt < INTERVAL_MS) return;
    ranAt = now;
    const [program = '', ...args] = command;
    log.error(
      { part, troubleS: Math.round(troubleMs / 1000), program },
      'the sound device does not recover; running the configured command',
    );
    const child = spawn(program, args, { stdio: 'ignore', timeout: RUN_LIMIT_MS, killSignal: 'SIGKILL' });
    child.on('error', (error) =>
      log.error(
        { program, error: error.message },
        'the command for a lost sound device cannot run; fix audio.unfixable',
      ),
    );
    child.on('exit', (code, signal) => {
      if (code !== 0) log.error({ program, code, signal }, 'the command for a lost sound device failed');
    });
    child.unref();
  };
}
