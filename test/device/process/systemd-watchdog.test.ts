import { describe, expect, it } from 'vitest';
import { type Observed, observeDeps } from '../../../src/device/process/observed-deps.ts';
import { startWatchdog } from '../../../src/device/process/systemd-watchdog.ts';
import type { StatusMessage } from '../../../src/protocol/mqtt/device.ts';
import { createFakeDeps, testConfig } from '../fake-deps.ts';
import { createFakeInitSystem } from './fake-init-system.ts';

function attended(lane: Record<string, unknown> = {}) {
  let observed: Observed | undefined;
  const deps = createFakeDeps(testConfig(lane), {}, (outside) => {
    observed = observeDeps(outside);
    return observed.deps;
  });
  if (observed === undefined) throw new Error('no observer');
  const { agent, clock } = deps;
  const service = createFakeInitSystem();
  const { initSystem } = service;
  const watchdog = startWatchdog({ agent, observed, initSystem, clock, log: deps.deps.log });
  return { deps, watchdog, service };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const isReady = ({ told }: ReturnType<typeof createFakeInitSystem>): boolean =>
  told.some(({ ready }) => ready);

describe('readiness', () => {
  it('comes once the microphone delivers sound and the broker has answered, not before', async () => {
    const { deps, watchdog, service } = attended();
    await deps.agent.start();
    const started = watchdog.started();
    await settle();
    deps.brokerUp();
    await settle();
    expect(isReady(service)).toBe(false);
    deps.speak();
    await started;
    expect(service.told.at(-1)).toEqual({
      ready: true,
      status: 'ready: main acquiring, en to es; broker connected',
    });
  });

  it('comes without a network, too, and reports the missing network', async () => {
    const { deps, watchdog, service } = attended();
    await deps.agent.start();
    const started = watchdog.started();
    deps.speak();
    await settle();
    expect(isReady(service)).toBe(false);
    deps.bus.listener.down('unreachable', 'cannot reach mqtt://127.0.0.1:1: connection refused');
    await started;
    expect(service.statuses.at(-1)).toBe(
      'degraded (no_broker): main acquiring, en to es; no broker: cannot reach mqtt://127.0.0.1:1: connection refused',
    );
  });

  it('comes without a microphone, and when nothing answers at all', async () => {
    const faulty = attended();
    await faulty.deps.agent.start();
    faulty.deps.brokerUp();
    const started = faulty.watchdog.started();
    faulty.deps.microphoneFault({ code: 'not_found', message: 'there is none' });
    await started;
    expect(faulty.service.statuses.at(-1)).toContain('degraded (capture:lost)');

    const mute = attended();
    await mute.deps.agent.start();
    const limited = mute.watchdog.started();
    mute.deps.clock.advance(14_999);
    await settle();
    expect(isReady(mute.service)).toBe(false);
    mute.deps.clock.advance(1);
    await limited;
    expect(mute.service.statuses.at(-1)).toContain('broker not tried yet');
  });

  it('does not come once the agent is ending', async () => {
    const { deps, watchdog, service } = attended();
    await deps.agent.start();
    const started = watchdog.started();
    watchdog.stopping();
    deps.brokerUp();
    deps.speak();
    await started;
    expect(service.told).toEqual([{ stopping: true, status: 'stopping: ending the sessions' }]);
  });
});

describe('signs of life', () => {
  it('are sent three times per watchdog interval while sound arrives', async () => {
    const { deps, service } = attended();
    await deps.goLive();
    for (let chunk = 0; chunk < 200; chunk++) deps.speak();
    expect(service.signs).toBe(3);
  });

  it('are not sent while a microphone is open and delivers no sound', async () => {
    const { deps, service } = attended();
    await deps.goLive();
    for (let chunk = 0; chunk < 70; chunk++) deps.speak();
    expect(service.signs).toBe(1);
    // One more check may fall into the last of the sound.
    deps.clock.advance(20_000);
    const before = service.signs;
    deps.clock.advance(60_000);
    expect(service.signs).toBe(before);
    expect(deps.logged.filter(([level]) => level === 'error')).toEqual([
      ['error', expect.stringMatching(/^no sound arrives/), { lanes: ['main'], seconds: 20 }],
    ]);
    deps.speak();
    deps.clock.advance(20_000);
    expect(service.signs).toBe(before + 1);
  });

  it('continue without a device: a missing one does not mean that the agent hangs', async () => {
    const unplugged = attended();
    await unplugged.deps.goLive();
    unplugged.deps.microphoneFault({ code: 'lost', message: 'it went away' });
    unplugged.deps.clock.advance(60_000);
    expect(unplugged.service.signs).toBe(3);

    const missing = attended();
    missing.deps.failCapture(new Error('there is no such file'));
    await missing.deps.agent.start();
    missing.deps.brokerUp();
    await settle();
    // It is retried meanwhile, and each attempt has failed a moment later.
    for (let second = 0; second < 60; second++) {
      missing.deps.clock.advance(1000);
      await settle();
    }
    expect(missing.service.signs).toBe(3);
  });

  it('continue in a lane that waits for the command to start', async () => {
    const { deps, service } = attended({ start: 'command' });
    await deps.agent.start();
    deps.brokerUp();
    deps.clock.advance(60_000);
    expect(service.signs).toBe(3);
  });

  it('stop with the agent', async () => {
    const { deps, watchdog, service } = attended();
    await deps.agent.start();
    watchdog.stopping();
    deps.clock.advance(120_000);
    expect(service.signs).toBe(0);
  });
});

describe('the status line for people', () => {
  it('follows the lanes, and changes at most once a second', async () => {
    const { deps, watchdog, service } = attended();
    await deps.goLive();
    const started = watchdog.started();
    deps.speak();
    await started;
    const before = service.statuses.length;
    for (let turn = 0; turn < 100; turn++) {
      deps.bus.listener.down('unreachable', `cannot reach the broker: ${turn}`);
      deps.speak();
    }
    // 32 s of sound.
    expect(service.statuses.length - before).toBeGreaterThanOrEqual(24);
    expect(service.statuses.length - before).toBeLessThanOrEqual(33);
    expect(service.statuses.at(-1)).toMatch(/en to es; no broker: cannot reach the broker: \d+$/);
  });

  it('reports a fault within a second of readiness, and the recovery as soon, also without sound', async () => {
    const { deps, watchdog, service } = attended();
    await deps.goLive();
    const started = watchdog.started();
    deps.speak();
    await started;
    expect(service.statuses.at(-1)).toMatch(/^ready: /);
    deps.microphoneFault({ code: 'lost', message: 'it went away' });
    deps.clock.advance(1000);
    expect(service.statuses.at(-1)).toMatch(/^degraded \(capture:lost/);
    deps.bus.listener.down('unreachable', 'cannot reach the broker');
    deps.clock.advance(1000);
    expect(service.statuses.at(-1)).toMatch(/; no broker: cannot reach the broker$/);
    deps.brokerUp();
    deps.clock.advance(1000);
    expect(service.statuses.at(-1)).toMatch(/broker connected$/);
  });

  it("and the owner's status report too much memory, which is not a fault of a lane", async () => {
    const { deps, watchdog, service } = attended();
    await deps.goLive();
    const started = watchdog.started();
    deps.speak();
    await started;
    const told = (): unknown => {
      const message = deps.published.findLast(({ topic }) => topic.endsWith('/status'));
      const { status, reasons } = (message?.body ?? {}) as Partial<StatusMessage>;
      return { status, reasons };
    };
    expect(told()).toEqual({ status: 'ready', reasons: [] });
    watchdog.large(true);
    deps.clock.advance(11_000);
    expect(told()).toEqual({ status: 'degraded', reasons: ['memory'] });
    expect(service.statuses.at(-1)).toMatch(/^degraded \(memory\): main /);
    watchdog.large(false);
    deps.clock.advance(11_000);
    expect(told()).toEqual({ status: 'ready', reasons: [] });
    expect(service.statuses.at(-1)).toMatch(/^ready: main /);
  });
});
