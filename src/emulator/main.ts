import '../program/no-inspector.ts';
import { runMain } from '../program/run-main.ts';
import { NAME, runEmulatorProgram } from './cli.ts';

await runMain({
  name: NAME,
  run: (argv, terminal) => runEmulatorProgram(argv, { ...terminal, signals: process }),
});
