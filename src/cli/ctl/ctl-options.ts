import { type Command, InvalidArgumentError } from 'commander';

/** What stands before the verb. */
export interface CtlOptions {
  readonly profile?: string;
  readonly group?: string;
  readonly all?: true;
  readonly timeout?: number;
  readonly json?: true;
}

/** The options that may stand before the verb and after it. */
export function addTargetOptions(command: Command): Command {
  return command
    .option('--profile <name>', 'which broker, by its name in ctl.json')
    .option('--group <name>', 'all devices of a group')
    .option('--all', 'all devices of the tenant')
    .option('--timeout <seconds>', 'how long to wait for answers (default: 10)', readTimeout)
    .option('--json', 'print a line for each device: {"device", "status", "error"?, "data"?}');
}

function readTimeout(text: string): number {
  const seconds = Number(text);
  if (text !== '' && Number.isFinite(seconds) && seconds > 0 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, at most 3600.');
}
