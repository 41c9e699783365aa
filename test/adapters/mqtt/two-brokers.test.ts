/** The bus between two real brokers. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus, type MqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { findMosquitto, type Mosquitto, startMosquitto } from './mosquitto.ts';
import { createRecordingListener } from './test-buses.ts';

const mosquitto = findMosquitto();
const FINALE = { topic: 'device/status', payload: '"gone"', retain: true };

describe('a connection between two brokers', needs(mosquitto === null && 'needs mosquitto'), () => {
  let one: Mosquitto;
  let two: Mosquitto;
  let open: MqttBus[] = [];
  beforeEach(async () => {
    one = await startMosquitto(mosquitto ?? '');
    two = await startMosquitto(mosquitto ?? '');
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((bus) => bus.close()));
    await Promise.all([one.close(), two.close()]);
  });

  /** A connection to `url` that can change to `other`. */
  const connect = (url: string, other: string) => {
    const recorder = createRecordingListener();
    const bus = createMqttBus(
      { url, clientId: 'device' },
      { clock: createSystemClock(), seed: 1, other: () => ({ url: other, clientId: 'device' }) },
    )(
      { subscriptions: ['to/device'], will: () => ({ topic: 'device/status', payload: '"lost"' }) },
      recorder.listener,
    );
    open.push(bus);
    const attempt = () => new Promise<string | null>((resolve) => bus.attempt?.(FINALE, resolve));
    return { bus, attempt, ...recorder.heard };
  };
  /** Records what one of the brokers delivers. */
  const witness = async (url: string) => {
    const recorder = createRecordingListener();
    const bus = createMqttBus(
      { url, clientId: `witness-${Math.random()}` },
      { clock: createSystemClock(), seed: 2 },
    )({ subscriptions: ['device/#'], will: null }, recorder.listener);
    open.push(bus);
    await until(() => bus.connected);
    const texts = (topic: string) =>
      recorder.heard.messages.filter((message) => message.topic === topic).map(({ payload }) => payload);
    return { bus, texts };
  };

  it('changes brokers without a gap, with all waiting messages, and closes the first connection cleanly', async () => {
    const first = await witness(one.url);
    const second = await witness(two.url);
    const { bus, attempt, ups, downs, messages } = connect(one.url, two.url);
    await until(() => bus.connected);
    expect(await attempt()).toBeNull();
    bus.publish('device/reported', '"over there"');
    await until(() => second.texts('device/reported').length > 0);
    expect(bus.connected).toBe(true);
    expect(ups).toHaveLength(2);
    expect(downs).toEqual([]);
    await until(() => first.texts('device/status').length > 0);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(first.texts('device/status')).toEqual(['"gone"']);
    expect(first.texts('device/reported')).toEqual([]);
    second.bus.publish('to/device', '"hello"');
    await until(() => messages.length > 0);
    first.bus.publish('to/device', '"not any more"');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(messages).toHaveLength(1);
  });

  it('stays at the first broker while the other does not answer, and reports why', async () => {
    const { bus, attempt, downs, ups } = connect(one.url, 'mqtt://127.0.0.1:9');
    await until(() => bus.connected);
    expect(await attempt()).toContain('nothing listens there');
    expect(await attempt()).toContain('nothing listens there');
    expect(bus.connected).toBe(true);
    expect([ups.length, downs.length]).toEqual([1, 0]);
  });

  it('changes brokers while the first is away, with the queued messages', async () => {
    const { bus, attempt, downs } = connect(one.url, two.url);
    const second = await witness(two.url);
    await until(() => bus.connected);
    await one.close();
    await until(() => downs.length > 0);
    bus.publish('device/reported', '"while away"');
    expect(await attempt()).toBeNull();
    await until(() => second.texts('device/reported').length > 0);
    expect(second.texts('device/reported')).toEqual(['"while away"']);
    // It stays there: the first broker is not tried again.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(downs).toHaveLength(1);
    expect(bus.connected).toBe(true);
  });

  it('does not report another client when both addresses lead to one broker', async () => {
    const { bus, attempt, ups, downs } = connect(one.url, one.url.replace('127.0.0.1', 'localhost'));
    await until(() => bus.connected);
    const outcome = await attempt();
    // Nothing listens there when localhost is ::1 only.
    if (outcome === null) expect(ups).toHaveLength(2);
    expect(downs).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(bus.connected).toBe(true);
    expect(downs).toEqual([]);
  });

  it('cancels an attempt when it is closed', async () => {
    const { bus, ups } = connect(one.url, two.url);
    await until(() => bus.connected);
    bus.attempt?.(FINALE, () => {});
    await bus.close();
    open = open.filter((each) => each !== bus);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(ups).toHaveLength(1);
  });
});
