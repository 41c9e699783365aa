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
  ...{ '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '&&': '||', '||': '&&' },
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '+=': '-=', '-=': '+=' },
};

/** All mutations of a file: operators reversed, negations removed, numbers one higher, booleans reversed. */
export function mutationsIn(program: unknown, text: string): Mutation[] {
  const found: Mutation[] = [];
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(visit);
    if (!isSyntax(part)) return;
    // `a as B` holds an expression; a type has no effect when the program runs.
    if (part.type.startsWith('TS')) return visit(part['expression']);
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
  if (typeof value === 'number') return [{ start, end, replacement: String(value + 1) }];
  const replacement = OPPOSITE[String(operator)];
  if (replacement === undefined || !isSyntax(left) || !isSyntax(right)) return [];
  // Texts are joined by `+`, not added.
  if ([left, right].some((side) => typeof side['value'] === 'string')) return [];
  const at = text.indexOf(String(operator), left.end);
  return [{ start: at, end: at + String(operator).length, replacement }];
}

function isSyntax(part: unknown): part is Syntax {
  return typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string';
}
