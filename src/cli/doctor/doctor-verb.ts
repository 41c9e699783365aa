import { InvalidArgumentError, Option } from 'commander';
import { examples, type Verb } from '../../program/program.ts';
import { CHECKS, type CheckName, checkNameSchema } from '../../protocol/mqtt/diagnose.ts';
import type { DoctorOptions } from './perform-doctor.ts';

export const doctorVerb: Verb = {
  register(program, shell) {
    program
      .command('doctor')
      .description('look at everything the agent needs and say how to fix what is wrong')
      .requiredOption('--config <file>', 'configuration file (conf.d/*.json beside it is read too)')
      .option('--json', 'print one JSON document: {"doctor": {"version", "verdict", "checks"}}')
      .addOption(
        new Option('--only <name>', 'run one check; may be given several times')
          .choices(CHECKS)
          .argParser((name: string, earlier: readonly CheckName[]) => [...earlier, readName(name)])
          .default([], 'all'),
      )
      .option('--no-sound', 'neither listen to the microphone nor play a test tone')
      .addHelpText(
        'after',
        '\nPlays a test tone of one second on each lane and listens for it. A running agent' +
          '\nis not disturbed: what it holds is left out; the command "diagnose" asks it.' +
          '\nExit code: 0 all is well or can be lived with, 3 something is wrong, 2 a mistake' +
          '\nin the call.',
      )
      .addHelpText(
        ...examples(
          'dragoman doctor --config /etc/dragoman/config.json',
          'dragoman doctor --config config.json --only broker --only backend',
        ),
      )
      .action(async (options: DoctorOptions) => {
        // A daemon that runs for a year never needs the probes: they are loaded here.
        const { performDoctor } = await import('./perform-doctor.ts');
        await performDoctor(options, shell);
      });
  },
};

function readName(name: string): CheckName {
  const { success, data } = checkNameSchema.safeParse(name);
  if (success) return data;
  throw new InvalidArgumentError(`There are ${CHECKS.join(', ')}.`);
}
