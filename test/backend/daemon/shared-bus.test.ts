import { expect, it } from 'vitest';
import { shareBus } from '../../../src/backend/daemon/shared-bus.ts';
import type { Bus, BusListener, BusOptions } from '../../../src/ports/bus.ts';
import { createRecordingListener } from '../../adapters/mqtt/test-buses.ts';

function openFake() {
  const opened: { options: BusOptions; listener: BusListener }[] = [];
  const published: string[] = [];
  const state = { closed: 0 };
  const bus: Bus = {
    connected: true,
    outbox: { depth: 0, dropped: 0 },
    urgent() {},
    reconnect() {},
    publish: (topic) => void published.push(topic),
    async close() {
      state.closed += 1;
    },
  };
  const shared = shareBus((options, listener) => {
    opened.push({ options, listener });
    return bus;
  });
  return { shared, opened, published, state };
}
const once = (filter: string, qos: 0 | 1 = 1) => ({ filter, qos, mayBeRefused: true });

it('opens one connection for two parts, with each filter once', () => {
  const { shared, opened } = openFake();
  const [one, other] = [createRecordingListener(), createRecordingListener()];
  const bus = shared.join({ subscriptions: [once('a'), once('b', 0)], will: null }, one.listener);
  shared.join({ subscriptions: [once('b', 1), 'c'], will: null }, other.listener);
  expect([opened.length, bus.connected]).toEqual([0, false]);
  shared.open();
  expect(opened.map(({ options }) => options.subscriptions)).toEqual([
    [once('a'), once('b', 1), { filter: 'c', qos: 1, mayBeRefused: false }],
  ]);
  const line = opened[0]?.listener;
  line?.refused?.(['a', 'c']);
  line?.up(1, 5);
  line?.message({ topic: 'b', payload: '{}', retain: false, properties: {} });
  for (const { heard } of [one, other])
    expect({ ups: heard.ups.length, messages: heard.messages.length }).toEqual({ ups: 1, messages: 1 });
  expect([one.heard.refused, other.heard.refused]).toEqual([[['a']], [['c']]]);
  expect(bus.connected).toBe(true);
});

it('asks for retained messages unless no part wants them', () => {
  const { shared, opened } = openFake();
  const { listener } = createRecordingListener();
  const bare = (filter: string) => ({ ...once(filter), isWithoutRetained: true });
  shared.join({ subscriptions: [bare('a'), bare('b'), once('c')], will: null }, listener);
  shared.join({ subscriptions: [bare('a'), once('b'), bare('c')], will: null }, listener);
  shared.open();
  expect(opened[0]?.options.subscriptions).toEqual([bare('a'), once('b'), once('c')]);
});

it('closes the connection when the last part leaves, and opens none when no part joins', async () => {
  const { shared, opened, published, state } = openFake();
  shared.open();
  expect(opened).toEqual([]);
  const parts = [createRecordingListener(), createRecordingListener()];
  const [first, second] = parts.map(({ listener }) =>
    shared.join({ subscriptions: [], will: null }, listener),
  );
  const ended: boolean[] = [];
  second?.publish('early', '{}', { ended: (isDelivered) => void ended.push(isDelivered) });
  shared.open();
  second?.publish('late', '{}');
  expect([ended, published]).toEqual([[false], ['late']]);
  await first?.close();
  await first?.close();
  expect(state.closed).toBe(0);
  opened[0]?.listener.down('unreachable', 'gone');
  expect(parts.map(({ heard }) => heard.downs.length)).toEqual([0, 1]);
  await second?.close();
  expect(state.closed).toBe(1);
});
