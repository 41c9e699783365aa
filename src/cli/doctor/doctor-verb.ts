import { InvalidArgumentError, Option } from 'commander';
import type { Clock } from '../../ports/clock.ts';
import { examples, type Verb } from '../../program/program.ts';
import { CHECKS, type CheckName, checkNameSchema } from '../../protocol/mqtt/diagnose.ts';
import type { DoctorOptions } from './perform-doctor.ts';

/** @param clock measures the limits of the checks */
export function createDoctorVerb(clock: Clock): Verb {
  return {
    register(program, shell) {
      program
        .command('doctor')
        .description('check everything that the agent needs, and say how to fix problems')
        .requiredOption('--config <file>', 'configuration file (conf.d/*.json beside it is read, too)')
        .option('--json', 'print one JSON document: {"doctor": {"version", "verdict", "checks"}}')
        .addOption(
          new Option('--only <name>', 'run only this check; may be repeated')
            .choices(CHECKS)
            .argParser((name: string, earlier: readonly CheckName[]) => [...earlier, readName(name)])
            .default([], 'all'),
        )
        .option('--no-sound', 'do not use the microphone and do not play a test tone')
        .addHelpText(
          'after',
          '\nPlays a test tone of one second on each lane and listens for it. Skips devices' +
            '\nthat a running agent uses; the command "diagnose" lets the agent check them.' +
            '\nExit code: 0 no problem (warnings are possible), 3 a problem, 2 a mistake on the' +
            '\ncommand line.',
        )
        .addHelpText(
          ...examples(
            'dragoman doctor --config /etc/dragoman/config.json',
            'dragoman doctor --config config.json --only broker --only backend',
          ),
        )
        .action(async (options: DoctorOptions) => {
          // Loaded here, because the daemon never needs the checks.
          const { performDoctor } = await import('./perform-doctor.ts');
          await performDoctor(options, shell, clock);
        });
    },
  };
}

function readName(name: string): CheckName {
  const { success, data } = checkNameSchema.safeParse(name);
  if (success) return data;
  throw new InvalidArgumentError(`It must be one of ${CHECKS.join(', ')}.`);
}
