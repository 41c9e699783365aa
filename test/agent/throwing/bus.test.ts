import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../../src/agent/deps.ts';
import { BASE } from '../fake-deps.ts';
import {
  expectStreaming,
  expectTold,
  explode,
  phaseOf,
  reject,
  stopped,
  throwing,
  withBus,
} from './tools.ts';

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
    expectTold(deps);
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
          if (/event|status/.test(topic) && !topic.endsWith('/defect'))
            told.push(topic.replace(/.*kiosk-01./, ''));
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
    expectTold(deps);
    // The second throw was at the telling of the first: it counts as well, once it can be told.
    deps.clock.advance(70_000);
    expect(deps.sent('event/defect').map(({ body }) => body['repeated'])).toEqual([undefined, 1]);
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
    expectTold(deps);
  });

  it('at each message for minutes tells of it as soon as it takes one again, with how often', async () => {
    let isBroken = false;
    let thrown = 0;
    const deps = throwing(
      withBus((bus) => ({
        publish: (...message) => {
          if (!isBroken) return bus.publish(...message);
          thrown += 1;
          explode();
        },
      })),
    );
    await deps.goLive();
    isBroken = true;
    for (let s = 0; s < 150; s++) deps.clock.advance(1000);
    expect(deps.sent('event/defect')).toEqual([]);
    isBroken = false;
    for (let s = 0; s < 65; s++) deps.clock.advance(1000);
    expectTold(deps);
    const told = deps.sent('event/defect').map(({ body }) => Number(body['repeated'] ?? 1));
    expect(told.length).toBeLessThan(4);
    expect(Math.max(...told)).toBeGreaterThan(1);
    expect(thrown).toBeGreaterThan(10);
  });

  it('in a call that comes fifty times a second is told once, and once a minute with how often', async () => {
    const deps = throwing(withBus(() => ({ urgent: explode })));
    await deps.goLive();
    const before = deps.published.length;
    for (let tick = 0; tick < 50 * 110; tick++) {
      deps.agent.hasten();
      deps.clock.advance(20);
    }
    const told = deps.sent('event/defect').map(({ body }) => body);
    expect(told).toMatchObject([{ where: 'bus.urgent' }, { where: 'bus.urgent' }]);
    expect(told[0]).not.toHaveProperty('repeated');
    expect(told[1]?.['repeated']).toBeGreaterThan(2900);
    // With the health of the device and what the loss of its stream brings.
    expect(deps.published.length - before).toBeLessThan(60);
    expectTold(deps);
    await stopped(deps);
    expect(deps.sent('event/defect').at(-1)?.body['repeated']).toBeGreaterThan(2000);
  });

  const withGetter = (name: string): object =>
    Object.defineProperty({}, name, { get: explode, enumerable: true });
  it.each(['connected', 'outbox'])('in %s goes on', async (part) => {
    const deps = throwing(withBus(() => withGetter(part)));
    await deps.goLive();
    for (let s = 0; s < 61; s++) deps.clock.advance(1000);
    expect(deps.defects).toContain(`bus.${part}`);
    expectTold(deps);
    // One that cannot say whether it is connected is taken for not connected.
    expect(deps.sent('health')).toHaveLength(part === 'connected' ? 0 : 2);
    expect(deps.sent('state').at(-1)?.body['outbox']).toEqual({ depth: 0, dropped: 0 });
    expect(deps.sent('status').at(-1)?.body['conn_seq']).toBe(1);
    await stopped(deps);
  });

  it('when it is told that another one uses its name goes on', async () => {
    const deps = throwing(withBus(() => ({ disputed: explode })));
    await deps.goLive();
    deps.bus.listener.down('unreachable', 'it closed the connection');
    deps.brokerUp(2);
    deps.deliver(`${BASE}/status`, { status: 'ready', boot_id: 'other', conn_seq: 1 }, { retain: true });
    expect(deps.defects).toEqual(['bus.disputed']);
    expectTold(deps);
    expect(deps.sent('event/identity_conflict')).toHaveLength(1);
    expectStreaming(deps);
  });

  const [OLD, NEW] = ['mqtts://old.example:8883', 'mqtts://new.example:8883'];
  const changing = (given: AgentDeps): AgentDeps => ({
    ...given,
    brokers: {
      ...{ configured: NEW, previous: OLD, unreadable: [] },
      ...{ use() {}, change: () => true, settle: async () => null },
    },
  });

  it('as another broker is tried tries it again, and goes on', async () => {
    let tries = 0;
    const attempt = () => {
      tries += 1;
      return explode();
    };
    const deps = throwing((given) => changing(withBus(() => ({ attempt }))(given)));
    await deps.goLive();
    deps.agent.apply(deps.config);
    expect(deps.defects).toEqual(['bus.attempt']);
    expectTold(deps);
    expectStreaming(deps);
    for (let s = 0; s < 900; s++) deps.clock.advance(1000);
    expect(tries).toBeGreaterThan(1);
  });

  it('as it is to go elsewhere goes on, and the old broker is told as used', async () => {
    const deps = throwing((given) => changing(withBus(() => ({ reconnect: explode }))(given)));
    await deps.agent.start();
    deps.bus.listener.down('unreachable', 'nothing listens there');
    for (let s = 0; s < 600; s++) deps.clock.advance(1000);
    expect(deps.defects).toEqual(['bus.reconnect']);
    expectTold(deps);
    expect(deps.sent('event/broker_returned')).toHaveLength(1);
    deps.brokerUp();
    expect(String(deps.sent('status').at(-1)?.body['reasons'])).toMatch(/broker:new\.example/);
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
    expect(deps.sent('event/defect')).toMatchObject([{ body: { where: 'log' } }]);
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
    expectTold(deps);
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
    const deps = throwing((given) => ({
      ...given,
      commandFile: { name: 'state/commands.json', read: explode, write },
    }));
    await deps.goLive();
    deps.command('mute', { id: 'm1' });
    await deps.clock.elapse(3000);
    expect(deps.answers('mute').at(-1)).toMatchObject({ id: 'm1', status: 'ok' });
    expect(new Set(deps.defects)).toEqual(new Set(['state file.read', 'state file.write']));
    expectTold(deps);
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
