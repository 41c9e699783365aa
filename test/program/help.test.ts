import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runBackendProgram } from '../../src/backend/cli.ts';
import { runDeviceProgram } from '../../src/cli/program.ts';
import { runEmulatorProgram } from '../../src/emulator/cli.ts';

const signals = { once: () => {}, on: () => {}, off: () => {} } as never;
const host = { output: process.stdout, signals, onCrash: () => {} } as never;

const PROGRAMS = {
  dragoman: (argv: string[], terminal: never) => runDeviceProgram(argv, terminal),
  'dragoman-backend': (argv: string[], terminal: never) => runBackendProgram(argv, terminal),
  'dragoman-emulator': (argv: string[], terminal: never) => runEmulatorProgram(argv, terminal),
} as const;
type Program = keyof typeof PROGRAMS;

async function helpOf(program: Program, verb: readonly string[]): Promise<string> {
  let text = '';
  const print = (more: string): void => {
    text += more;
  };
  const terminal = { env: {}, print, complain: print, ...(host as object) } as never;
  expect(await PROGRAMS[program]([...verb, '--help'], terminal)).toBe(0);
  return text;
}

/** All verbs with an action: `sessions list`, not `sessions`. */
async function verbsOf(program: Program, under: readonly string[] = []): Promise<string[][]> {
  const help = await helpOf(program, under);
  const [, list = ''] = /\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(help) ?? [];
  const names = [...list.matchAll(/^ {2}(\S+)/gm)].map(([, name = '']) => name);
  if (names.length === 0) return [[...under]];
  const verbs: string[][] = [];
  for (const name of names) verbs.push(...(await verbsOf(program, [...under, name])));
  return verbs;
}

describe.each(Object.keys(PROGRAMS) as Program[])('the help of %s', (program) => {
  it('shows each verb with a valid example', async () => {
    const verbs = await verbsOf(program);
    expect(verbs.length).toBeGreaterThan(1);
    for (const verb of verbs) {
      const help = await helpOf(program, verb);
      const [, examples = ''] = /\nExamples?:\n((?: {2}.+\n?)+)/.exec(help) ?? [];
      // A long example continues on the next line, as in a shell.
      const lines = examples
        .replace(/ \\\n */g, ' ')
        .split('\n')
        .filter((line) => line !== '');
      expect(lines.length, `${program} ${verb.join(' ')} --help has no example`).toBeGreaterThan(0);
      for (const line of lines) {
        expect(`${line.replace(/^ {2}sudo /, '  ')} `).toContain(`  ${[program, ...verb].join(' ')} `);
        // Its words are nested verbs; `ctl help VERB` lists their options.
        if (verb[0] === 'ctl') continue;
        for (const [flag] of line.matchAll(/--[a-z-]+/g))
          expect(help.split('Example')[0], line).toContain(flag);
      }
    }
  });

  it('names only verbs that the front page lists', async () => {
    const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const row =
      page.split('\n').find((line) => line.startsWith(`| \`${program.replace('dragoman-', '')}.mjs\` |`)) ??
      '';
    for (const [first = '', second] of await verbsOf(program))
      expect(row).toMatch(
        new RegExp(second === undefined ? `\`${first}\`` : `\`${first} [a-z\\\\|]*${second}`),
      );
  });

  it('fits a terminal of 80 columns', async () => {
    for (const verb of await verbsOf(program)) {
      const long = (await helpOf(program, verb)).split('\n').filter((line) => line.length > 80);
      expect(long, `${program} ${verb.join(' ')} --help`).toEqual([]);
    }
  });

  it('describes the output of --json', async () => {
    for (const verb of await verbsOf(program)) {
      const [, told] = / --json +((?:.+\n)(?: {10,}.+\n)*)/.exec(await helpOf(program, verb)) ?? [];
      if (told !== undefined) expect(told.replaceAll(/\s+/g, ' '), verb.join(' ')).toMatch(/\{"\w+"/);
    }
  });
});
