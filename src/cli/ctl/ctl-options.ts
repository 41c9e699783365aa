import { type Command, InvalidArgumentError } from 'commander';

/** Options before the verb. */
export interface CtlOptions {
  readonly profile?: string;
  readonly group?: string;
  readonly all?: true;
  readonly timeout?: number;
  readonly json?: true;
}

/** Adds the options that are allowed before and after the verb. */
export function addTargetOptions(command: Command): Command {
  return command
    .option('--profile <name>', 'profile in ctl.json, which selects the broker')
    .option('--group <name>', 'all devices of a group')
    .option('--all', 'all devices of the tenant')
    .option('--timeout <seconds>', 'how long to wait for answers (default: 10)', readTimeout)
    .option('--json', 'print one line per device: {"device", "status", "error"?, "data"?}');
}

function readTimeout(text: string): number {
  const seconds = Number(text);
  if (text !== '' && Number.isFinite(seconds) && seconds > 0 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, at most 3600.');
}
