import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  chooseLogFormat,
  createLogger,
  type LogFormat,
  type Logger,
  loadFormat,
  setLogLevel,
} from '../../src/adapters/log.ts';

const FORMATS: readonly LogFormat[] = ['json', 'journal', 'journal-json', 'readable', 'readable-plain'];
const LOADED = new Map(
  await Promise.all(FORMATS.map(async (name) => [name, await loadFormat(name)] as const)),
);

function record(
  format: LogFormat,
  write: (logger: Logger) => void,
  level: 'info' | 'trace' = 'info',
): string[] {
  const lines: string[] = [];
  const loaded = LOADED.get(format);
  if (loaded === undefined) throw new Error(`no such format: ${format}`);
  write(createLogger({ level, format: loaded, sink: { write: (text) => lines.push(text) } }));
  return lines;
}

describe('a log record', () => {
  it('is one JSON object on one line', () => {
    const [line, ...more] = record('json', (logger) => logger.info({ lane: 'main' }, 'two\nlines'));
    expect(more).toEqual([]);
    expect(line).toMatch(/^[^\n]*\n$/);
    expect(JSON.parse(line ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      lane: 'main',
      msg: 'two\nlines',
    });
  });

  it('has a priority for the journal', () => {
    const lines = record(
      'journal-json',
      (logger) => {
        for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) logger[level]('x');
      },
      'trace',
    );
    expect(lines.map((line) => line.slice(0, 4))).toEqual(['<7>{', '<7>{', '<6>{', '<4>{', '<3>{', '<2>{']);
    expect(JSON.parse(lines[0]?.slice(3) ?? '')).toMatchObject({ level: 'trace' });
  });

  it('is a sentence on one line for a reader of the journal', () => {
    const [plain, full, broken] = record('journal', (logger) => {
      logger.info({}, 'stopped');
      logger.warn({ lane: 'main', text: 'two words', count: 3, none: null, list: ['a'] }, 'mic is gone');
      logger.error({ err: new Error('bro\nken'), 'a\nb': 'x\u2028<0>y' }, 'two\n<0>lines');
    });
    expect(plain).toBe('<6>stopped\n');
    expect(full).toBe('<4>mic is gone (lane=main, text="two words", count=3, none=null, list=["a"])\n');
    expect(broken).toMatch(/^<3>two <0>lines \(err=\{.*"stack":".*, a b="x <0>y"\)\n$/);
  });

  it('has no colours when they are not wanted', () => {
    const wanting = (value: string) => chooseLogFormat({ fd: 1, isTTY: true }, { NO_COLOR: value });
    expect([wanting('1'), wanting('')]).toEqual(['readable-plain', 'readable']);
    const [line = ''] = record('readable-plain', (logger) => logger.warn({ lane: 'main' }, 'mic is gone'));
    expect(line).toContain('mic is gone');
    expect(line).not.toContain('\u001b');
  });

  it.each(FORMATS)('never steers a terminal by its quotes: %s', (format) => {
    const evil = 'a\u001b]52;c;cHduZWQ=\u0007\u001b[2J\u009b31m\u007f\u202eb\r\u2028c';
    const [line = ''] = record(format, (logger) =>
      logger.warn({ [evil]: evil, deep: { [evil]: [evil] }, err: new Error(evil) }, evil),
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: its own colours
    expect(line.replace(/\u001b\[\d+m/g, '')).not.toMatch(/[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|\p{Cf}/u);
    expect(line).toContain('52;c;cHduZWQ=');
    if (format === 'json') expect(JSON.parse(line)).toMatchObject({ msg: evil, deep: { [evil]: [evil] } });
  });

  it.each(['readable', 'readable-plain'] as const)(
    'never begins another record by its quotes: %s',
    (format) => {
      const linesOf = (text: string): string[] => {
        const stack = `Error: ${text}\n    at run (a.ts:1:2)`;
        const err = Object.assign(new Error(text), { stack, [text]: text });
        const deep = { [text]: [text], stack: text };
        const fields = { [text]: text, detail: text, deep, err, stack, name: text, caller: text };
        const [line = ''] = record(format, (logger) => logger.warn(fields, `denied: ${text}`));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: its own colours
        return line.replace(/\u001b\[\d+m/g, '').split('\n');
      };
      const atStart = (lines: string[]): string[] => lines.filter((line) => /^\S/.test(line));
      const evil = linesOf('a\r\n[12:00:00.000] INFO: forged\u0085\u2028\t\nb');
      expect(evil).toHaveLength(linesOf('plain').length);
      expect(atStart(evil)).toEqual([expect.stringContaining('denied: a [12:00:00.000] INFO: forged b')]);
      expect(evil.filter((line) => /^ +at run \(a\.ts:1:2\)$/.test(line))).toHaveLength(1);
      // A line that looks like a stack frame is indented like one.
      expect(atStart(linesOf('a\n    at forged\n[12:00:00.000] INFO: forged'))).toHaveLength(1);
    },
  );

  it('is readable at a terminal', () => {
    const [line] = record('readable', (logger) => logger.warn({ lane: 'main' }, 'mic is gone'));
    expect(line).toContain('WARN');
    expect(line).toContain('mic is gone');
    expect(line).not.toContain('{"level"');
  });

  it('includes an error with its stack', () => {
    const [line] = record('json', (logger) => logger.error({ err: new Error('broken') }, 'oh'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      err: { message: 'broken', stack: expect.stringContaining('at ') },
    });
  });
});

describe('the level', () => {
  it('can change at run time, also for children', () => {
    const lines = record('json', (logger) => {
      const child = logger.child({ lane: 'main' });
      const grandchild = child.child({ part: 'pacer' });
      grandchild.debug('too early');
      setLogLevel(logger, 'debug');
      grandchild.debug('heard');
      child.level = 'error';
      logger.info('a child is not the parent');
      child.info('not heard');
      setLogLevel(logger, 'info');
      child.info('heard again');
    });
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'heard',
      'a child is not the parent',
      'heard again',
    ]);
  });

  it('reaches all children, however many were made', () => {
    const lines = record('json', (logger) => {
      const kept = Array.from({ length: 200 }, (_, lane) => logger.child({ lane }));
      setLogLevel(logger, 'debug');
      for (const child of kept) child.debug('heard');
    });
    expect(lines).toHaveLength(200);
  });
});

describe('a secret', () => {
  const SECRET = 'S3cretV4lue-abcdefgh';
  const error = Object.assign(new Error(`refused: wss://h/stream?token=${SECRET}&x=1`), {
    headers: { Authorization: `Bearer ${SECRET}` },
  });
  const attempts: [string, (logger: Logger) => void][] = [
    ['as a key', (logger) => logger.info({ token: SECRET })],
    ['deep in an object', (logger) => logger.info({ a: [{ session: { token: SECRET, id: 'x' } }] })],
    [
      'as a whole object',
      (logger) => logger.info({ subscriber_keys: [{ x: SECRET }], credentials: { y: SECRET } }),
    ],
    [
      'under other names',
      (logger) => logger.info({ session_token: SECRET, publisher: SECRET, PASSWORD: SECRET }),
    ],
    [
      'in camel case',
      (logger) => logger.info({ sessionToken: SECRET, apiKey: SECRET, brokerPassword: SECRET }),
    ],
    ['in a header', (logger) => logger.info({ headers: { authorization: SECRET } })],
    ['in an address', (logger) => logger.info({ url: `wss://h/s?a=1&token=${SECRET}&b=2` })],
    ['in the message', (logger) => logger.info(`connecting to wss://h/s?token=${SECRET}`)],
    [
      'in a formatted message',
      (logger) => logger.info('got %s and %j', `token=${SECRET}`, { token: SECRET }),
    ],
    ['in a message that quotes JSON', (logger) => logger.info(`body: {"ok":true,"token":"${SECRET}"}`)],
    [
      'in JSON inside JSON',
      (logger) => logger.info({ body: JSON.stringify({ a: JSON.stringify({ token: SECRET }) }) }),
    ],
    ['as a bearer', (logger) => logger.info(`Authorization: Bearer ${SECRET}`)],
    ['in the address of a broker', (logger) => logger.info(`mqtt://kiosk:${SECRET}@broker`)],
    ['as a bare web token', (logger) => logger.info(`eyJhbGciOiJIUzI1NiJ9.${SECRET}.${SECRET}`)],
    ['in an error', (logger) => logger.error({ err: error }, 'failed')],
    ['in an error as the record itself', (logger) => logger.error(error)],
    [
      'in the bindings of a child',
      (logger) => logger.child({ token: SECRET, a: `token=${SECRET}` }).info('x'),
    ],
    [
      'in a nested child',
      (logger) =>
        logger
          .child({})
          .child({ grant: { token: SECRET } })
          .warn('x'),
    ],
    ['at the highest level', (logger) => logger.fatal({ password: SECRET }, `password=${SECRET}`)],
  ];

  describe.each(FORMATS)('is never written in the format %s', (format) => {
    it.each(attempts)('%s', (_how, write) => {
      const lines = record(format, write);
      expect(lines).toHaveLength(1);
      expect(lines.join('')).not.toContain(SECRET);
      expect(lines.join('')).toContain('[redacted]');
    });
  });

  it('is the only part that is removed', () => {
    const [line] = record('json', (logger) =>
      logger.info({ url: 'wss://h/s?a=1&token=abc&b=2', tokens: 3, token: 4, key: 'k' }, 'tokens = 3'),
    );
    expect(JSON.parse(line ?? '')).toMatchObject({
      url: 'wss://h/s?a=1&token=[redacted]&b=2',
      tokens: 3,
      token: 4,
      key: 'k',
      msg: 'tokens = 3',
    });
  });
});

describe('the log format', () => {
  it('depends on the kind of standard output', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-log-'));
    const fd = openSync(join(folder, 'out'), 'w');
    try {
      const { dev, ino } = fstatSync(fd);
      expect(chooseLogFormat({ fd }, {})).toBe('json');
      expect(chooseLogFormat({ fd, isTTY: true }, { JOURNAL_STREAM: `${dev}:${ino}` })).toBe('readable');
      expect(chooseLogFormat({ fd }, { JOURNAL_STREAM: `${dev}:${ino}` })).toBe('journal');
      expect(chooseLogFormat({ fd }, { JOURNAL_STREAM: `${dev}:${ino}` }, 'json')).toBe('journal-json');
      expect(chooseLogFormat({ fd }, {}, 'text')).toBe('json');
      // Inherited from a service, but the output goes to a file.
      expect(chooseLogFormat({ fd }, { JOURNAL_STREAM: '8:12345' })).toBe('json');
    } finally {
      closeSync(fd);
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a sink that fails', () => {
  it('does not crash the program', () => {
    const sink = new PassThrough();
    const logger = createLogger({ level: 'info', format: 'json', sink });
    expect(() => sink.emit('error', new Error('EPIPE'))).not.toThrow();
    expect(() => logger.info('still here')).not.toThrow();
  });
});

describe('a long text', () => {
  it('is cut in the record and in the sentence', () => {
    const [line] = record('json', (logger) =>
      logger.info({ command: 'x'.repeat(60_000) }, 'y'.repeat(60_000)),
    );
    expect(line?.length).toBeLessThan(4300);
    expect(line).toContain('58000 more characters');
  });
});
