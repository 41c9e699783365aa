import { describe, expect, it } from 'vitest';
import { attendService } from '../../../src/agent/service/attend.ts';
import { type Observed, observeWorld } from '../../../src/agent/service/observed-world.ts';
import type { StatusMessage } from '../../../src/protocol/mqtt/device.ts';
import { createFakeWorld, testConfig } from '../fake-world.ts';
import { createFakeInitSystem } from './fake-init-system.ts';

function attended(lane: Record<string, unknown> = {}) {
  let observed: Observed | undefined;
  const world = createFakeWorld(testConfig(lane), {}, (outside) => {
    observed = observeWorld(outside);
    return observed.world;
  });
  if (observed === undefined) throw new Error('nobody observes');
  const { agent, clock } = world;
  const service = createFakeInitSystem();
  const { initSystem } = service;
  const attendance = attendService({ agent, observed, initSystem, clock, log: world.world.log });
  return { world, attendance, service };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const isReady = ({ told }: ReturnType<typeof createFakeInitSystem>): boolean =>
  told.some(({ ready }) => ready);

describe('readiness', () => {
  it('comes when the microphone was heard and the broker has answered, and not before', async () => {
    const { world, attendance, service } = attended();
    await world.agent.start();
    const started = attendance.started();
    await settle();
    world.brokerUp();
    await settle();
    expect(isReady(service)).toBe(false);
    world.speak();
    await started;
    expect(service.told.at(-1)).toEqual({
      ready: true,
      status: 'ready: main acquiring, en to es; broker connected',
    });
  });

  it('comes without a network, too, and says so', async () => {
    const { world, attendance, service } = attended();
    await world.agent.start();
    const started = attendance.started();
    world.speak();
    await settle();
    expect(isReady(service)).toBe(false);
    world.bus.listener.down('unreachable', 'cannot reach mqtt://127.0.0.1:1: connection refused');
    await started;
    expect(service.statuses.at(-1)).toBe(
      'degraded (no_line): main acquiring, en to es; no broker: cannot reach mqtt://127.0.0.1:1: connection refused',
    );
  });

  it('comes without a microphone, and when nothing answers at all', async () => {
    const faulty = attended();
    await faulty.world.agent.start();
    faulty.world.brokerUp();
    const started = faulty.attendance.started();
    faulty.world.microphoneFault({ code: 'not_found', message: 'there is none' });
    await started;
    expect(faulty.service.statuses.at(-1)).toContain('degraded (capture:lost)');

    const mute = attended();
    await mute.world.agent.start();
    const limited = mute.attendance.started();
    mute.world.clock.advance(14_999);
    await settle();
    expect(isReady(mute.service)).toBe(false);
    mute.world.clock.advance(1);
    await limited;
    expect(mute.service.statuses.at(-1)).toContain('broker not tried yet');
  });

  it('never comes once the agent is ending', async () => {
    const { world, attendance, service } = attended();
    await world.agent.start();
    const started = attendance.started();
    attendance.stopping();
    world.brokerUp();
    world.speak();
    await started;
    expect(service.told).toEqual([{ stopping: true, status: 'stopping: sessions are being ended' }]);
  });
});

describe('signs of life', () => {
  it('come three times in the time of the watchdog while sound comes through', async () => {
    const { world, service } = attended();
    await world.goLive();
    for (let chunk = 0; chunk < 200; chunk++) world.speak();
    expect(service.signs).toBe(3);
  });

  it('do not come while a microphone is there and no sound gets through', async () => {
    const { world, service } = attended();
    await world.goLive();
    for (let chunk = 0; chunk < 70; chunk++) world.speak();
    expect(service.signs).toBe(1);
    // One more look may fall into the last of the sound.
    world.clock.advance(20_000);
    const before = service.signs;
    world.clock.advance(60_000);
    expect(service.signs).toBe(before);
    expect(world.logged.filter(([level]) => level === 'error')).toEqual([
      ['error', expect.stringMatching(/^no sound comes through/), { lanes: ['main'], seconds: 20 }],
    ]);
    world.speak();
    world.clock.advance(20_000);
    expect(service.signs).toBe(before + 1);
  });

  it('go on without a device: a missing one is no lack of progress', async () => {
    const unplugged = attended();
    await unplugged.world.goLive();
    unplugged.world.microphoneFault({ code: 'lost', message: 'it went away' });
    unplugged.world.clock.advance(60_000);
    expect(unplugged.service.signs).toBe(3);

    const missing = attended();
    missing.world.failCapture(new Error('there is no such file'));
    await missing.world.agent.start();
    missing.world.brokerUp();
    await settle();
    missing.world.clock.advance(60_000);
    expect(missing.service.signs).toBe(3);
  });

  it('go on in a lane that waits for the command to start', async () => {
    const { world, service } = attended({ start: 'command' });
    await world.agent.start();
    world.brokerUp();
    world.clock.advance(60_000);
    expect(service.signs).toBe(3);
  });

  it('stop with the agent', async () => {
    const { world, attendance, service } = attended();
    await world.agent.start();
    attendance.stopping();
    world.clock.advance(120_000);
    expect(service.signs).toBe(0);
  });
});

describe('the line for people', () => {
  it('follows the lanes, and changes once in ten seconds at most', async () => {
    const { world, attendance, service } = attended();
    await world.goLive();
    const started = attendance.started();
    world.speak();
    await started;
    const before = service.statuses.length;
    for (let turn = 0; turn < 100; turn++) {
      world.bus.listener.down('unreachable', `cannot reach the broker: ${turn}`);
      world.speak();
    }
    expect(service.statuses.length - before).toBeGreaterThanOrEqual(3);
    expect(service.statuses.length - before).toBeLessThanOrEqual(4);
    expect(service.statuses.at(-1)).toMatch(/en to es; no broker: cannot reach the broker: \d+$/);
  });

  it('and the owner hear of too much memory, which is no trouble of a lane', async () => {
    const { world, attendance, service } = attended();
    await world.goLive();
    const started = attendance.started();
    world.speak();
    await started;
    const told = (): unknown => {
      const message = world.published.findLast(({ topic }) => topic.endsWith('/status'));
      const { status, reasons } = (message?.body ?? {}) as Partial<StatusMessage>;
      return { status, reasons };
    };
    expect(told()).toEqual({ status: 'ready', reasons: [] });
    attendance.large(true);
    world.clock.advance(11_000);
    expect(told()).toEqual({ status: 'degraded', reasons: ['memory'] });
    expect(service.statuses.at(-1)).toMatch(/^degraded \(memory\): main /);
    attendance.large(false);
    world.clock.advance(11_000);
    expect(told()).toEqual({ status: 'ready', reasons: [] });
    expect(service.statuses.at(-1)).toMatch(/^ready: main /);
  });
});
