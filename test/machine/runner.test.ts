import { describe, expect, it } from 'vitest';
import { createAlarm } from '../../src/machine/alarm.ts';
import { createCallers } from '../../src/machine/callers.ts';
import { createEventLoop } from '../../src/machine/event-loop.ts';
import type { Handlers, Machine } from '../../src/machine/machine.ts';
import { createRunner } from '../../src/machine/runner.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { drive } from './drive.ts';

interface Kettle {
  readonly doneAt: number | null;
  readonly log: string;
}
type KettleEvent =
  | { readonly type: 'on'; readonly forMs: number }
  | { readonly type: 'read'; readonly degrees: number }
  | { readonly type: 'break' };
type KettleEffect = { readonly type: 'read' } | { readonly type: 'whistle' } | { readonly type: 'burn' };

const kettle: Machine<Kettle, KettleEvent, KettleEffect> = {
  name: 'kettle',
  begin: { doneAt: null, log: '' },
  step(state, event, { now }) {
    const log = `${state.log}${event.type} `;
    switch (event.type) {
      case 'on':
        return { state: { doneAt: now + event.forMs, log }, effects: [{ type: 'read' }, { type: 'burn' }] };
      case 'break':
        throw new Error('broken');
      case 'time':
        return { state: { doneAt: null, log }, effects: [{ type: 'whistle' }] };
      default:
        return { state: { ...state, log }, effects: [] };
    }
  },
  wakeAt: ({ doneAt }) => doneAt,
};

function running(machine = kettle, change: Partial<Handlers<KettleEvent, KettleEffect>> = {}) {
  const clock = createVirtualClock();
  const defects: string[] = [];
  const done: string[] = [];
  const defect = (where: string): void => void defects.push(where);
  const runner = createRunner({ clock, loop: createEventLoop(() => defect('loop')), defects: defect });
  const handlers: Handlers<KettleEvent, KettleEffect> = {
    read: () => ({ type: 'read', degrees: 20 }),
    whistle() {
      done.push(`whistle at ${clock.now()}`);
    },
    burn() {},
    ...change,
  };
  const one = runner.run(machine, handlers, () => ({}));
  return { clock, defects, done, runner, handlers, one };
}

