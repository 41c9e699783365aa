import { describe, expect, it } from 'vitest';
import type { Host } from '../../src/ports/host.ts';
import { BASE, createFakeDeps } from './fake-deps.ts';

interface Tap {
  readonly level: string;
  listener(line: Readonly<Record<string, unknown>>): void;
}

/** A live agent whose machine is the test. */
async function onMachine(host: Partial<Host> = {}) {
  const levels: string[] = [];
  const done: string[] = [];
  const taps = new Set<Tap>();
  const deps = createFakeDeps(undefined, {
    setLogLevel: (level) => void levels.push(level),
    tapLog: (level, listener) => {
      const tap = { level, listener };
      taps.add(tap);
      return () => void taps.delete(tap);
    },
    host: {
      restartProblem: () => null,
      restart: () => void done.push('restart'),
      reboot: () => {
        done.push('reboot');
        return null;
      },
      ...host,
    },
  });
  await deps.goLive();
  const answer = (name: string, args: object = {}, id = `${name}-${deps.clock.now()}`) => {
    deps.command(name, { id, args });
    return deps.answers(name).at(-1);
  };
  return { deps, levels, done, taps, answer };
}

describe('restart and reboot', () => {
  it('are answered first, and then carried out: restart', async () => {
    const { deps, done, answer } = await onMachine();
    expect(answer('restart')).toMatchObject({ status: 'ok' });
    expect(done).toEqual([]);
    deps.clock.advance(1000);
    expect(done).toEqual(['restart']);
  });

  it('are refused with a sentence when unsupported', async () => {
    const { done, answer } = await onMachine({
      restartProblem: () => 'no supervisor would start it again',
      reboot: () => 'dragoman-reboot.path is not enabled',
    });
    expect(answer('restart')).toMatchObject({
      status: 'error',
      error: { code: 'unsupported', message: 'no supervisor would start it again' },
    });
    expect(answer('reboot')).toMatchObject({ status: 'error', error: { code: 'unsupported' } });
    expect(done).toEqual([]);
  });

  it('take no arguments', async () => {
    const { done, answer } = await onMachine();
    expect(answer('reboot', { lane: 'main' })).toMatchObject({
      status: 'error',
      error: { code: 'invalid_args' },
    });
    expect(done).toEqual([]);
  });
});

describe('identify', () => {
  it('chimes for the requested time, whatever the earcons are', async () => {
    const { deps, answer } = await onMachine();
    const before = deps.played.length;
    expect(answer('identify', { seconds: 4 })).toMatchObject({ status: 'ok', data: { lanes: ['main'] } });
    deps.clock.advance(4000);
    const chimes = deps.played.length - before;
    expect(chimes).toBeGreaterThanOrEqual(3);
    deps.clock.advance(10_000);
    expect(deps.played.length - before).toBe(chimes);
    expect(answer('identify', { lane: 'left' })).toMatchObject({ error: { code: 'unknown_lane' } });
  });
});

describe('log_level', () => {
  it('sets the level, and the configured one returns after its time', async () => {
    const { deps, levels, answer } = await onMachine();
    expect(answer('log_level', { level: 'debug', minutes: 5 })).toMatchObject({
      status: 'ok',
      data: { level: 'debug' },
    });
    expect(levels.at(-1)).toBe('debug');
    deps.clock.advance(300_000);
    expect(levels.at(-1)).toBe('info');
    expect(answer('log_level', { level: 'loud' })).toMatchObject({ error: { code: 'invalid_args' } });
  });

  it('ends when config/desired sets another level, and does not reset the level later', async () => {
    const { deps, levels, answer } = await onMachine();
    answer('log_level', { level: 'debug', minutes: 5 });
    deps.deliver(`${BASE}/config/desired`, { version: 1, log: { level: 'warn' } });
    expect(levels.at(-1)).toBe('warn');
    const { length } = levels;
    deps.clock.advance(400_000);
    expect(levels).toHaveLength(length);
    // An unchanged document does not override a command.
    answer('log_level', { level: 'trace', minutes: 5 });
    deps.deliver(`${BASE}/config/desired`, {
      version: 2,
      log: { level: 'warn' },
      budget: { minutesPerDay: 9 },
    });
    expect(levels.at(-1)).toBe('trace');
    deps.clock.advance(300_000);
    expect(levels.at(-1)).toBe('warn');
  });
});

describe('log_stream', () => {
  const lines = (deps: Awaited<ReturnType<typeof onMachine>>['deps']) =>
    deps.published.filter(({ topic }) => topic === `${BASE}/log`);

  it('sends a limited number of lines at most once a second, with the number dropped', async () => {
    const { deps, taps, answer } = await onMachine();
    expect(answer('log_stream', { minutes: 1, level: 'debug' })).toMatchObject({
      status: 'ok',
      data: { level: 'debug' },
    });
    const [tap] = taps;
    expect(tap?.level).toBe('debug');
    for (let i = 0; i < 500; i++)
      tap?.listener({ level: 'info', msg: `line ${i}`, filler: 'x'.repeat(i === 0 ? 5000 : 1) });
    expect(lines(deps)).toEqual([]);
    deps.clock.advance(1000);
    const [message] = lines(deps);
    expect(message?.options).toMatchObject({ qos: 0 });
    const body = message?.body as unknown as { lines: string[]; dropped: number };
    expect(body.lines.length + body.dropped).toBe(500);
    expect(body.lines.join('').length).toBeLessThan(17_000);
    deps.clock.advance(60_000);
    expect(taps.size).toBe(0);
    expect(lines(deps)).toHaveLength(1);
  });

  it('ends with 0 minutes, and is replaced by a new one', async () => {
    const { taps, answer } = await onMachine();
    answer('log_stream', { minutes: 60 }, 'a');
    answer('log_stream', { minutes: 60, level: 'trace' }, 'b');
    expect([...taps].map(({ level }) => level)).toEqual(['trace']);
    expect(answer('log_stream', { minutes: 0 }, 'c')).toMatchObject({ data: { until: null } });
    expect(taps.size).toBe(0);
    expect(answer('log_stream', { minutes: 61 }, 'd')).toMatchObject({ error: { code: 'invalid_args' } });
  });
});

describe('voice', () => {
  it('changes the voice in the running session', async () => {
    const { deps, answer } = await onMachine();
    answer('voice', { voice: 'default_low' });
    deps.clock.advance(5000);
    expect(deps.lastStream().calls.at(-1)).not.toBe('');
    expect(deps.lastStream().calls.some((call) => call.includes('"voice":"default_low"'))).toBe(true);
    expect(answer('voice', {})).toMatchObject({ error: { code: 'invalid_args' } });
  });
});
