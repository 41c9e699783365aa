import { describe, expect, it } from 'vitest';
import { closed, translated, understood } from '../service-events.ts';
import { BASE, createFakeDeps, testConfig } from './fake-deps.ts';

type Fake = ReturnType<typeof createFakeDeps>;
const lastStatus = (deps: Fake) => deps.sent('status').at(-1)?.body;

describe('the published status', () => {
  it('is idle when the lane waits for the command or is muted', async () => {
    const deps = createFakeDeps(testConfig({ start: 'command' }));
    await deps.agent.start();
    deps.brokerUp();
    expect(lastStatus(deps)).toMatchObject({ status: 'idle', reasons: ['stopped'] });
    deps.command('start', { id: 'c1' });
    expect(lastStatus(deps)).toMatchObject({ status: 'ready', reasons: [] });
    deps.command('mute', { id: 'c2' });
    expect(lastStatus(deps)).toMatchObject({ status: 'idle', reasons: ['muted'] });
    deps.command('unmute', { id: 'c3' });
    expect(lastStatus(deps)).toMatchObject({ status: 'ready', reasons: [] });
  });

  it('becomes degraded after a time without any event, and not earlier', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.grant();
    deps.lastStream().listener.opened();
    await deps.clock.elapse(19_900);
    expect(deps.sent('status')).toHaveLength(1);
    await deps.clock.elapse(200);
    expect(lastStatus(deps)).toMatchObject({ status: 'degraded' });
  });

  it('is published again when the broker refused it, like the state', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const acknowledge = deps.withholdAcknowledgements();
    deps.command('stop', { id: 'c1' });
    await deps.clock.elapse(2000);
    acknowledge(false);
    const before = { status: deps.sent('status').length, state: deps.sent('state').length };
    await deps.clock.elapse(297_000);
    expect(deps.sent('status')).toHaveLength(before.status);
    await deps.clock.elapse(4000);
    expect(deps.sent('status')).toHaveLength(before.status + 1);
    expect(lastStatus(deps)).toMatchObject({ status: 'idle', reasons: ['stopped'] });
    expect(deps.sent('state').length).toBeGreaterThan(before.state);
    acknowledge(true);
    await deps.clock.elapse(900_000);
    expect(deps.sent('status')).toHaveLength(before.status + 1);
  });

  it('is published again with the state, unchanged, when an operator asks for it', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    await deps.clock.elapse(5000);
    const before = { status: deps.sent('status'), state: deps.sent('state').length };
    deps.command('status', { id: 'c1' });
    await deps.clock.elapse(1000);
    expect(deps.sent('status')).toHaveLength(before.status.length + 1);
    const { ts: _, ...last } = lastStatus(deps) ?? {};
    expect(before.status.at(-1)?.body).toMatchObject(last);
    expect(deps.sent('status').at(-1)?.options).toMatchObject({ retain: true });
    expect(deps.sent('state').length).toBe(before.state + 1);
  });

  it('is not published again after the last status', async () => {
    const deps = createFakeDeps(testConfig({ start: 'command' }));
    await deps.agent.start();
    deps.brokerUp();
    const acknowledge = deps.withholdAcknowledgements();
    await deps.agent.stop();
    const { length } = deps.sent('status');
    acknowledge(false);
    await deps.clock.elapse(600_000);
    expect(deps.sent('status')).toHaveLength(length);
  });

  it('reports a language that is not spoken', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const hear = (chunks: number, amplitude: number): void => {
      for (let i = 0; i < chunks; i++) {
        deps.speak(amplitude);
        deps.lastStream().listener.pong();
      }
    };
    for (let sentence = 0; sentence < 8; sentence++) {
      const said = { id: `s${sentence}`, text: 'a sentence of some length, to be said' };
      hear(10, 8000);
      hear(30, 0);
      deps.service(understood(said));
      deps.service(translated(said));
    }
    hear(100, 0);
    expect(lastStatus(deps)).toMatchObject({ status: 'degraded', reasons: ['unspoken:es'] });
  });

  it('improves only once it is stable, for a device that fails repeatedly', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const before = deps.sent('status').length;
    for (let i = 0; i < 30; i++) {
      deps.microphoneFault({ code: 'lost', message: 'unplugged' });
      for (let chunk = 0; chunk < 4; chunk++) {
        await deps.clock.elapse(320);
        deps.speak(300, 1);
        deps.lastStream().listener.pong();
      }
    }
    // Each failure would be two changes.
    expect(deps.sent('status').length - before).toBeLessThanOrEqual(12);
    for (let i = 0; i < 60 && lastStatus(deps)?.['status'] !== 'ready'; i++) {
      deps.speak(300);
      deps.lastStream().listener.pong();
    }
    expect(lastStatus(deps)).toMatchObject({ status: 'ready', reasons: [] });
    const steady = deps.sent('status').length;
    deps.microphoneFault({ code: 'lost', message: 'unplugged' });
    expect(lastStatus(deps)).toMatchObject({ status: 'degraded', reasons: ['capture:lost'] });
    expect(deps.sent('status')).toHaveLength(steady + 1);
  });

  it('names the lane only if there are several', async () => {
    const lane = (id: string) => ({ ...testConfig().lanes[0], id });
    const deps = createFakeDeps(testConfig({}, { lanes: [lane('left'), lane('right')] }));
    await deps.agent.start();
    deps.brokerUp();
    deps.command('stop', { id: 's', args: { lane: 'left' } });
    expect(lastStatus(deps)).toMatchObject({ status: 'idle', reasons: ['stopped:left'] });
  });
});

