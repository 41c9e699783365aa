import { type Command, InvalidArgumentError } from 'commander';

export const EXIT_CODES = `Exit code: 0 all devices succeeded, 1 a device failed, 2 a mistake on the
command line or in the profile, 3 the doctor of a device found a problem, 4 a
device did not answer.`;

/** Options before or after the verb. */
export interface CtlOptions {
  readonly profile?: string;
  readonly group?: string;
  readonly all?: true;
  readonly timeout?: number;
  readonly json?: true;
  readonly spread?: number;
  readonly validFor?: number;
}

/** Adds the options that are allowed before and after the verb. */
export function addTargetOptions(command: Command): Command {
  return command
    .option('--profile <name>', 'profile in ctl.json, which selects the broker')
    .option('--group <name>', 'all devices of a group')
    .option('--all', 'all devices of the tenant')
    .option('--timeout <seconds>', 'how long to wait for answers (default: 10)', readTimeout)
    .option('--json', 'print one line per device: {"device", "status", "error"?, "data"?}')
    .option(
      '--spread <seconds>',
      'with --group or --all: each device waits a random part of this time',
      readSeconds(3600),
    )
    .option(
      '--valid-for <seconds>',
      'an offline device runs it if it returns within this time, 10 minutes at most (default: it does not)',
      readSeconds(86_400),
    );
}

function readSeconds(most: number): (text: string) => number {
  return (text) => {
    const seconds = Number(text);
    if (text !== '' && Number.isFinite(seconds) && seconds >= 0 && seconds <= most) return seconds;
    throw new InvalidArgumentError(`It must be a number of seconds, at most ${most}.`);
  };
}

function readTimeout(text: string): number {
  const seconds = Number(text);
  if (text !== '' && Number.isFinite(seconds) && seconds > 0 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, at most 3600.');
}
