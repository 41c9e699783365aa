import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { LiveHost } from '../../../src/cli/demo/live-host.ts';
import type { KeySignal } from '../../../src/cli/demo/live-keys.ts';
import { createLiveView } from '../../../src/cli/demo/live-view.ts';
import type { DemoModel } from '../../../src/cli/demo/model.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { account, demoModel, exchange } from './made-up.ts';
import { TinyTerminal } from './tiny-terminal.ts';

class FakeKeyboard extends EventEmitter {
  isTTY = true;
  isRaw = false;
  isPaused = true;
  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }
  resume(): void {
    this.isPaused = false;
  }
  pause(): void {
    this.isPaused = true;
  }
}

class FakeHost extends EventEmitter implements LiveHost {
  readonly env = { LANG: 'C.UTF-8' };
  readonly input = new FakeKeyboard();
  readonly raised: KeySignal[] = [];
  raise(signal: KeySignal): void {
    this.raised.push(signal);
  }
}

function setUp(columns = 80, rows = 24) {
  const terminal = new TinyTerminal(columns, rows);
  const clock = createVirtualClock();
  const host = new FakeHost();
  const view = createLiveView(terminal, clock, host);
  const update = (more: Partial<DemoModel> = {}): void => view.update(demoModel(more), account());
  const shows = (text: string): boolean => terminal.screen.some((row) => row.includes(text));
  return { terminal, clock, host, view, update, shows };
}

describe('live view', () => {
  it('shows the first model at once and leaves the last row to the cursor', () => {
    const { terminal, update, shows } = setUp();
    update({ phase: 'acquiring' });
    expect(shows('● acquiring')).toBe(true);
    expect(terminal.screen).toHaveLength(24);
    expect(terminal.cursor).toEqual({ row: 23, column: 0 });
    expect(terminal.history).toEqual([]);
  });

  it('draws at most twelve pictures per second, always with the latest state', () => {
    const { terminal, clock, update, shows } = setUp();
    for (let ms = 0; ms < 10_000; ms += 5) {
      // Each model differs from the previous one in a displayed value.
      update({ elapsedMs: ms, backlogMs: ms * 20 });
      clock.advance(5);
    }
    expect(terminal.writes.length).toBeLessThanOrEqual(121);
    expect(terminal.writes.length).toBeGreaterThan(90);
    clock.advance(100);
    expect(shows('0:09')).toBe(true);
    expect(shows('backlog 199.9 s')).toBe(true);
  });

  it('draws nothing when the model has not changed', () => {
    const { terminal, clock, update } = setUp();
    for (let i = 0; i < 50; i++) {
      update({ elapsedMs: 300 + i });
      clock.advance(10);
    }
    expect(terminal.writes).toHaveLength(1);
    expect(clock.armed).toBeLessThanOrEqual(1);
  });

  it('keeps drawing while the meters fall, then stops', () => {
    const { terminal, clock, update, shows } = setUp();
    update({ inputDb: -10 });
    expect(shows('-10 dBFS')).toBe(true);
    update({ inputDb: -96 });
    clock.advance(10_000);
    expect(shows('dBFS')).toBe(false);
    expect(terminal.writes.length).toBeGreaterThan(20);
    expect(clock.armed).toBe(0);
  });

  it('adapts to a new size of the terminal once the size is stable', () => {
    const { terminal, clock, update } = setUp(80, 40);
    update({ exchanges: [exchange(0, 'Good morning.', 'Buenos días.')] });
    const before = terminal.writes.length;
    for (const columns of [76, 70, 66, 60]) {
      terminal.resize(columns, 40);
      clock.advance(40);
    }
    expect(terminal.writes).toHaveLength(before);
    clock.advance(200);
    expect(terminal.writes).toHaveLength(before + 1);
    expect(terminal.screen.filter((row) => row.includes('Dragoman demo'))).toHaveLength(1);
    expect(terminal.screen[0]).toMatch(/^ Dragoman demo .*0:00$/);
    expect(terminal.screen[0]).toHaveLength(59);
  });

  it('fits a terminal that loses rows', () => {
    const { terminal, clock, update, shows } = setUp(80, 40);
    update({ phase: 'live' });
    terminal.resize(80, 18);
    clock.advance(200);
    expect(terminal.screen[0]).toContain('Dragoman demo');
    expect(terminal.screen).toHaveLength(18);
    expect(shows('● live')).toBe(true);
  });

  it('assumes 80 by 24 when the terminal reports no size', () => {
    const { terminal, update } = setUp();
    Object.assign(terminal, { columns: 0, rows: 0 });
    terminal.wrapsRows = false;
    update();
    expect(terminal.writes.join('').split('\r\n')).toHaveLength(24);
  });
});

