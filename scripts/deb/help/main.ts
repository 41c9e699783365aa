/**
 * Prints the `--help` texts of all programs and verbs as JSON. It runs in one process: starting a program for each of sixty
 * verbs takes as long as making the packages.
 */
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { runDeviceProgram } from '../../../src/cli/program.ts';
import { runEmulatorProgram } from '../../../src/emulator/cli.ts';
import type { Terminal } from '../../../src/program/program.ts';
import { type Help, parseHelp, verbsOf } from '../manual.ts';

const HOST = { output: process.stdout, signals: process, onCrash: () => {}, onClosed: () => {} };

/** By bundle. */
const PROGRAMS: Readonly<Record<string, (argv: readonly string[], terminal: Terminal) => Promise<number>>> = {
  dragoman: (argv, terminal) => runDeviceProgram(argv, { ...HOST, ...terminal }),
  backend: (argv, terminal) => runBackendProgram(argv, { ...HOST, ...terminal }),
  emulator: (argv, terminal) => runEmulatorProgram(argv, { ...HOST, ...terminal }),
};

/** The help of the program and of its verbs, recursively. */
async function helpOf(bundle: string, verb: readonly string[] = []): Promise<Help[]> {
  const said: string[] = [];
  const take = (text: string): void => {
    said.push(text);
  };
  const code = await PROGRAMS[bundle]?.([...verb, '--help'], { env: {}, print: take, complain: take });
  if (code !== 0) throw new Error(`${bundle} ${verb.join(' ')} --help: ${said.join('')}`);
  const help = parseHelp(verb, said.join(''));
  const deeper: Help[] = [];
  for (const one of verbsOf(help)) deeper.push(...(await helpOf(bundle, [...verb, one])));
  return [help, ...deeper];
}

const all: Record<string, Help[]> = {};
for (const bundle of Object.keys(PROGRAMS)) all[bundle] = await helpOf(bundle);
process.stdout.write(JSON.stringify(all));
