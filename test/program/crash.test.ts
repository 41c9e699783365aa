import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/adapters/log.ts';
import { endOnCrash } from '../../src/program/run-main.ts';

const SECRET = 'tok_SECRET-0123456789';
const CRASH = new Error(`no way to wss://service.example/s?token=${SECRET}`);

function crashing(recordCrash?: (error: unknown) => void) {
  const said: string[] = [];
  const ends: number[] = [];
  const host = Object.assign(new EventEmitter(), {
    env: {},
    stderr: { write: (text: string) => void said.push(text) },
    exit: (code: number) => void ends.push(code),
  });
  endOnCrash(host, 'dragoman', recordCrash);
  return { host, said, ends };
}

describe.each(['uncaughtException', 'unhandledRejection'])('an %s', (event) => {
  it('is logged as fatal without secrets, printed in one sentence, and ends the program with an error', () => {
    const lines: string[] = [];
    const sink = { write: (text: string) => void lines.push(text) };
    const logger = createLogger({ level: 'info', format: 'json', sink });
    const { host, said, ends } = crashing((err) => logger.fatal({ err }, 'unexpected failure'));
    host.emit(event, CRASH);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'fatal', msg: 'unexpected failure' });
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^dragoman: unexpected failure: no way to .*This is a bug/);
    expect(lines.join() + said.join()).not.toContain(SECRET);
    expect(ends).toEqual([1]);
  });

  it('ends the program even when it cannot be reported', () => {
    const { host, ends } = crashing(() => {
      throw new Error('the log is broken');
    });
    host.stderr.write = () => {
      throw new Error('nobody listens');
    };
    host.emit(event, undefined);
    expect(ends).toEqual([1]);
  });
});
