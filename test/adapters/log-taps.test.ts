import { describe, expect, it } from 'vitest';
import { createLogger, setLogLevel, tapLog } from '../../src/adapters/log.ts';

function logged(level: 'info' | 'warn' = 'info') {
  const written: string[] = [];
  const logger = createLogger({ level, format: 'json', sink: { write: (text) => written.push(text) } });
  return { logger, messages: () => written.map((line) => JSON.parse(line).msg as string) };
}

describe('a tap of the log', () => {
  it('gets finer lines than the log writes, and does not change the log', () => {
    const { logger, messages } = logged();
    const child = logger.child({ part: 'x' });
    const seen: unknown[] = [];
    const untap = tapLog(logger, 'debug', (line) => void seen.push(line['msg']));
    logger.debug({}, 'fine');
    child.debug({}, 'fine too');
    logger.info({}, 'coarse');
    untap();
    logger.debug({}, 'unseen');
    expect(seen).toEqual(['fine', 'fine too', 'coarse']);
    expect(messages()).toEqual(['coarse']);
    expect(logger.isLevelEnabled('debug')).toBe(false);
  });

  it('gets only coarser lines when it asks for those', () => {
    const { logger, messages } = logged();
    const seen: unknown[] = [];
    tapLog(logger, 'error', (line) => void seen.push(line['msg']));
    logger.info({}, 'one');
    logger.error({}, 'two');
    expect([seen, messages()]).toEqual([['two'], ['one', 'two']]);
  });

  it('never gets a secret', () => {
    const { logger } = logged();
    const seen: string[] = [];
    tapLog(logger, 'info', (line) => void seen.push(JSON.stringify(line)));
    logger.info(
      { token: 'tok_SECRET-0123456789', url: 'wss://x/?token=tok_SECRET-0123456789' },
      'opening wss://x/?token=tok_SECRET-0123456789',
    );
    expect(seen.join('')).not.toContain('SECRET');
  });

  it('keeps its level when the log’s level changes', () => {
    const { logger, messages } = logged();
    const seen: unknown[] = [];
    tapLog(logger, 'debug', (line) => void seen.push(line['msg']));
    setLogLevel(logger, 'warn');
    logger.debug({}, 'a');
    logger.info({}, 'b');
    logger.warn({}, 'c');
    expect([seen, messages()]).toEqual([['a', 'b', 'c'], ['c']]);
  });
});
