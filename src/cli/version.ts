import { examples, type Verb } from '../program/program.ts';
import { jsonLine } from '../protocol/common/plain-text.ts';
import { VERSION } from '../protocol/version.ts';

export const versionVerb: Verb = {
  register(program, shell) {
    program
      .command('version')
      .description('print the version of this program')
      .option('--json', 'print one line: {"version"}')
      .addHelpText(...examples('dragoman version --json'))
      .action((options: { json?: true }) => {
        shell.print(options.json ? jsonLine({ version: VERSION }) : `dragoman ${VERSION}\n`);
      });
  },
};
