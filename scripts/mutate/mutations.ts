/** One small change to a source file that a test should notice. */
export interface Mutation {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const OPPOSITE: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
};

/** Numbers above this are doubled: most are times and sizes, where adding one has no effect. */
const SMALL = 100;

/** Calls that tests need not notice, like `log.info(...)`. */
const LOGGING = /\b(log|logger)\b/;

/** All mutations of a file: operators and booleans reversed, negations and calls removed, numbers one higher or doubled. */
export function mutationsIn(program: unknown, text: string): Mutation[] {
  const found: Mutation[] = [];
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(visit);
    if (!isSyntax(part)) return;
    // `a as B` contains an expression; the type has no effect when the program runs.
    if (part.type.startsWith('TS')) return visit(part['expression']);
    if (part.type === 'CallExpression' && isLogging(part['callee'], text)) return;
    found.push(...mutationsOf(part, text));
    Object.values(part).forEach(visit);
  };
  visit(program);
  return found.sort((a, b) => a.start - b.start);
}

function mutationsOf(syntax: Syntax, text: string): Mutation[] {
  const { type, start, end, value, left, right, operator } = syntax;
  if (type === 'UnaryExpression' && operator === '!') return [{ start, end: start + 1, replacement: '' }];
  if (typeof value === 'boolean') return [{ start, end, replacement: String(!value) }];
  if (typeof value === 'number')
    return [{ start, end, replacement: String(value > SMALL ? 2 * value : value + 1) }];
  if (type === 'ExpressionStatement' && isForgettable(syntax['expression'], text))
    return [{ start, end, replacement: ';' }];
  const replacement = OPPOSITE[String(operator)];
  if (replacement === undefined || !isSyntax(left) || !isSyntax(right)) return [];
  // For texts, `+` joins; there is nothing to reverse.
  if ([left, right].some((side) => typeof side['value'] === 'string')) return [];
  const at = text.indexOf(String(operator), left.end);
  return [{ start: at, end: at + String(operator).length, replacement }];
}

/** Whether a statement is a call that someone could forget to write. */
function isForgettable(expression: unknown, text: string): boolean {
  if (!isSyntax(expression)) return false;
  if (expression.type === 'AwaitExpression') return isForgettable(expression['argument'], text);
  const { callee } = expression;
  if (expression.type !== 'CallExpression' || !isSyntax(callee) || callee.type === 'Super') return false;
  return !isLogging(callee, text);
}

function isLogging(callee: unknown, text: string): boolean {
  return isSyntax(callee) && LOGGING.test(text.slice(callee.start, callee.end));
}

function isSyntax(part: unknown): part is Syntax {
  return typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string';
}
