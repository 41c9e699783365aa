import { describe, expect, it } from 'vitest';
import { createFakeWorld, testConfig } from './fake-world.ts';

type World = ReturnType<typeof createFakeWorld>;
const lastStatus = (world: World) => world.sent('status').at(-1)?.body;

describe('the published status', () => {
  it('is idle where the lane waits for the command, and while it is muted', async () => {
    const world = createFakeWorld(testConfig({ start: 'command' }));
    await world.agent.start();
    world.brokerUp();
    expect(lastStatus(world)).toMatchObject({ status: 'idle', reasons: ['stopped'] });
    world.command('start', { id: 'c1' });
    expect(lastStatus(world)).toMatchObject({ status: 'ready', reasons: [] });
    world.command('mute', { id: 'c2' });
    expect(lastStatus(world)).toMatchObject({ status: 'idle', reasons: ['muted'] });
    world.command('unmute', { id: 'c3' });
    expect(lastStatus(world)).toMatchObject({ status: 'ready', reasons: [] });
  });

  it('becomes degraded by the passing of time alone, and never before', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.grant();
    world.lastStream().listener.opened();
    world.clock.advance(19_900);
    expect(world.sent('status')).toHaveLength(1);
    world.clock.advance(200);
    expect(lastStatus(world)).toMatchObject({ status: 'degraded' });
  });

  it('names no lane of one, and the lane of several', async () => {
    const lane = (id: string) => ({ ...testConfig().lanes[0], id });
    const world = createFakeWorld(testConfig({}, { lanes: [lane('left'), lane('right')] }));
    await world.agent.start();
    world.brokerUp();
    world.command('stop', { id: 's', args: { lane: 'left' } });
    expect(lastStatus(world)).toMatchObject({ status: 'idle', reasons: ['stopped:left'] });
  });
});

describe('speech that an outage leaves no room for', () => {
  it('is told at its end with times, in the state while it happens, and in the log', async () => {
    const world = createFakeWorld();
    await world.goLive();
    world.lastStream().listener.ended(1006, '');
    const from = world.clock.wall() ?? 0;
    for (let i = 0; i < 140; i++) world.speak();
    expect(world.sent('event/speech_lost')).toHaveLength(0);
    expect(lastStatus(world)).toMatchObject({
      status: 'degraded',
      reasons: expect.arrayContaining(['speech_lost:no_backend']),
    });
    const lanes = world.sent('state').at(-1)?.body['lanes'] as { speech_lost_ms: number }[];
    expect(lanes[0]?.speech_lost_ms).toBeGreaterThan(9000);
    expect(world.logged.filter(([, sentence]) => String(sentence).includes('is being lost'))).toHaveLength(1);
    world.command('stop', { id: 's' });
    const [event] = world.sent('event/speech_lost');
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
