import { InvalidArgumentError } from 'commander';
import { examples, type Verb } from '../../program/program.ts';
import type { DevicesOptions } from './perform-devices.ts';

export const devicesVerb: Verb = {
  register(program, shell) {
    program
      .command('devices')
      .description('list microphones and speakers by names that last; --meter shows the level of one')
      .option('--config <file>', 'say how the devices of this configuration are, too')
      .option('--meter [device]', 'show the level of a microphone until Ctrl-C (default: the configured one)')
      .option('--seconds <n>', 'with --meter: end after so long', readSeconds)
      .option(
        '--json',
        'print one line: {"cards", "software", "configured", ...}; with --meter a line {"t_s", ...} for each second, {"summary"} at the end',
      )
      .addHelpText(...examples('dragoman devices', 'dragoman devices --meter plughw:CARD=Mic --seconds 30'))
      .action(async (options: DevicesOptions) => {
        // A daemon that runs for a year never lists its devices: what does it is loaded here.
        const { performDevices } = await import('./perform-devices.ts');
        await performDevices(options, shell);
      });
  },
};

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, at most 86400.');
}