/** An agent with `start: command`, whose bus refuses `topic` until it is allowed. */
async function createForbidden(topic: 'state' | 'status') {
  let isForbidden = true;
  const tries: number[] = [];
  const deps = createFakeDeps(testConfig({ start: 'command' }), {}, (given) => ({
    ...given,
    openBus: (options, listener) => {
      const bus = given.openBus(options, listener);
      return {
        ...bus,
        publish(to, payload, more = {}) {
          if (to === `${BASE}/${topic}`) tries.push(given.clock.now());
          if (to !== `${BASE}/${topic}` || !isForbidden) return bus.publish(to, payload, more);
          queueMicrotask(() => {
            listener.lost?.({ topic: to, why: 'refused', reason: 'not authorized' });
            more.ended?.(false);
          });
        },
      };
    },
  }));
  await deps.agent.start();
  deps.brokerUp();
  const allow = (): void => {
    isForbidden = false;
  };
  return { deps, tries, allow };
}

describe.each(['state', 'status'] as const)('the %s that the broker refuses', (topic) => {
  it('is retried after five minutes, and causes no reconnection before', async () => {
    const { deps, tries } = await createForbidden(topic);
    await deps.clock.elapse(10_000);
    const { length } = tries;
    expect(length).toBeLessThanOrEqual(3);
    await deps.clock.elapse(280_000);
    expect(tries).toHaveLength(length);
    await deps.clock.elapse(320_000);
    expect(tries).toHaveLength(length + 2);
  });

  it('is published five minutes after the broker disconnected because of it, however often it changed meanwhile', async () => {
    const { deps, tries, allow } = await createForbidden(topic);
    await deps.clock.elapse(100_000);
    deps.bus.listener.down('unreachable', 'it was closed for that');
    deps.brokerUp(2);
    // The bus does not publish it, even if the broker's rules are already corrected.
    for (let change = 0; change < 10; change += 1) {
      deps.command(change % 2 === 0 ? 'start' : 'stop', { id: `c${change}` });
      await deps.clock.elapse(29_900);
    }
    const { length } = tries;
    allow();
    await deps.clock.elapse(2000);
    expect(tries).toHaveLength(length + 1);
    expect(deps.sent(topic)).toHaveLength(1);
  });
});

describe('speech that exceeds the room of an outage', () => {
  it('is reported at its end in an event with times, meanwhile in the state, and in the log', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    deps.lastStream().listener.said(closed());
    const from = deps.clock.wall() ?? 0;
    for (let i = 0; i < 140; i++) deps.speak();
    expect(deps.sent('event/speech_lost')).toHaveLength(0);
    expect(lastStatus(deps)).toMatchObject({
      status: 'degraded',
      reasons: expect.arrayContaining(['speech_lost:no_backend']),
    });
    const lanes = deps.sent('state').at(-1)?.body['lanes'] as { speech_lost_ms: number }[];
    expect(lanes[0]?.speech_lost_ms).toBeGreaterThan(9000);
    expect(deps.logged.filter(([, sentence]) => String(sentence).includes('is being lost'))).toHaveLength(1);
    deps.command('stop', { id: 's' });
    const [event] = deps.sent('event/speech_lost');
    expect(event?.body).toMatchObject({ lane: 'main', cause: 'no_backend', lost_ms: expect.any(Number) });
    const {
      from: lostFrom,
      to,
      lost_ms,
    } = (event?.body ?? {}) as {
      from: string;
      to: string;
      lost_ms: number;
    };
    expect(Math.abs(Date.parse(lostFrom) - from)).toBeLessThan(1000);
    expect(Date.parse(to) - Date.parse(lostFrom)).toBeCloseTo(lost_ms, -2);
    expect(lost_ms).toBeGreaterThan(10_000);
  });
});
