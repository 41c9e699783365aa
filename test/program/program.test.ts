import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkConfigVerb } from '../../src/cli/check-config/check-config.ts';
import { versionVerb } from '../../src/cli/version.ts';
import { EXIT, Failure } from '../../src/program/problem.ts';
import { runProgram, type Verb } from '../../src/program/program.ts';
import { gather } from '../gathered.ts';

/** A verb with a given end. */
const failing: Verb = {
  register(program, shell) {
    program
      .command('fail')
      .requiredOption('--how <how>')
      .action(async ({ how }: { how: string }) => {
        await Promise.resolve();
        if (how === 'failure') throw new Failure('the broker is not there. Start it first.');
        if (how === 'silence') throw new Failure('no answer came in time.', EXIT.noAnswer);
        if (how === 'folder') readFileSync('/');
        if (how === 'bug') throw new TypeError('x is undefined with token=abcdef\nsecond line');
        if (how === 'quote') {
          shell.print('said\u001b[2J\n');
          shell.complain('said\u009b2J\n');
          throw new Failure('it said \u202e');
        }
        if (how === 'thrown text') throw 'not even an error';
        shell.finish(EXIT.problemFound);
      });
  },
};

/** A verb with nested verbs. */
const nest: Verb = {
  register(program) {
    program
      .command('nest')
      .command('fly')
      .option('--high')
      .action(() => {})
      .command('far')
      .action(() => {});
  },
};

async function run(line: readonly string[], env: Record<string, string> = {}) {
  const { said, print, complain } = gather();
  const code = await runProgram({
    name: 'dragoman',
    summary: 'A test.',
    version: '1.2.3',
    verbs: [failing, nest, checkConfigVerb, versionVerb],
    argv: line,
    env,
    print,
    complain,
  });
  return { code, ...said };
}

describe('the command line', () => {
  it.each([
    [[], 'dragoman: no command given. See "dragoman --help".'],
    [
      ['chek-config'],
      `dragoman: unknown command 'chek-config'. Did you mean check-config? See "dragoman --help".`,
    ],
    [['--verbose'], `dragoman: unknown option '--verbose'. See "dragoman --help".`],
    [
      ['version', '--jsno'],
      `dragoman: unknown option '--jsno'. Did you mean --json? See "dragoman version --help".`,
    ],
    [
      ['version', 'now'],
      `dragoman: too many arguments for 'version'. Expected 0 arguments but got 1. See "dragoman version --help".`,
    ],
    [
      ['check-config'],
      `dragoman: required option '--config <file>' not specified. See "dragoman check-config --help".`,
    ],
    [
      ['check-config', '--confg', 'a.json'],
      `dragoman: unknown option '--confg'. Did you mean --config? See "dragoman check-config --help".`,
    ],
    [
      ['check-config', '--quite-another=1'],
      `dragoman: unknown option '--quite-another'. See "dragoman check-config --help".`,
    ],
    [['help', 'versio'], `dragoman: unknown command 'versio'. Did you mean version? See "dragoman --help".`],
    [
      ['nest', 'help', 'fli'],
      `dragoman: unknown command 'fli'. Did you mean fly? See "dragoman nest --help".`,
    ],
  ])('%j is a usage error with a hint', async (line, message) => {
    expect(await run(line)).toEqual({ code: 2, out: '', err: `${message}\n` });
  });

  it.each([
    [['--help'], ['help']],
    [
      ['version', '--help'],
      ['help', 'version'],
    ],
    [
      ['nest', '--help'],
      ['help', 'nest'],
    ],
    [
      ['nest', 'fly', '--help'],
      ['help', 'nest', 'fly'],
    ],
    [
      ['nest', 'fly', '--help'],
      ['nest', 'help', 'fly'],
    ],
    // The rest of the line has no effect.
    [
      ['fail', '--help'],
      ['help', 'fail', 'now', '--how', 'bug'],
    ],
  ])('%j can also be written %j', async (option, words) => {
    const help = await run(option);
    expect(help.out).toContain('Usage: dragoman');
    expect(await run(words)).toEqual(help);
  });

  it.each([[['--help']], [['nest', '--help']], [['nest', 'fly', '--help']]])(
    '%j lists no verb "help"',
    async (line) => {
      const { out } = await run(line);
      expect(out).toMatch(/^Commands:$/m);
      expect(out).not.toMatch(/^ {2}help\b/m);
    },
  );

  it.each([[['--help']], [['version', '--help']], [['check-config', '-h']], [['fail', '--help']]])(
    '%j prints help and succeeds',
    async (line) => {
      const { code, out, err } = await run(line);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain('Usage: dragoman');
      expect(longest(out)).toBeLessThanOrEqual(80);
    },
  );

  it('--help lists the exit codes', async () => {
    expect((await run(['--help'])).out).toMatch(/^Exit codes: 0 done, 1 failed/m);
  });

  it.each([
    ['failure', 1, 'dragoman: the broker is not there. Start it first.\n'],
    ['silence', 4, 'dragoman: no answer came in time.\n'],
    ['well', 3, ''],
  ])('a verb that ends with %s exits with the code that --help lists', async (how, code, err) => {
    expect(await run(['fail', '--how', how])).toEqual({ code, out: '', err });
  });

  it('removes terminal control characters from quoted texts', async () => {
    expect(await run(['fail', '--how', 'quote'])).toEqual({
      code: 1,
      out: 'said?[2J\n',
      err: 'said?2J\ndragoman: it said ?\n',
    });
    expect((await run(['\u001b[2J'])).err).toMatch(/^dragoman: unknown command '\?\[2J'/);
  });

  it('reports a file that cannot be used without the code of the system, and not as a bug', async () => {
    const { code, err } = await run(['fail', '--how', 'folder']);
    expect([code, err]).toEqual([1, expect.stringMatching(/it is a folder\.\n$/)]);
    expect(err).not.toMatch(/EISDIR|bug/);
  });

  it('reports an unexpected failure in one sentence, without stack and secrets', async () => {
    const { code, err } = await run(['fail', '--how', 'bug']);
    expect(code).toBe(1);
    expect(err).toMatch(/^dragoman: unexpected failure: x is undefined with token=\[redacted\]\. [^\n]+\n$/);
    expect((await run(['fail', '--how', 'thrown text'])).err).toContain('not even an error');
  });

  it('prints the stack with DRAGOMAN_DEBUG', async () => {
    const { err } = await run(['fail', '--how', 'bug'], { DRAGOMAN_DEBUG: '1' });
    expect(err).toContain('program.test.ts');
    expect(err).not.toContain('abcdef');
  });

  it('prints its version in three ways', async () => {
    expect((await run(['--version'])).out).toBe('1.2.3\n');
    expect((await run(['version'])).out).toBe('dragoman 0.0.0-source\n');
    expect((await run(['version', '--json'])).out).toBe('{"version":"0.0.0-source"}\n');
  });
});

it('points at the help of the called verb, however deeply it is nested', async () => {
  expect(await run(['nest', 'fly', '--hihg'])).toEqual({
    code: 2,
    out: '',
    err: `dragoman: unknown option '--hihg'. Did you mean --high? See "dragoman nest fly --help".\n`,
  });
  expect((await run(['nest'])).err).toBe('dragoman: no command given. See "dragoman nest --help".\n');
});

function longest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}
