import { afterEach, describe, expect, it, vi } from 'vitest';
import * as machine from '../../../src/device/lane/machine.ts';
import type { LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import { createDefects, type DefectReports, guardClock, nameOf } from '../../../src/machine/defects.ts';
import { createEventLoop } from '../../../src/machine/event-loop.ts';
import { closed, ready } from '../../service-events.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { BASE, TOKEN } from '../fake-deps.ts';
import {
  expectStreaming,
  expectTold,
  explode,
  phaseOf,
  reject,
  stopped,
  throwing,
  withCapture,
  withPlayback,
} from './tools.ts';

vi.mock(import('../../../src/device/lane/machine.ts'), async (original) => {
  const real = await original();
  return { ...real, step: vi.fn(real.step) };
});
const { step: realStep } = await vi.importActual<typeof machine>('../../../src/device/lane/machine.ts');
const stepMock = vi.mocked(machine.step);
afterEach(() => void stepMock.mockReset().mockImplementation(realStep));

/** The core throws at each event that `is` selects. */
function breakCore(is: (event: LaneEvent) => boolean): void {
  stepMock.mockImplementation((state, event, now) => (is(event) ? explode() : realStep(state, event, now)));
}

describe('a step of the core that throws', () => {
  it('does not block the owner: the desired configuration takes effect, and commands are answered', async () => {
    const deps = throwing((given) => given);
    await deps.goLive();
    breakCore(({ type }) => type === 'captured');
    deps.speak();
    stepMock.mockImplementation(realStep);
    expect(phaseOf(deps)).toBe('restarting');
    deps.deliver(`${BASE}/config/desired`, { version: 1, lanes: [{ id: 'main', standbyAfter: 77 }] });
    deps.deliver('dragoman/v1/museum/all/cmd/volume', { id: 'v', args: { percent: 40 } });
    deps.command('echo', { id: 'e', args: { mode: 'loud' } });
    expect(phaseOf(deps)).toBe('restarting');
    expect(deps.agent.lanes[0]?.state.options).toMatchObject({ standbyAfterMs: 77_000, volume: 40 });
    expect(deps.answers('volume')).toMatchObject([{ id: 'v', status: 'ok' }]);
    expect(deps.answers('echo')).toMatchObject([{ id: 'e', error: { code: 'invalid_args' } }]);
    deps.clock.advance(1000);
    expect(deps.sent('config/reported').at(-1)?.body).toMatchObject({ version: { device: 1 }, errors: [] });
  });

  it('is reported, and the lane restarts and streams', async () => {
    const deps = throwing((given) => given);
    await deps.goLive();
    breakCore(({ type }) => type === 'captured');
    deps.speak();
    expect(phaseOf(deps)).toBe('restarting');
    expect(deps.openMicrophones).toBe(0);
    expect(deps.lastStream().calls).toContain('terminate');
    expect(deps.defects).toEqual(['main: captured']);
    expectTold(deps);
    expect(deps.sent('event/internal_error')[0]?.body).toMatchObject({
      lane: 'main',
      message: 'a defect of the program ended a step (captured: TypeError); see its log',
    });
    expect(deps.sent('status').at(-1)?.body).toMatchObject({
      status: 'degraded',
      reasons: ['internal_error'],
    });
    stepMock.mockImplementation(realStep);
    for (let s = 0; s < 5 && phaseOf(deps) !== 'acquiring'; s++) deps.clock.advance(1000);
    deps.grant();
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    expectStreaming(deps);
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ status: 'ready' });
    deps.command('status', { id: 's1' });
    expect(deps.answers('status').at(-1)).toMatchObject({ data: { audio: [{ defects: 1 }] } });
    expect(JSON.stringify(deps.published)).not.toContain(TOKEN);
  });

  it('costs a limited number of tokens and messages when it throws repeatedly', async () => {
    const deps = throwing((given) => given);
    await deps.goLive();
    breakCore(({ type }) => type === 'captured');
    for (let chunk = 0; chunk < 3 * 600; chunk++) {
      deps.speak();
      if (phaseOf(deps) === 'acquiring') deps.grant();
    }
    expect(deps.sent('event/internal_error').length).toBeLessThan(20);
    expect(deps.sent('token/req').length).toBeLessThan(20);
    expect(deps.defects.length).toBeLessThan(15);
    await stopped(deps);
  });

  it('does not block the agent when it throws at the start or when the connection comes up', async () => {
    const deps = throwing((given) => given);
    const left = new Set<LaneEvent['type']>(['start', 'broker']);
    // Each throws once: a lane is started only once, and connected only once.
    breakCore(({ type }) => left.delete(type));
    await deps.agent.start();
    deps.brokerUp();
    expect(left.size).toBe(0);
    for (let s = 0; s < 10 && phaseOf(deps) !== 'acquiring'; s++) deps.clock.advance(1000);
    expect(deps.sent('token/req').length).toBeGreaterThan(0);
    await stopped(deps);
  });

  it('restarts the lane even when devices and connections throw at their release', async () => {
    const deps = throwing((given) => {
      const deaf = withPlayback({ flush: explode })(withCapture({ close: reject })(given));
      return {
        ...deaf,
        openStream: (...opening) => ({ ...given.openStream(...opening), terminate: explode }),
      };
    });
    await deps.goLive();
    breakCore(({ type }) => type === 'captured');
    deps.speak();
    expect(phaseOf(deps)).toBe('restarting');
    expect(deps.defects).toContain('stream.terminate');
    expectTold(deps);
    stepMock.mockImplementation(realStep);
    for (let s = 0; s < 5 && phaseOf(deps) !== 'acquiring'; s++) deps.clock.advance(1000);
    deps.grant();
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    expect(phaseOf(deps)).toBe('live');
  });

  it('does not block the end of the agent, whichever step it is', async () => {
    for (const type of ['shutdown', 'timer', 'broker', 'ended'] as const) {
      const deps = throwing((given) => given);
      await deps.goLive();
      breakCore((event) => event.type === type);
      const stopping = deps.agent.stop();
      deps.lastStream().listener.said(closed('closed'));
      await deps.clock.elapse(11_000);
      await stopping;
      expect(deps.finale).not.toBeNull();
      stepMock.mockImplementation(realStep);
    }
  });
});

