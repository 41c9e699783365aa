import '../program/no-inspector.ts';
import { runMain } from '../program/run-main.ts';
import { NAME, runDeviceProgram } from './program.ts';

let recordCrash: (error: unknown) => void = () => {};
let isClosed = false;

const host = {
  output: process.stdout,
  signals: process,
  onCrash: (record: (error: unknown) => void): void => {
    recordCrash = record;
  },
  onClosed: (): void => {
    isClosed = true;
  },
};

await runMain({
  name: NAME,
  recordCrash: (error) => recordCrash(error),
  isClosed: () => isClosed,
  run: (argv, terminal) => runDeviceProgram(argv, { ...host, ...terminal }),
});
