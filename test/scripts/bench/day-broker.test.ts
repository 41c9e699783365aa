import { describe, expect, it } from 'vitest';
import { AWAY, createDayBroker } from '../../../scripts/bench/day-broker.ts';
import { createSimClock } from '../../sim/sim-clock.ts';

describe("the simulated day's broker", () => {
  // The agent keeps an answer until it is acknowledged: a broker that never does looks like a leak.
  it('acknowledges every message when it is away from time to time', async () => {
    const clock = createSimClock(0);
    const connections: number[] = [];
    const received: string[] = [];
    const broker = createDayBroker(clock, (_topic, payload) => received.push(payload));
    const listener = {
      up: (connection: number) => connections.push(connection),
      down: () => {},
      message: () => {},
    };
    const bus = broker.openBus({ subscriptions: [], will: null }, listener);
    const published: string[] = [];
    const acknowledged: string[] = [];
    for (let second = 1; second <= 15_000; second += 1) {
      await clock.run(second * 1000);
      const payload = `${second}`;
      published.push(payload);
      bus.publish('answer', payload, { ended: (isDelivered) => isDelivered && acknowledged.push(payload) });
    }
    await clock.run(15_001_000);
    expect(connections).toEqual([1, 2, 3]);
    expect(received).toEqual(published);
    expect(acknowledged).toEqual(published);
  });

  it('holds messages in both directions while it is away', async () => {
    const clock = createSimClock(0);
    const received: string[] = [];
    const told: string[] = [];
    const broker = createDayBroker(clock, (_topic, payload) => received.push(payload));
    const listener = {
      up: () => {},
      down: () => {},
      message: ({ payload }: { payload: string }) => told.push(payload),
    };
    const bus = broker.openBus({ subscriptions: [], will: null }, listener);
    await clock.run(AWAY.everyMs + 1000);
    bus.publish('answer', 'up');
    broker.send('command', 'down');
    expect(bus.connected).toBe(false);
    await clock.run(AWAY.everyMs + 2000);
    expect([received, told]).toEqual([[], []]);
    await clock.run(AWAY.everyMs + AWAY.forMs + 1000);
    expect([received, told]).toEqual([['up'], ['down']]);
  });
});
