import { describe, expect, it } from 'vitest';
import type { AgentWorld } from '../../../src/agent/agent.ts';
import { expectStreaming, explode, phaseOf, reject, stopped, throwing } from './tools.ts';

describe('a line to the owner that throws', () => {
  it('as it is opened is opened again', async () => {
    let tries = 0;
    const world = throwing((given) => ({
      ...given,
      openBus: (options, listener) => (++tries === 1 ? explode() : given.openBus(options, listener)),
    }));
    await world.agent.start();
    world.clock.advance(30_000);
    expect(tries).toBe(2);
    world.brokerUp();
    world.clock.advance(4000);
    expect(world.sent('token/req')).toHaveLength(1);
    expect(
      world.logged.some(([, sentence]) => /could not be begun \(TypeError\)/.test(String(sentence))),
    ).toBe(true);
  });

  it('at each message goes on, and what throws with each is logged once a minute', async () => {
    const world = throwing((given) => ({
      ...given,
      openBus: (options, listener) => ({
        ...given.openBus(options, listener),
        publish: explode,
        urgent: explode,
      }),
    }));
    await world.agent.start();
    world.brokerUp();
    for (let s = 0; s < 200; s++) world.clock.advance(1000);
    expect(new Set(world.defects)).toEqual(new Set(['bus.publish', 'bus.urgent']));
    const told = world.defects.filter((where) => where === 'bus.publish').length;
    expect(told).toBeGreaterThan(1);
    expect(told).toBeLessThan(5);
    expect(phaseOf(world)).toBe('acquiring');
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
    ['never settles', () => new Promise<never>(() => {})],
  ])('%s as it is closed does not keep the agent from ending', async (_how, close) => {
    const world = throwing((given) => ({
      ...given,
      openBus: (options, listener) => ({ ...given.openBus(options, listener), close }),
    }));
    await world.goLive();
    await stopped(world);
  });
});

describe('what throws elsewhere', () => {
  it('a log costs lines, never the program', async () => {
    const log = { trace: explode, debug: explode, info: explode, warn: explode, error: explode };
    const world = throwing((given) => ({ ...given, log }));
    await world.goLive();
    expectStreaming(world);
    await stopped(world);
  });

  it('a watcher does not keep the others from watching', async () => {
    const world = throwing((given) => given);
    let steps = 0;
    world.agent.watch(explode);
    world.agent.watch(() => void steps++);
    await world.goLive();
    expectStreaming(world);
    expect(steps).toBeGreaterThan(5);
    expect(world.defects).toContain('watcher');
  });

  it("the machine's parts fail the command that asked, with an answer", async () => {
    const machine = new Proxy({}, { get: () => explode }) as NonNullable<AgentWorld['machine']>;
    const world = throwing((given) => ({ ...given, machine }));
    await world.goLive();
    world.command('diagnose', { id: 'd1', args: { only: ['clock'] } });
    await world.clock.elapse(60_000);
    expect(world.answers('diagnose').at(-1)).toMatchObject({ id: 'd1' });
    expect(world.answers('diagnose').at(-1)?.['status']).not.toBe('accepted');
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('a file for what outlives the program that %s costs what it would hold', async (_how, write) => {
    const world = throwing((given) => ({ ...given, commandFile: { read: explode, write } }));
    await world.goLive();
    world.command('mute', { id: 'm1' });
    await world.clock.elapse(3000);
    expect(world.answers('mute').at(-1)).toMatchObject({ id: 'm1', status: 'ok' });
    expect(new Set(world.defects)).toEqual(new Set(['state file.read', 'state file.write']));
    await stopped(world);
  });

  it('a random number that cannot be drawn for an address fails the try, and the next one works', async () => {
    let isBroken = false;
    const world = throwing((given) => ({
      ...given,
      randomHash: () => (isBroken ? explode() : given.randomHash()),
    }));
    await world.agent.start();
    world.brokerUp();
    isBroken = true;
    world.grant();
    expect(['waiting', 'restarting']).toContain(phaseOf(world));
    isBroken = false;
    for (let s = 0; s < 60 && phaseOf(world) !== 'acquiring'; s++) world.clock.advance(1000);
    world.grant();
    expect(world.streams).toHaveLength(1);
  });
});
