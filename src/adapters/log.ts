import { fstatSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { escapeSteering, oneLine } from '../protocol/common/plain-text.ts';
import type { LogLevel } from '../protocol/common/setting-values.ts';
import type { LogLine } from './readable-log.ts';
import { redactValue } from './redaction.ts';

export type { Logger } from 'pino';

/**
 * `json`: one object per line. `journal`: systemd's priority, the sentence and its fields, for a person who reads the journal.
 * `journal-json`: the priority and an object. `readable`: for a person at a terminal; `readable-plain`: the same without colours.
 */
export type LogFormat = 'json' | 'journal' | 'journal-json' | 'readable' | 'readable-plain';

/** The destination of finished lines: standard output, or anything that accepts text. */
export interface LogSink {
  write(text: string): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

/** A format as `loadFormat` returns it: a readable format becomes a function that formats a line; the others stay names. */
export type LoadedFormat = Exclude<LogFormat, 'readable' | 'readable-plain'> | ((line: LogLine) => string);

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LoadedFormat;
  readonly sink: LogSink;
}

/** sd-daemon(3): the prefix by which the journal learns a line's priority. */
const JOURNAL_PRIORITIES: Readonly<Record<string, number>> = {
  trace: 7,
  debug: 7,
  info: 6,
  warn: 4,
  error: 3,
  fatal: 2,
};
const JOURNAL_DEFAULT_PRIORITY = 6;

/** Maximum characters of one text in a log record; the rest is neither written nor searched for secrets. */
export const LONGEST_LOGGED = 2000;

/**
 * A logger that redacts every line in every format. Setting `level` on it also changes the level of all its children. A failing
 * sink (a closed pipe, a full disk) loses lines, but never ends the program.
 */
export function createLogger(options: LogOptions): Logger {
  const { sink } = options;
  const format = formatter(options.format);
  sink.on?.('error', () => {});
  const children = new ChildLoggers();
  const taps = new Set<Tap>();
  let level: string = options.level;
  const write = (text: string): void => {
    const line = redactLine(text);
    if (isAtLeast(line['level'], level)) sink.write(format(line));
    for (const tap of taps) if (isAtLeast(line['level'], tap.level)) tap.listener(line);
  };
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      onChild: (child) => children.add(child),
    },
    { write },
  );
  logger.on('level-change', (level: string, _value, _before, _beforeValue, changed: unknown) => {
    if (changed === logger) children.setLevel(level);
  });
  const settle = (): void => {
    // pino creates no record below the lowest level of all outputs.
    logger.level = [level, ...[...taps].map((tap) => tap.level)].reduce((one, other) =>
      isAtLeast(one, other) ? other : one,
    );
  };
  CONTROLS.set(logger, {
    setLevel(next) {
      level = next;
      settle();
    },
    tap(tap) {
      taps.add(tap);
      settle();
      return () => {
        taps.delete(tap);
        settle();
      };
    },
  });
  return logger;
}

interface Tap {
  readonly level: string;
  listener(line: Readonly<Record<string, unknown>>): void;
}

interface Control {
  setLevel(level: LogLevel): void;
  tap(tap: Tap): () => void;
}

const CONTROLS = new WeakMap<Logger, Control>();

/** Sets the lowest level that is written; taps have their own. */
export function setLogLevel(logger: Logger, level: LogLevel): void {
  CONTROLS.get(logger)?.setLevel(level);
}

/**
 * Passes each redacted line from this level on to the listener too, until the returned function is called. The listener
 * must not receive its own records.
 */
export function tapLog(logger: Logger, level: string, listener: Tap['listener']): () => void {
  return CONTROLS.get(logger)?.tap({ level, listener }) ?? (() => {});
}

/** Whether a record of this level is written when `least` is the lowest level. */
function isAtLeast(level: unknown, least: string): boolean {
  const rank = (name: unknown): number => pino.levels.values[String(name)] ?? 0;
  return rank(level) >= rank(least);
}

/**
 * Chooses the format for a standard output. A terminal is read by a person; a journal's stream is recognised by its inode.
 * @param wanted the format for the journal
 */
export function chooseLogFormat(
  output: { readonly isTTY?: boolean; readonly fd: number },
  env: Readonly<Record<string, string | undefined>>,
  wanted: 'text' | 'json' = 'text',
): LogFormat {
  // An empty NO_COLOR has no effect (no-color.org).
  if (output.isTTY === true) return env['NO_COLOR'] ? 'readable-plain' : 'readable';
  const journal = env['JOURNAL_STREAM'];
  if (journal === undefined) return 'json';
  // Programs inherit the variable even when their output goes elsewhere (systemd.exec(5)).
  const { dev, ino } = fstatSync(output.fd);
  if (journal !== `${dev}:${ino}`) return 'json';
  return wanted === 'json' ? 'journal-json' : 'journal';
}

/** Loads what the format needs: a kiosk, which does not log to a terminal, never loads the readable ones. */
export async function loadFormat(format: LogFormat): Promise<LoadedFormat> {
  if (format !== 'readable' && format !== 'readable-plain') return format;
  const { readableFormat } = await import('./readable-log.ts');
  return readableFormat(format === 'readable');
}

function redactLine(line: string): LogLine {
  return redactValue(JSON.parse(line), LONGEST_LOGGED) as LogLine;
}

function formatter(format: LoadedFormat): (line: LogLine) => string {
  if (typeof format === 'function') return format;
  const json = (line: LogLine): string => escapeSteering(JSON.stringify(line));
  if (format === 'json') return (line) => `${json(line)}\n`;
  return (line) => {
    const priority = JOURNAL_PRIORITIES[String(line['level'])] ?? JOURNAL_DEFAULT_PRIORITY;
    return `<${priority}>${format === 'journal' ? sentenceOf(line) : json(line)}\n`;
  };
}

/**
 * "the microphone is gone (lane=main, code=lost)", without level and time, which the journal has itself. On one line: a line
 * break would begin another entry with another priority.
 */
function sentenceOf({ level: _level, time: _time, msg, ...fields }: LogLine): string {
  const parts = Object.entries(fields).map(([name, value]) => `${oneLine(name)}=${formatValue(value)}`);
  const sentence = oneLine(typeof msg === 'string' ? msg : '');
  return parts.length === 0 ? sentence : `${sentence} (${parts.join(', ')})`;
}

function formatValue(value: unknown): string {
  const isPlainWord = typeof value === 'string' && /^[^\s"(),=\p{Cc}]+$/u.test(value);
  return isPlainWord ? value : oneLine(JSON.stringify(value) ?? 'null');
}

/** The children of a logger, which do not follow its level by themselves; unused ones can be garbage-collected. */
class ChildLoggers {
  private members: WeakRef<Logger>[] = [];
  private pruneAt = 64;

  add(child: Logger): void {
    this.members.push(new WeakRef(child));
    if (this.members.length < this.pruneAt) return;
    this.members = this.members.filter((member) => member.deref() !== undefined);
    this.pruneAt = Math.max(64, this.members.length * 2);
  }

  setLevel(level: string): void {
    for (const member of this.members) {
      const child = member.deref();
      if (child !== undefined) child.level = level;
    }
  }
}
