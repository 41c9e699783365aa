/** Finds what the sources log: each call, and the sentences that it can write. */
import type { SourceFile } from '../tidy/source.ts';

/** `…` stands for what varies. */
export interface LogCall {
  readonly path: string;
  /** As written, such as `fault.message`: where the sentence comes from. */
  readonly from: string;
  /** Empty where they are made elsewhere. */
  readonly sentences: readonly string[];
}

/** What leads to the log in every file; the level debug is for developers. */
const CALL =
  /\b(?:(?:log|logger)\??\.(?:info|warn|error|fatal)|log\[[^\]\n]+\]|(?<!function )logRepeated)\(/g;
const OPENING = '([{';
const CLOSING = ')]}';
const QUOTES = `'"\``;

/** @param more further functions whose last text goes to the log, by the files in which they do */
export function logCalls(
  files: readonly SourceFile[],
  more: readonly { readonly in: RegExp; readonly call: RegExp }[],
): LogCall[] {
  return files.flatMap(({ path, text }) => {
    const others = more.filter((one) => one.in.test(path)).map(({ call }) => call);
    return [CALL, ...others].flatMap((call) =>
      [...text.matchAll(call)].flatMap((match) => readCall(path, text, match.index + match[0].length)),
    );
  });
}

/** @param start behind the opening bracket */
function readCall(path: string, text: string, start: number): LogCall[] {
  const words = splitAt(text, start, ',').parts.map((word) => word.trim());
  if (isDebug(words)) return [];
  const from = sentenceIn(words);
  const literal = literalsIn(from);
  return [{ path, from, sentences: literal.length > 0 ? literal : constantsOf(text, from) }];
}

/** The expression for it: `sentence` of an object, or the last that is no object. */
function sentenceIn(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  if (words.some((word) => /^\{[\s\S]*\bsentence\b/.test(word))) return memberOf(last);
  return words.findLast((word) => !word.startsWith('{')) ?? last;
}

/** Of an object, spread objects in it included: what its `sentence` is. */
function memberOf(object: string): string {
  const inner = splitAt(object, 1, ',').parts.map((word) => word.trim());
  for (const word of inner) {
    if (word.startsWith('...{') && /\bsentence\b/.test(word)) return memberOf(word.slice(3));
    const [, given] = /^sentence(?::\s*([\s\S]+))?$/.exec(word) ?? [null, null];
    if (given !== null) return given ?? 'sentence';
  }
  return '';
}

const isDebug = (words: readonly string[]): boolean =>
  words.some((word) => /^'debug'$|\blevel: 'debug'/.test(word.trim()));

/** What stands between here and the end of the bracket, without what stands in inner ones. */
function splitAt(text: string, start: number, separator: string): { parts: string[]; end: number } {
  const parts: string[] = [];
  let begin = start;
  let depth = 0;
  let at = start;
  for (; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (QUOTES.includes(sign)) at = endOfText(text, at);
    else if (OPENING.includes(sign)) depth += 1;
    else if (CLOSING.includes(sign) && depth === 0) break;
    else if (CLOSING.includes(sign)) depth -= 1;
    else if (sign === separator && depth === 0) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  parts.push(text.slice(begin, at));
  return { parts: parts.filter((part) => part.trim() !== ''), end: at };
}

/** @param start where its quote opens */
function endOfText(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
    else if (quote === '`' && text.startsWith('${', at)) at = splitAt(text, at + 2, '').end;
  }
  return text.length;
}

/** The texts in an expression that are sentences: one that is all of it, else not the words that are compared. */
function literalsIn(expression: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < expression.length; at += 1) {
    if (!QUOTES.includes(expression[at] ?? '')) continue;
    const end = endOfText(expression, at);
    const sentence = withoutValues(expression.slice(at + 1, end));
    const isAll = at === 0 && end === expression.length - 1;
    if (isAll || sentence.includes(' ')) found.push(sentence);
    at = end;
  }
  return found;
}

function withoutValues(text: string): string {
  let said = '';
  for (let at = 0; at < text.length; at += 1) {
    if (text.startsWith('${', at)) {
      at = splitAt(text, at + 2, '').end;
      said += '…';
    } else if (text[at] !== '\\') said += text[at];
  }
  return said;
}

/** Of a name that the file gives to a text. */
function constantsOf(text: string, name: string): string[] {
  if (!/^\w+$/.test(name)) return [];
  return [...text.matchAll(new RegExp(`\\bconst ${name} =\\s*(?=['\`])`, 'g'))].flatMap((match) => {
    const start = match.index + match[0].length;
    return literalsIn(text.slice(start, endOfText(text, start) + 1));
  });
}
