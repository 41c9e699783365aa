import { InvalidArgumentError, Option } from 'commander';
import { examples, type Verb } from '../../program/program.ts';
import { DEMO_FAULTS, type DemoFault } from './faults.ts';
import type { DemoCommandOptions } from './perform-demo.ts';

export const demoVerb: Verb = {
  register(program, shell) {
    program
      .command('demo')
      .description('interpret a recording on this machine; needs no sound card and no configuration')
      .option('--seconds <n>', 'length of the input; a shorter recording repeats', readSeconds)
      .option('--input <wav>', 'speech to interpret (default: the recording that ships with dragoman)')
      .option('--output <wav>', 'file for the translated speech', 'dragoman-demo.wav')
      .addOption(
        new Option('--fault <name>', 'inject a fault; may be repeated')
          .choices(DEMO_FAULTS)
          .argParser((name: string, earlier: readonly DemoFault[]) => [...earlier, readFault(name)])
          .default([], 'none'),
      )
      .addOption(
        new Option('--real-mic', "use this machine's own sound devices, for 60 s or for --seconds").conflicts(
          'input',
        ),
      )
      .option(
        '--web',
        "serve the kiosk's page, the emulator's and the owner's console with three kiosks; until Ctrl-C or for --seconds, visitors come to the page",
      )
      .addOption(
        new Option(
          '--desk',
          'a clerk and a visitor talk in two languages, at a shared microphone and with a microphone each; writes a file for each loudspeaker',
        ).conflicts(['input', 'realMic', 'seconds', 'fault', 'web']),
      )
      .option('--json', 'print lines of JSON; the last one is {"summary": {...}}')
      .addHelpText(
        ...examples(
          'dragoman demo',
          'dragoman demo --input speech.wav --output translated.wav',
          'dragoman demo --fault revoke --fault network-drop',
          'dragoman demo --real-mic --seconds 30',
          'dragoman demo --web',
          'dragoman demo --desk',
        ),
      )
      .action(async (options: DemoCommandOptions) => {
        // Loaded here, because the daemon never needs the broker and the views.
        const { performDemo } = await import('./perform-demo.ts');
        await performDemo(options, shell);
      });
  },
};

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 1 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It must be a number from 1 to 86400.');
}

function readFault(name: string): DemoFault {
  const fault = DEMO_FAULTS.find((known) => known === name);
  if (fault !== undefined) return fault;
  throw new InvalidArgumentError(`It must be one of ${DEMO_FAULTS.join(', ')}.`);
}
