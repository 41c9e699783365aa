import { describe, expect, it } from 'vitest';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { createFakeWorld } from './fake-world.ts';

type FakeWorld = ReturnType<typeof createFakeWorld>;

function reported(world: FakeWorld) {
  world.clock.advance(1500);
  return stateSchema.parse(world.sent('state').at(-1)?.body).lanes[0];
}

describe('the next try', () => {
  it('stands in the state while it is waited for, and the host that could not be reached', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.grant();
    world.lastStream().listener.refused({
      status: 403,
      errorCode: 100_050,
      texts: ['Insufficient balance'],
      detail: 'Insufficient balance: top up',
      retryAfterMs: null,
    });
    const parked = reported(world);
    const waitMs = Date.parse(parked?.next_try_at ?? '') - (world.clock.wall() ?? 0);
    expect(waitMs).toBeGreaterThan(230_000);
    expect(waitMs).toBeLessThan(600_000);
    const message = 'the service refused the stream with HTTP 403: 100050 Insufficient balance: top up';
    expect(parked?.last_error).toMatchObject({ code: 'insufficient_balance', message });
    expect(world.sent('event/refused')[0]?.body).toMatchObject({ message, error_code: 100_050 });

    world.command('start', { id: 'c1' });
    world.grant();
    world.lastStream().listener.unreached(false, 'the service does not accept connections');
    expect(reported(world)?.last_error?.message).toBe(
      'cannot reach service.example: the service does not accept connections',
    );
  });
});

describe('the line to the owner', () => {
  it('is needed at once while somebody speaks, and not for long after that', async () => {
    const world = createFakeWorld();
    await world.goLive();
    for (let i = 0; i < 40; i++) world.speak(20);
    expect(world.urgent).toBe(false);
    world.speak();
    world.speak();
    expect(world.urgent).toBe(true);
    for (let i = 0; i < 40; i++) world.speak(20);
    expect(world.urgent).toBe(false);
  });
});
