import '../program/no-inspector.ts';
import { askSecretly } from '../program/ask-secretly.ts';
import { runMain } from '../program/run-main.ts';
import { NAME, runBackendProgram } from './cli.ts';

await runMain({
  name: NAME,
  run: (argv, terminal) =>
    runBackendProgram(argv, {
      ...terminal,
      output: process.stdout,
      signals: process,
      ask: (question) => askSecretly(question, process.stdin, terminal.complain),
    }),
});
