import pretty from 'pino-pretty';
import { isObject } from '../protocol/common/json.ts';
import { oneLine } from '../protocol/common/plain-text.ts';

export type LogLine = Readonly<Record<string, unknown>>;

/** Log lines for a person at a terminal. */
export function readableFormat(colorize: boolean): (line: LogLine) => string {
  const prettify = pretty.prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l' });
  return (line) => prettify(quieted(line) as LogLine) as string;
}

/**
 * Records quote services, brokers and owners. Such a text must not control the terminal, or begin a new line that would look like a
 * record. Colours are added later.
 */
function quieted(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return key === 'stack' ? stackLines(value) : oneLine(value);
  if (Array.isArray(value)) return value.map((inner) => quieted(inner));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [oneLine(name), quieted(inner, name)]),
  );
}

/** Keeps one indented line for each frame; the message before the frames becomes one line. */
function stackLines(stack: string): string {
  return stack
    .split(/\n(?= +at )/)
    .map(oneLine)
    .join('\n');
}
