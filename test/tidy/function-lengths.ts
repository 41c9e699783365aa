import { parseSync } from 'vite';
import type { Rule } from './rules.ts';
import { isCode, type SourceFile } from './source.ts';

/** A function has at most this many lines of its own: what it holds of other functions is measured there. */
export const LONGEST_FUNCTION_LINES = 70;
/** One that is a frame for functions which share its variables is a class in another spelling: so long in all. */
export const LONGEST_FACTORY_LINES = 160;

/** Longer ones, with the length beyond which they must not grow, and the reason. None is to be added. */
export const EXCEPTIONS: readonly { readonly name: string; readonly lines: number; readonly why: string }[] =
  [
    { name: 'createIssuer', lines: 310, why: 'each of its rules counts in the same window' },
    {
      name: 'createStream',
      lines: 290,
      why: 'one stream of the service: each command may end each other one',
    },
    { name: 'createService', lines: 270, why: 'the whole service behind its two doors' },
    { name: 'createInterpreter', lines: 220, why: 'what was heard, understood and spoken share one clock' },
    { name: 'createEchoCorrelation', lines: 200, why: 'a numeric loop: its buffers are allocated once' },
    { name: 'createLagMeter', lines: 200, why: 'a numeric loop: its buffers are allocated once' },
    { name: 'createCommandDispatcher', lines: 190, why: 'one way through for each command, and its ledger' },
    { name: 'keepConnected', lines: 170, why: 'one connection, and the way back to it' },
  ];

interface Measured {
  readonly name: string;
  readonly path: string;
  /** Without the functions in it. */
  readonly own: number;
  readonly whole: number;
}

interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];
/** Their callbacks are lists of tests. */
const LISTS = /^(describe|it|test)\b/;
/** A function this short is a word in a line of the one around it. */
const SHORT_LINES = 2;

/** They put a world of tests together, part by part, and decide nothing. */
const FIXTURES = ['createFakeDeps', 'createWorld', 'startOwner'];

export const functionsAreShort: Rule = (files) =>
  files
    .filter(isCode)
    .flatMap(measure)
    .flatMap(({ name, path, own, whole }) => {
      if (own > LONGEST_FUNCTION_LINES && !FIXTURES.includes(name))
        return [`${path}: ${name} has ${own} lines of its own`];
      const allowed = EXCEPTIONS.find((exception) => exception.name === name)?.lines ?? LONGEST_FACTORY_LINES;
      return path.startsWith('src/') && whole > allowed ? [`${path}: ${name} has ${whole} lines in all`] : [];
    });

/** Exceptions that nothing needs any more. */
export const exceptionsAreNeeded: Rule = (files) => {
  const all = files.filter(({ path }) => path.startsWith('src/')).flatMap(measure);
  return EXCEPTIONS.filter(
    ({ name }) => !all.some((one) => one.name === name && one.whole > LONGEST_FACTORY_LINES),
  ).map(({ name }) => `${name} is no exception any more`);
};

const measured = new WeakMap<SourceFile, Measured[]>();

/** Each file is parsed once. */
function measure(file: SourceFile): Measured[] {
  const known = measured.get(file) ?? measureOnce(file);
  measured.set(file, known);
  return known;
}

function measureOnce({ path, text }: SourceFile): Measured[] {
  const lineAt = lineCounter(text);
  // No function is longer than its file.
  if (lineAt(text.length) < LONGEST_FUNCTION_LINES) return [];
  const found: Measured[] = [];
  /** Returns how many lines below it belong to functions. */
  const visit = (syntax: unknown, name: string): number => {
    if (Array.isArray(syntax)) return syntax.reduce((sum: number, one) => sum + visit(one, name), 0);
    if (!isSyntax(syntax)) return 0;
    const known = nameOf(syntax, text) ?? name;
    let inner = 0;
    for (const key in syntax) {
      const part = syntax[key];
      if (typeof part === 'object' && part !== null) inner += visit(part, known);
    }
    if (!FUNCTIONS.includes(syntax.type) || syntax['body'] === null) return inner;
    const whole = lineAt(syntax.end) - lineAt(syntax.start) + 1;
    if (!LISTS.test(known)) found.push({ name: known, path, own: whole - inner, whole });
    return whole > SHORT_LINES ? whole : 0;
  };
  visit(parseSync(path, text).program, 'a function');
  return found;
}

function isSyntax(part: unknown): part is Syntax {
  return typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string';
}

/** What a function in it is called after. */
function nameOf(syntax: Syntax, text: string): string | null {
  const of = (part: unknown): string | null =>
    isSyntax(part)
      ? text
          .slice(part.start, part.end)
          .split(/[\s(:]/, 1)
          .join('')
      : null;
  switch (syntax.type) {
    case 'FunctionDeclaration':
    case 'VariableDeclarator':
      return of(syntax['id']);
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'Property':
      return of(syntax['key']);
    case 'CallExpression':
      return of(syntax['callee']);
    default:
      return null;
  }
}

function lineCounter(text: string): (offset: number) => number {
  const begins = [0];
  for (let i = 0; i < text.length; i++) if (text[i] === '\n') begins.push(i + 1);
  return (offset) => {
    let [low, high] = [0, begins.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((begins[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low;
  };
}
