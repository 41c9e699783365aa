/** The contract of the port `Bus`, tested with any broker. */
import { connectAsync } from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchStalls } from '../../stalls.ts';
import { until } from '../../until.ts';
import { type Relay, startRelay } from './loopback-servers.ts';
import { createTestBuses } from './test-buses.ts';

export interface BrokerUnderTest {
  readonly port: number;
  close(): Promise<void>;
}

export function describeBus(name: string, protocol: 4 | 5, start: () => Promise<BrokerUnderTest>): void {
  describe(`bus over ${name}`, () => {
    let broker: BrokerUnderTest;
    let relay: Relay;
    const buses = createTestBuses();
    const direct = () => `mqtt://127.0.0.1:${broker.port}`;
    const relayed = () => `mqtt://127.0.0.1:${relay.port}`;
    /** Another client that receives everything below `t/`. */
    const openWitness = async () => {
      const witness = buses.open({ url: direct(), clientId: 'witness' }, { subscriptions: ['t/#'] });
      await until(() => witness.ups.length > 0, 'the witness');
      return witness;
    };

    beforeEach(async () => {
      broker = await start();
      relay = await startRelay(broker.port);
    });
    afterEach(async () => {
      await buses.closeAll();
      await relay.close();
      await broker.close();
    });

    it('comes up with every subscription in place, and carries text both ways', async () => {
      const witness = await openWitness();
      const device = buses.open({ url: relayed() }, { subscriptions: ['d/a', 'd/b/+'] });
      await until(() => device.ups.length > 0, 'up');
      expect(device.ups).toEqual([{ connection: 1, protocol }]);
      expect(device.bus.connected).toBe(true);
      witness.bus.publish('d/b/1', '{"text":"größer ¿sí?"}');
      device.bus.publish('t/1', 'one');
      device.bus.publish('t/2', 'two', { qos: 0 });
      await until(() => device.messages.length > 0 && witness.messages.length > 1, 'the messages');
      expect(device.messages[0]).toMatchObject({
        topic: 'd/b/1',
        payload: '{"text":"größer ¿sí?"}',
        retain: false,
      });
      expect(witness.messages.map((message) => message.payload).sort()).toEqual(['one', 'two']);
      await until(() => device.bus.outbox.inFlight === 0, 'the acknowledgement');
      expect(device.bus.outbox).toEqual({ waiting: 0, inFlight: 0, depth: 0, dropped: 0, expired: 0 });
    });

    it('still receives messages after 40 that are too large to be read', async () => {
      const device = buses.open({ url: relayed() }, { subscriptions: ['d/#'] });
      await until(() => device.ups.length > 0, 'up');
      const sender = await connectAsync(direct(), { protocolVersion: protocol });
      try {
        for (let index = 0; index < 40; index += 1) {
          await sender.publishAsync('d/large', 'x'.repeat(300_000), { qos: 1 });
        }
        await sender.publishAsync('d/small', 'hello', { qos: 1 });
        await until(() => device.messages.length > 0, 'the small message');
      } finally {
        await sender.endAsync();
      }
      expect(device.order).toEqual(['up 1', 'message d/small']);
      expect(device.oversized).toEqual(Array(40).fill({ topic: 'd/large', bytes: 300_000 }));
    });

    it('drops what is larger than its limit, by the byte, and receives the rest', async () => {
      const device = buses.open({ url: relayed() }, { subscriptions: ['d/#'], largestBytes: 100 });
      await until(() => device.ups.length > 0, 'up');
      const sender = await connectAsync(direct(), { protocolVersion: protocol });
      try {
        for (const qos of [0, 1] as const) {
          await sender.publishAsync('d/large', 'x'.repeat(101), { qos });
          await sender.publishAsync('d/small', 'x'.repeat(100), { qos });
        }
        await until(() => device.messages.length === 2, 'the small messages');
      } finally {
        await sender.endAsync();
      }
      expect(device.messages.map(({ topic }) => topic)).toEqual(['d/small', 'd/small']);
      expect(device.oversized).toEqual(Array(2).fill({ topic: 'd/large', bytes: 101 }));
    });

    it('reports a message that is too large for memory, disconnects, and reconnects', async () => {
      const device = buses.open({ url: relayed() }, { subscriptions: ['d/#'] });
      await until(() => device.ups.length > 0, 'up');
      const sender = await connectAsync(direct(), { protocolVersion: protocol });
      try {
        await sender.publishAsync('d/huge', Buffer.alloc(5_000_000), { qos: 1 });
        await until(() => device.ups.length === 2, 'up again');
        await sender.publishAsync('d/small', 'hello', { qos: 1 });
        await until(() => device.messages.length > 0, 'the small message');
      } finally {
        await sender.endAsync();
      }
      expect(device.order).toEqual(['up 1', 'down unreachable', 'up 2', 'message d/small']);
      expect(device.downs[0]?.message).toMatch(
        /sent a message of 50000\d\d bytes, more than the 4194304 .*message_size_limit/,
      );
    });

    it('delivers retained messages only after up, marked as retained', async () => {
      const witness = await openWitness();
      for (let index = 0; index < 20; index += 1) {
        witness.bus.publish(`kept/${index}`, 'x', { retain: true });
      }
      await until(() => witness.bus.outbox.waiting + witness.bus.outbox.inFlight === 0, 'the broker');
      const device = buses.open({ url: relayed() }, { subscriptions: ['kept/#'] });
      await until(() => device.messages.length === 20, 'the retained messages');
      expect(device.order[0]).toBe('up 1');
      expect(device.messages.every((message) => message.retain)).toBe(true);
    });

    it('leaves a new will for each connection when it is cut', async () => {
      const witness = await openWitness();
      const will = (connection: number) => ({ topic: 't/status', payload: `lost ${connection}` });
      const device = buses.open({ url: relayed() }, { will });
      await until(() => device.ups.length === 1, 'up');
      relay.cut();
      await until(() => witness.messages.length === 1, 'the first will');
      await until(() => device.ups.length === 2, 'up again');
      relay.cut();
      await until(() => witness.messages.length === 2, 'the second will');
      expect(witness.messages.map((message) => message.payload)).toEqual(['lost 1', 'lost 2']);
      expect(device.ups.map((up) => up.connection).slice(0, 2)).toEqual([1, 2]);
      expect(device.downs[0]?.problem).toBe('unreachable');
      const late = buses.open({ url: direct(), clientId: 'late' }, { subscriptions: ['t/status'] });
      await until(() => late.messages.length > 0, 'the retained will');
      expect(late.messages[0]).toMatchObject({ payload: 'lost 2', retain: true });
    });

    it('queues QoS 1 messages in order while down, replaces retained ones, and drops QoS 0', async () => {
      const witness = await openWitness();
      const device = buses.open({ url: relayed() });
      await until(() => device.ups.length === 1, 'up');
      relay.refuse(true);
      relay.cut();
      await until(() => device.downs.length > 0, 'down');
      expect(device.bus.connected).toBe(false);
      device.bus.publish('t/event', 'a');
      device.bus.publish('t/state', 'old', { retain: true });
      device.bus.publish('t/fleeting', 'gone', { qos: 0 });
      device.bus.publish('t/event', 'b');
      device.bus.publish('t/state', 'new', { retain: true });
      device.bus.publish('t/event', 'c', { properties: { expiryS: 60 } });
      expect(device.bus.outbox).toMatchObject({ waiting: 4, dropped: 0 });
      relay.refuse(false);
      await until(() => witness.messages.length >= 4, 'the queued messages');
      expect(witness.messages.map((message) => message.payload)).toEqual(['a', 'b', 'new', 'c']);
    });

    it('delivers hundreds of messages in order over a connection that is cut twice', async () => {
      const witness = await openWitness();
      const device = buses.open({ url: relayed() });
      await until(() => device.ups.length === 1, 'up');
      for (let index = 0; index < 400; index += 1) device.bus.publish('t/n', String(index));
      await until(() => witness.messages.length > 30, 'some');
      relay.cut();
      await until(() => device.ups.length === 2, 'up again');
      for (let index = 400; index < 450; index += 1) device.bus.publish('t/n', String(index));
      await until(() => witness.messages.length > 200, 'more');
      relay.cut();
      await until(() => witness.messages.some((message) => message.payload === '449'), 'the last');
      const numbers = witness.messages.map((message) => Number(message.payload));
      expect(new Set(numbers).size).toBe(450);
      const firsts = [...new Set(numbers)];
      expect(firsts).toEqual([...firsts].sort((a, b) => a - b));
    });

    it('closes cleanly: waiting messages, then the finale, and no will', async () => {
      const witness = await openWitness();
      const will = () => ({ topic: 't/status', payload: 'lost' });
      const device = buses.open({ url: relayed() }, { will });
      await until(() => device.ups.length === 1, 'up');
      for (let index = 0; index < 50; index += 1) device.bus.publish('t/event', String(index));
      await device.bus.close({ topic: 't/status', payload: 'offline', retain: true });
      device.bus.publish('t/event', 'too late');
      await until(() => witness.messages.some((message) => message.topic === 't/status'), 'the finale');
      witness.bus.publish('t/marker', 'end');
      await until(() => witness.messages.some((message) => message.topic === 't/marker'), 'the marker');
      const payloads = witness.messages.map((message) => message.payload);
      expect(payloads.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, index) => String(index)));
      expect(payloads.slice(50)).toEqual(['offline', 'end']);
      expect(device.downs).toEqual([]);
      expect(device.bus.connected).toBe(false);
    });

    it('closes within 2 s when the broker does not answer', async () => {
      const device = buses.open({ url: relayed() });
      await until(() => device.ups.length === 1, 'up');
      relay.hold(true);
      for (let index = 0; index < 40; index += 1) device.bus.publish('t/event', String(index));
      const stalls = watchStalls();
      const startedAt = performance.now();
      await device.bus.close({ topic: 't/status', payload: 'offline', retain: true });
      expect(performance.now() - startedAt).toBeLessThan(4000 + 2 * stalls.ms());
    });

    it('closes at once while disconnected, and can be closed twice', async () => {
      relay.refuse(true);
      const device = buses.open({ url: relayed() });
      await until(() => device.downs.length > 0, 'down');
      const stalls = watchStalls();
      const startedAt = performance.now();
      await Promise.all([device.bus.close(), device.bus.close()]);
      expect(performance.now() - startedAt).toBeLessThan(1500 + 2 * stalls.ms());
      const reported = device.order.length;
      relay.refuse(false);
      await new Promise((resolve) => setTimeout(resolve, 1200));
      expect(device.order.length).toBe(reported);
    });

    it('survives topics that MQTT does not allow, without a reconnect', async () => {
      const witness = await openWitness();
      const device = buses.open({ url: relayed() });
      await until(() => device.ups.length === 1, 'up');
      for (const topic of ['', 't/+', 't/#', 't/\0', `t/${'x'.repeat(70_000)}`]) {
        device.bus.publish(topic, 'x');
        device.bus.publish(topic, 'x', { qos: 0 });
      }
      device.bus.publish('t/fine', 'x');
      await until(() => witness.messages.length > 0, 'the good one');
      expect(witness.messages.map((message) => message.topic)).toEqual(['t/fine']);
      expect(device.downs).toEqual([]);
    });
  });
}
