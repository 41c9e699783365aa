import { InvalidArgumentError } from 'commander';
import { PROVISIONING_RESULT_FILE, STATUS_FILE } from '../../core/provisioning/outcome.ts';
import { REPORT_SETTINGS } from '../../core/provisioning/report-schedule.ts';
import { examples, type Verb } from '../../program/program.ts';
import type { BootReportOptions } from './perform-boot-report.ts';

const CONFIG = '/etc/dragoman/config.json';
export const PHRASES_FOLDER = '/usr/share/dragoman/phrases';

export const bootReportVerb: Verb = {
  register(program, shell) {
    program
      .command('boot-report')
      .description('say aloud, once after a start, whether this kiosk is ready or what is wrong')
      .option('--config <file>', 'configuration file of the agent', CONFIG)
      .option('--result <file>', 'what "dragoman provision" has left', PROVISIONING_RESULT_FILE)
      .option(
        '--boot <folder>',
        `where ${STATUS_FILE} is written (default: where the boot partition is mounted)`,
      )
      .option('--phrases <folder>', 'what is said, LANGUAGE/CODE.wav', PHRASES_FOLDER)
      .option(
        '--grace <seconds>',
        'what may pass by itself is told only after this long',
        readSeconds,
        REPORT_SETTINGS.graceMs / 1000,
      )
      .option(
        '--longest <seconds>',
        'how long an unfixed problem is watched',
        readSeconds,
        REPORT_SETTINGS.longestMs / 1000,
      )
      .addHelpText(
        'after',
        '\nSays it on every loudspeaker that is not in use, by the running agent on its\nown, and prints it. Ends when the kiosk is ready. Exit code: 0 it is ready or\nnothing is to be told, 3 something is wrong.',
      )
      .addHelpText(
        ...examples('sudo dragoman boot-report', 'sudo dragoman boot-report --grace 10 --longest 60'),
      )
      .action(async (options: BootReportOptions) => {
        // A daemon that runs for a year never needs it: it is loaded here.
        const { performBootReport } = await import('./perform-boot-report.ts');
        await performBootReport(options, shell);
      });
  },
};

const LONGEST_S = 86_400;

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds <= LONGEST_S) return seconds;
  throw new InvalidArgumentError(`It is a whole number of seconds, 0 to ${LONGEST_S}.`);
}
