import { spawnSync } from 'node:child_process';
import { isStartedBySystemd } from '../../systemd/invocation.ts';
import { findProgram } from './find-program.ts';

/** Timeout for a test run of `setpriv` (milliseconds): a slower machine should not run it for every child. */
const TRIAL_LIMIT_MS = 2000;

let wrapper: readonly string[] | undefined;

/**
 * Command words that start a program so that it dies with this process, however the process dies and whatever blocks the program.
 * `setpriv` (util-linux) requests that from the kernel. Without `setpriv`, the child ends when it next uses its broken pipe.
 */
export function dyingWithParent(words: readonly string[]): readonly string[] {
  wrapper ??= prefix(process.env);
  return [...wrapper, ...words];
}

/**
 * Words to put before the program's own; empty when none are needed or possible.
 *
 * A systemd unit needs none: systemd kills all remaining processes of a dead unit (KillMode=mixed in our unit). Nor would `setpriv`
 * work there: it always calls capset, which the unit's filter forbids, so every child would end with 127. Elsewhere a test run
 * decides, because containers have such filters too.
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
