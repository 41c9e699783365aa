import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../../src/device/deps/deps.ts';
import { expectStreaming, expectTold, explode, phaseOf, stopped, throwing, withBus } from './tools.ts';

describe('a connection to the owner', () => {
  it('does not block the end of the agent when it never closes', async () => {
    const close = () => new Promise<never>(() => {});
    const deps = throwing(withBus(() => ({ close })));
    await deps.goLive();
    await stopped(deps);
  });
});

describe('an exception elsewhere', () => {
  it('in one watcher does not affect the other watchers', async () => {
    const deps = throwing((given) => given);
    let steps = 0;
    deps.agent.watch(explode);
    deps.agent.watch(() => void steps++);
    await deps.goLive();
    expectStreaming(deps);
    expect(steps).toBeGreaterThan(5);
    expect(deps.defects).toContain('watcher');
    expectTold(deps);
  });

  it('in a watcher at each step is reported at once, and then once a minute with a count', async () => {
    const deps = throwing((given) => given);
    await deps.goLive();
    deps.agent.watch(explode);
    for (let chunk = 0; chunk < 350; chunk++) deps.speak();
    const reports = deps.sent('event/defect').map(({ body }) => body);
    expect(reports).toMatchObject([{ where: 'watcher' }, { where: 'watcher' }]);
    expect(reports[0]).not.toHaveProperty('repeated');
    expect(reports[1]?.['repeated']).toBeGreaterThan(100);
    expectTold(deps);
    await stopped(deps);
    expect(deps.sent('event/defect').at(-1)?.body['repeated']).toBeGreaterThan(50);
  });

  it("in the machine's parts makes the command fail, with an answer", async () => {
    const machine = new Proxy({}, { get: () => explode }) as NonNullable<AgentDeps['machine']>;
    const deps = throwing((given) => ({ ...given, machine }));
    await deps.goLive();
    deps.command('diagnose', { id: 'd1', args: { only: ['clock'] } });
    await deps.clock.elapse(60_000);
    expect(deps.answers('diagnose').at(-1)).toMatchObject({ id: 'd1' });
    expect(deps.answers('diagnose').at(-1)?.['status']).not.toBe('accepted');
  });

  it('in one feature does not keep the others from the connection, nor from the end', async () => {
    const brokers = new Proxy({}, { get: explode }) as NonNullable<AgentDeps['brokers']>;
    // The log stream throws when it is closed.
    const tapLog = () => explode;
    const deps = throwing((given) => ({ ...given, brokers, tapLog }));
    await deps.goLive();
    deps.bus.listener.down('refused', 'not authorized');
    deps.brokerUp(2);
    expect(deps.defects).toContain('broker upkeep');
    for (const topic of ['status', 'state', 'config/reported', 'health'])
      expect(deps.sent(topic)).not.toEqual([]);
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ status: 'ready', conn_seq: 2 });
    expectStreaming(deps);
    deps.command('log_stream', { id: 'l', args: { minutes: 5, level: 'info' } });
    expect(deps.answers('log_stream')).toMatchObject([{ status: 'ok' }]);
    await stopped(deps);
    expect(deps.defects).toContain('operator');
    expect(deps.finale).toMatchObject({ payload: expect.stringContaining('"status":"offline"') });
    expectTold(deps);
  });

  it('in the random number of an address makes the attempt fail, and the next one works', async () => {
    let isBroken = false;
    const deps = throwing((given) => ({
      ...given,
      randomHash: () => (isBroken ? explode() : given.randomHash()),
    }));
    await deps.agent.start();
    deps.brokerUp();
    isBroken = true;
    deps.grant();
    expect(['waiting', 'restarting']).toContain(phaseOf(deps));
    isBroken = false;
    for (let s = 0; s < 60 && phaseOf(deps) !== 'acquiring'; s++) deps.clock.advance(1000);
    deps.grant();
    expect(deps.streams).toHaveLength(1);
  });
});
