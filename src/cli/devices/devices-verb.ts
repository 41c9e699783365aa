import { InvalidArgumentError } from 'commander';
import { examples, type Verb } from '../../program/program.ts';
import type { DevicesOptions } from './perform-devices.ts';

export const devicesVerb: Verb = {
  register(program, shell) {
    program
      .command('devices')
      .description(
        'list microphones and loudspeakers by stable names; --meter shows the level of one, --keys shows pressed keys',
      )
      .option('--config <file>', 'also check the devices of this configuration')
      .option('--meter [device]', 'show the level of a microphone until Ctrl-C (default: the configured one)')
      .option('--keys', 'show each key that is pressed, as an entry of "keys", until Ctrl-C')
      .option('--seconds <n>', 'with --meter or --keys: end after this time', readSeconds)
      .option(
        '--json',
        'print one line: {"cards", "software", "configured", ...}; with --meter one line {"t_s", ...} per second, {"summary"} at the end; with --keys one line {"device", "key", "code"} per press',
      )
      .addHelpText(...examples('dragoman devices', 'dragoman devices --meter plughw:CARD=Mic --seconds 30'))
      .action(async (options: DevicesOptions) => {
        // Loaded here, because the daemon never needs it.
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
