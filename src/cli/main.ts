import '../program/no-inspector.ts';
import { runMain } from '../program/main.ts';
import { runProgram } from '../program/program.ts';
import { checkConfigVerb } from './check-config.ts';
import { ctlVerb } from './ctl/command.ts';
import { demoVerb } from './demo/command.ts';
import { devicesVerb } from './devices/command.ts';
import { doctorVerb } from './doctor/command.ts';
import { createRunVerb } from './run.ts';
import { versionVerb } from './version.ts';

const name = 'dragoman';

let recordCrash: (error: unknown) => void = () => {};

const run = createRunVerb({
  output: process.stdout,
  signals: process,
  onCrash: (record) => {
    recordCrash = record;
  },
});

await runMain({
  name,
  recordCrash: (error) => recordCrash(error),
  run: (argv, terminal) =>
    runProgram({
      name,
      summary: 'The agent inside an interpreting kiosk: speech in, translated speech out.',
      verbs: [run, demoVerb, devicesVerb, doctorVerb, checkConfigVerb, ctlVerb, versionVerb],
      argv,
      ...terminal,
    }),
});