describe('the job queue', () => {
  it('continues after a job that throws, with waiting and new jobs', () => {
    const done: string[] = [];
    const loop = createEventLoop((error) => done.push(String(error)));
    loop.post(() => {
      loop.post(() => done.push('second'));
      loop.post(() => done.push('third'));
      throw new Error('first');
    });
    loop.post(() => done.push('fourth'));
    expect(done).toEqual(['Error: first', 'second', 'third', 'fourth']);
  });
});

describe('a timer', () => {
  it('does not stop the next timer when its callback throws', () => {
    const clock = createVirtualClock();
    const done: string[] = [];
    const guarded = guardClock(clock, (where) => done.push(where));
    guarded.at(clock.now() + 10, explode);
    guarded.at(clock.now() + 20, () => done.push('next'));
    clock.advance(30);
    expect(done).toEqual(['timer', 'next']);
  });
});

describe('defects', () => {
  it('are published once the connection is up, also those of outside timers', async () => {
    let reports: DefectReports | null = null;
    const deps = throwing((given) => {
      reports = createDefects(given.log, given.clock);
      const { report } = reports;
      guardClock(given.clock, report).at(given.clock.now() + 1, explode);
      return { ...given, defects: reports };
    });
    deps.clock.advance(1);
    expect(deps.defects).toEqual(['timer']);
    expect(deps.published).toEqual([]);
    await deps.goLive();
    expectTold(deps);
    expect(deps.sent('event/defect')).toHaveLength(1);
  });

  it('are published when the log throws, and logged when publishing throws', () => {
    const mute = (): void => {};
    const log = { trace: mute, debug: mute, info: mute, warn: mute };
    const told: string[] = [];
    const logless = createDefects({ ...log, error: explode }, createVirtualClock());
    logless.tellOwner((where) => void told.push(where));
    logless.report('a', new Error('x'));
    const ownerless = createDefects({ ...log, error: () => void told.push('log') }, createVirtualClock());
    ownerless.tellOwner(explode);
    ownerless.report('b', new Error('x'));
    expect(told).toEqual(['a', 'log']);
  });

  it.each([
    [new TypeError('secret'), 'TypeError'],
    [Object.assign(new Error('secret'), { code: 'ENOSPC' }), 'Error ENOSPC'],
    [Object.assign(new Error('x'), { name: 'wss://h/?token=secret', code: 'secret\u001b' }), 'Error'],
    [Object.assign(new Error('x'), { name: 'A'.repeat(1000) }), 'Error'],
    ['secret', 'string'],
    [null, 'object'],
    [new Proxy(new Error('x'), { get: explode }), 'Error'],
  ])('report only the kind of the error: %#', (thrown, kind) => {
    expect(nameOf(thrown)).toBe(kind);
  });

  it('are logged at once, and then once a minute with a count', () => {
    const clock = createVirtualClock();
    const told: object[] = [];
    const mute = (): void => {};
    const log = { trace: mute, debug: mute, info: mute, warn: mute };
    const { report: defects } = createDefects({ ...log, error: (fields) => void told.push(fields) }, clock);
    for (let s = 0; s < 121; s++) {
      defects('part', new Error('x'));
      clock.advance(1000);
    }
    defects('other', 'no error at all');
    expect(told).toMatchObject([
      { where: 'part', more: 0 },
      { where: 'part', more: 59 },
      { where: 'part', more: 59 },
      { where: 'other', more: 0 },
    ]);
  });
});
