import '../program/no-inspector.ts';
import { runMain } from '../program/run-main.ts';
import { NAME, runDeviceProgram } from './program.ts';

let recordCrash: (error: unknown) => void = () => {};

const host = {
  output: process.stdout,
  signals: process,
  onCrash: (record: (error: unknown) => void): void => {
    recordCrash = record;
  },
};

await runMain({
  name: NAME,
  recordCrash: (error) => recordCrash(error),
  run: (argv, terminal) => runDeviceProgram(argv, { ...host, ...terminal }),
});