describe('the runner', () => {
  it('wakes each machine at its time, with one timer for all', () => {
    const { clock, done, runner, handlers, one } = running();
    const other = runner.run(kettle, handlers, () => ({}));
    one.post({ type: 'on', forMs: 500 });
    other.post({ type: 'on', forMs: 300 });
    expect(clock.armed).toBe(1);
    clock.advance(400);
    expect(done).toEqual(['whistle at 1300']);
    clock.advance(100);
    expect(done).toEqual(['whistle at 1300', 'whistle at 1500']);
    expect(clock.armed).toBe(0);
  });

  it('posts the result of an effect, at once or later', async () => {
    const { one } = running();
    one.post({ type: 'on', forMs: 1 });
    expect(one.state.log).toBe('on read ');
    const later = running(kettle, { read: async () => ({ type: 'read', degrees: 21 }) });
    later.one.post({ type: 'on', forMs: 1 });
    expect(later.one.state.log).toBe('on ');
    await Promise.resolve();
    await Promise.resolve();
    expect(later.one.state.log).toBe('on read ');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('hot');
      },
    ],
    ['rejects', () => Promise.reject(new Error('hot'))],
  ])('reports an effect that %s, tells the machine, and performs the others', async (_, burn) => {
    const { one, defects } = running(kettle, { burn });
    one.post({ type: 'on', forMs: 1 });
    await Promise.resolve();
    await Promise.resolve();
    expect(defects).toEqual(['kettle.burn']);
    expect(one.state.log).toBe('on read failed ');
  });

  it('keeps the state when a step throws, and goes on', () => {
    const { one, defects, clock, done } = running();
    one.post({ type: 'on', forMs: 300 });
    one.post({ type: 'break' });
    expect(defects).toEqual(['kettle.step.break']);
    clock.advance(300);
    expect(done).toEqual(['whistle at 1300']);
  });

  it('answers whoever waits for a step that throws', async () => {
    const { runner, handlers } = running();
    const callers = createCallers<string>();
    const one = runner.run(
      kettle,
      handlers,
      () => ({}),
      ({ type }) => callers.answerAll(`${type} failed`),
    );
    const asked = callers.wait(() => one.post({ type: 'break' }));
    expect(await asked).toBe('break failed');
  });

  it('lets a handler see what another machine did, if its own machine runs apart', () => {
    const { runner, handlers, one, clock } = running();
    const seen: string[] = [];
    const burn = (): undefined => {
      one.post({ type: 'on', forMs: 500 });
      seen.push(one.state.log);
    };
    const beside = runner.run(kettle, { ...handlers, burn }, () => ({}));
    beside.post({ type: 'on', forMs: 500 });
    const apart = runner.apart().run(kettle, { ...handlers, burn }, () => ({}));
    apart.post({ type: 'on', forMs: 500 });
    expect(seen).toEqual(['', 'on read on read ']);
    expect(clock.armed).toBe(1);
  });

  it('does not spin when a machine throws at its time, or does not move it on', () => {
    const deaf = { ...kettle, step: (state: Kettle) => ({ state, effects: [] }), wakeAt: () => 1100 };
    const broken = {
      ...deaf,
      step: () => {
        throw new Error('broken');
      },
    };
    for (const machine of [deaf, broken]) {
      const { clock, defects } = running(machine);
      clock.advance(10_000);
      expect(defects).toHaveLength(10);
    }
    expect(() => drive(deaf, {}, { now: 1000 }).pass(200)).toThrow('does not move wakeAt on');
  });

  it('does not spin when an event follows a step that threw at its time', () => {
    const clock = createVirtualClock();
    const defects: string[] = [];
    const defect = (where: string): void => void defects.push(where);
    const runner = createRunner({ clock, loop: createEventLoop(() => {}), defects: defect });
    const broken = {
      ...kettle,
      wakeAt: () => 1100,
      step: () => {
        throw new Error('broken');
      },
    };
    const handlers = { read: () => undefined, whistle: () => undefined, burn: () => undefined };
    const one = runner.run(
      broken,
      handlers,
      () => ({}),
      (event) => event.type === 'time' && one.post({ type: 'break' }),
    );
    clock.advance(10_000);
    expect(defects.filter((where) => where === 'kettle.step.time')).toHaveLength(10);
  });

  it('catches up after a pause of the process, and calls that no defect', () => {
    const late = {
      ...kettle,
      begin: { doneAt: 1100, log: '' },
      step: (state: Kettle, { type }: { type: string }) => ({
        state: { doneAt: (state.doneAt ?? 0) + 100, log: `${state.log}${type} ` },
        effects: [],
      }),
    };
    const { clock, defects, one } = running(late);
    clock.stall(1000);
    clock.advance(0);
    expect(one.state).toEqual({ doneAt: 2100, log: 'time '.repeat(10) });
    expect(defects).toEqual([]);
  });

  it('takes no step after the close, and leaves no timer', () => {
    const { clock, one, done } = running();
    one.post({ type: 'on', forMs: 300 });
    one.close();
    one.post({ type: 'on', forMs: 300 });
    clock.advance(1000);
    expect([one.state.log, done, clock.armed]).toEqual(['on read ', [], 0]);
  });
});

describe('the alarm', () => {
  it('does not wake a sleeper that another one has just put off or removed', () => {
    const clock = createVirtualClock();
    const alarm = createAlarm(clock);
    const woken: string[] = [];
    const first = alarm.add(() => {
      woken.push('first');
      putOff.sleepUntil(1500);
      removed.remove();
    });
    const putOff = alarm.add(() => woken.push(`put off until ${clock.now()}`));
    const removed = alarm.add(() => woken.push('removed'));
    for (const sleeper of [first, putOff, removed]) sleeper.sleepUntil(1100);
    clock.advance(1000);
    expect(woken).toEqual(['first', 'put off until 1500']);
    expect(clock.armed).toBe(0);
  });
});