describe('end of a live view', () => {
  it('leaves the latest picture and restores the terminal', () => {
    const { terminal, clock, host, view, update, shows } = setUp();
    update({ phase: 'live' });
    update({ phase: 'draining' });
    view.close();
    expect(shows('● draining')).toBe(true);
    expect(terminal).toMatchObject({ isCursorVisible: true, wrapsRows: true });
    expect(terminal.cursor.column).toBe(0);
    expect(terminal.screen[terminal.cursor.row]).toBe('');
    expect(clock.armed).toBe(0);
    expect(host.input).toMatchObject({ isRaw: false, isPaused: true });
    for (const emitter of [terminal, host, host.input]) expect(emitter.eventNames()).toEqual([]);
  });

  it('may be repeated, and the view draws nothing afterwards', () => {
    const { terminal, clock, view, update } = setUp();
    update({ inputDb: -10 });
    view.close();
    const writes = terminal.writes.length;
    view.close();
    update({ phase: 'live' });
    terminal.resize(60, 24);
    clock.advance(5000);
    expect(terminal.writes).toHaveLength(writes);
  });

  it('writes nothing when nothing was shown', () => {
    const { terminal, host, view } = setUp();
    expect(host.input.isRaw).toBe(false);
    view.close();
    expect(terminal.writes).toEqual([]);
  });

  it('restores the terminal when the process ends without it', () => {
    const { terminal, host, update } = setUp();
    update();
    expect(terminal.isCursorVisible).toBe(false);
    host.emit('exit');
    expect(terminal).toMatchObject({ isCursorVisible: true, wrapsRows: true });
    expect(host.input.isRaw).toBe(false);
  });

  it('restores the terminal even when the last picture cannot be drawn', () => {
    const { terminal, view, update } = setUp();
    update();
    view.update(demoModel({ elapsedMs: 5000 }), account());
    Object.defineProperty(terminal, 'columns', {
      get: () => {
        throw new Error('the terminal is gone');
      },
    });
    expect(() => view.close()).toThrow('the terminal is gone');
    expect(terminal.isCursorVisible).toBe(true);
  });
});

describe('keys at a live view', () => {
  it('are not echoed, and do nothing', () => {
    const { host, update } = setUp();
    update();
    expect(host.input).toMatchObject({ isRaw: true, isPaused: false });
    host.input.emit('data', Buffer.from('hello\r'));
    expect(host.raised).toEqual([]);
  });

  it('raise the signals of a terminal', () => {
    const { terminal, host, update } = setUp();
    update();
    host.input.emit('data', Buffer.from([0x03]));
    expect(host.raised).toEqual(['SIGINT']);
    // The picture stays until the program has shut down cleanly.
    expect(terminal.isCursorVisible).toBe(false);
    host.input.emit('data', Buffer.from([0x1c]));
    expect(host.raised).toEqual(['SIGINT', 'SIGQUIT']);
    expect(terminal.isCursorVisible).toBe(true);
  });

  it('restore the terminal at Ctrl-Z, and draw below the output of the shell afterwards', () => {
    const { terminal, clock, host, view, update, shows } = setUp(80, 90);
    update({ phase: 'connecting' });
    host.input.emit('data', Buffer.from([0x1a]));
    expect(host.raised).toEqual(['SIGTSTP']);
    expect(terminal.isCursorVisible).toBe(true);
    expect(host.input.isRaw).toBe(false);
    terminal.show('[1]+  Stopped\r\n');
    host.emit('SIGCONT');
    clock.advance(200);
    expect(host.input.isRaw).toBe(true);
    expect(terminal.isCursorVisible).toBe(false);
    update({ phase: 'live' });
    clock.advance(200);
    expect(shows('● live')).toBe(true);
    view.close();
    const left = terminal.screen.filter((line) => /Dragoman demo|Stopped/.test(line));
    expect(left).toEqual([
      expect.stringContaining('Dragoman demo'),
      '[1]+  Stopped',
      expect.stringContaining('Dragoman demo'),
    ]);
  });

  it('are not handled without a terminal as input', () => {
    const { host, update } = setUp();
    host.input.isTTY = false;
    update();
    expect(host.input).toMatchObject({ isRaw: false, isPaused: true });
    expect(host.input.eventNames()).toEqual([]);
  });
});
