import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../../src/agent/deps.ts';
import { expectStreaming, explode, phaseOf, reject, stopped, throwing } from './tools.ts';

describe('a connection to the owner that throws', () => {
  it('as it is opened is opened again', async () => {
    let tries = 0;
    const deps = throwing((given) => ({
      ...given,
      openBus: (options, listener) => (++tries === 1 ? explode() : given.openBus(options, listener)),
    }));
    await deps.agent.start();
    deps.clock.advance(30_000);
    expect(tries).toBe(2);
    deps.brokerUp();
    deps.clock.advance(4000);
    expect(deps.sent('token/req')).toHaveLength(1);
    expect(
      deps.logged.some(([, sentence]) => /could not be begun \(TypeError\)/.test(String(sentence))),
    ).toBe(true);
  });

  it('at each message goes on, and what throws with each is logged once a minute', async () => {
    const deps = throwing((given) => ({
      ...given,
      openBus: (options, listener) => ({
        ...given.openBus(options, listener),
        publish: explode,
        urgent: explode,
      }),
    }));
    await deps.agent.start();
    deps.brokerUp();
    for (let s = 0; s < 200; s++) deps.clock.advance(1000);
    expect(new Set(deps.defects)).toEqual(new Set(['bus.publish', 'bus.urgent']));
    const told = deps.defects.filter((where) => where === 'bus.publish').length;
    expect(told).toBeGreaterThan(1);
    expect(told).toBeLessThan(5);
    expect(phaseOf(deps)).toBe('acquiring');
  });

  it('at one message costs none that the owner must hear, nor their order', async () => {
    let throws = 0;
    const told: string[] = [];
    const deps = throwing((given) => ({
      ...given,
      openBus: (options, listener) => {
        const bus = given.openBus(options, listener);
        const publish: typeof bus.publish = (topic, payload, more) => {
          if (throws-- > 0) explode();
          if (/event|status/.test(topic)) told.push(topic.replace(/.*kiosk-01./, ''));
          bus.publish(topic, payload, more);
        };
        return { ...bus, publish };
      },
    }));
    await deps.goLive();
    told.length = 0;
    throws = 2;
    deps.lastStream().listener.ended(1006, '');
    expect(told).toEqual([]);
    expect(deps.agent.lanes[0]?.phase).toBe('waiting');
    deps.clock.advance(2000);
    expect(told[0]).toBe('event/session_ended');
    expect(told.filter((topic) => topic === 'event/session_ended')).toHaveLength(1);
  });

  it('at each try of one message gives that one up, and goes on with those behind it', async () => {
    const told: string[] = [];
    const deps = throwing((given) => ({
      ...given,
      openBus: (options, listener) => {
        const bus = given.openBus(options, listener);
        const publish: typeof bus.publish = (topic, payload, more) => {
          if (topic.endsWith('event/session_ended')) explode();
          told.push(topic.replace(/.*kiosk-01./, ''));
          bus.publish(topic, payload, more);
        };
        return { ...bus, publish };
      },
    }));
    await deps.goLive();
    told.length = 0;
    deps.lastStream().listener.message({ message_type: 'session_revoked', data: {} });
    expect(told).not.toContain('event/revoked');
    for (let s = 0; s < 5; s++) deps.clock.advance(1000);
    expect(told).toContain('event/revoked');
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
    ['never settles', () => new Promise<never>(() => {})],
  ])('%s as it is closed does not keep the agent from ending', async (_how, close) => {
    const deps = throwing((given) => ({
      ...given,
      openBus: (options, listener) => ({ ...given.openBus(options, listener), close }),
    }));
    await deps.goLive();
    await stopped(deps);
  });
});

describe('what throws elsewhere', () => {
  it('a log costs lines, never the program', async () => {
    const log = { trace: explode, debug: explode, info: explode, warn: explode, error: explode };
    const deps = throwing((given) => ({ ...given, log }));
    await deps.goLive();
    expectStreaming(deps);
    await stopped(deps);
  });

  it('a watcher does not keep the others from watching', async () => {
    const deps = throwing((given) => given);
    let steps = 0;
    deps.agent.watch(explode);
    deps.agent.watch(() => void steps++);
    await deps.goLive();
    expectStreaming(deps);
    expect(steps).toBeGreaterThan(5);
    expect(deps.defects).toContain('watcher');
  });

  it("the machine's parts fail the command that asked, with an answer", async () => {
    const machine = new Proxy({}, { get: () => explode }) as NonNullable<AgentDeps['machine']>;
    const deps = throwing((given) => ({ ...given, machine }));
    await deps.goLive();
    deps.command('diagnose', { id: 'd1', args: { only: ['clock'] } });
    await deps.clock.elapse(60_000);
    expect(deps.answers('diagnose').at(-1)).toMatchObject({ id: 'd1' });
    expect(deps.answers('diagnose').at(-1)?.['status']).not.toBe('accepted');
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('a file for what outlives the program that %s costs what it would hold', async (_how, write) => {
    const deps = throwing((given) => ({ ...given, commandFile: { read: explode, write } }));
    await deps.goLive();
    deps.command('mute', { id: 'm1' });
    await deps.clock.elapse(3000);
    expect(deps.answers('mute').at(-1)).toMatchObject({ id: 'm1', status: 'ok' });
    expect(new Set(deps.defects)).toEqual(new Set(['state file.read', 'state file.write']));
    await stopped(deps);
  });

  it('a random number that cannot be drawn for an address fails the try, and the next one works', async () => {
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
