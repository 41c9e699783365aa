import { spawnSync } from 'node:child_process';
import { isStartedBySystemd } from '../../systemd/invocation.ts';
import { findProgram } from './find-program.ts';

/** A machine that can't run `setpriv` in this long is too slow to run it for every child. */
const TRIAL_LIMIT_MS = 2000;

let found: readonly string[] | undefined;

/**
 * The words that start a program so that it dies with this process, however this process dies and whatever the program is
 * blocked in: by `setpriv` (util-linux), which asks the kernel for it. Where that can't be had, the child ends when it next
 * touches its broken pipe.
 */
export function dyingWithParent(words: readonly string[]): readonly string[] {
  found ??= prefix(process.env);
  return [...found, ...words];
}

/**
 * What stands before such a program's words; empty where nothing does.
 *
 * systemd kills whatever a dead service leaves behind (KillMode=mixed in our unit), so that a service needs nothing. It could
 * not have it either: `setpriv` always calls capset, which a unit's filter forbids, and every child would end with 127.
 * Elsewhere a trial tells: containers have such filters, too.
 */
export function prefix(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  if (isStartedBySystemd(env)) return [];
  const setpriv = findProgram('setpriv');
  if (setpriv === null) return [];
  const words = [setpriv, '--pdeathsig', 'KILL', '--'];
  const trial = spawnSync(setpriv, [...words.slice(1), setpriv, '--version'], {
    stdio: 'ignore',
    timeout: TRIAL_LIMIT_MS,
  });
  return trial.status === 0 ? words : [];
}
