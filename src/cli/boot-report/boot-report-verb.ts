import { InvalidArgumentError } from 'commander';
import { PHRASES_FOLDER } from '../../adapters/audio/recorded-speech.ts';
import { PROVISIONING_RESULT_FILE, STATUS_FILE } from '../../installer/core/outcome.ts';
import { REPORT_SETTINGS } from '../../installer/core/report-schedule.ts';
import { examples, type Verb } from '../../program/program.ts';
import type { BootReportOptions } from './perform-boot-report.ts';

const CONFIG = '/etc/dragoman/config.json';

export const bootReportVerb: Verb = {
  register(program, shell) {
    program
      .command('boot-report')
      .description('announce by voice, once after a boot, whether this kiosk is ready or what its problem is')
      .option('--config <file>', 'configuration file of the agent', CONFIG)
      .option('--result <file>', 'result file of "dragoman provision"', PROVISIONING_RESULT_FILE)
      .option('--boot <folder>', `folder for ${STATUS_FILE} (default: the mounted boot partition)`)
      .option('--phrases <folder>', 'folder of the recorded phrases, LANGUAGE/CODE.wav', PHRASES_FOLDER)
      .option(
        '--grace <seconds>',
        'delay before problems that may resolve themselves are announced',
        readSeconds,
        REPORT_SETTINGS.graceMs / 1000,
      )
      .option(
        '--longest <seconds>',
        'how long to keep checking an unsolved problem',
        readSeconds,
        REPORT_SETTINGS.longestMs / 1000,
      )
      .addHelpText(
        'after',
        "\nSpeaks on every free loudspeaker, and through the running agent on the agent's\nown, and prints the same text. Ends when the kiosk is ready. Exit code: 0 ready\nor nothing to announce, 3 there is a problem.",
      )
      .addHelpText(
        ...examples('sudo dragoman boot-report', 'sudo dragoman boot-report --grace 10 --longest 60'),
      )
      .action(async (options: BootReportOptions) => {
        // Loaded here, because the daemon never needs it.
        const { performBootReport } = await import('./perform-boot-report.ts');
        await performBootReport(options, shell);
      });
  },
};

const LONGEST_S = 86_400;

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds <= LONGEST_S) return seconds;
  throw new InvalidArgumentError(`It must be a whole number of seconds, 0 to ${LONGEST_S}.`);
}
