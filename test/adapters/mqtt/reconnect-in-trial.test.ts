/** One connection at a time, also while another broker is tried. */
import { expect, it } from 'vitest';
import { ALL_ALLOWED } from '../../../src/adapters/mqtt/allowances.ts';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import type { LinkSink } from '../../../src/adapters/mqtt/link.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

it('opens one connection when it is to reconnect, has lost its link, and the other broker refuses it', async () => {
  const clock = createVirtualClock();
  const links: { broker: string; sink: LinkSink }[] = [];
  const bus = createMqttBus(
    { url: 'mqtt://one', clientId: 'device' },
    {
      clock,
      seed: 1,
      other: () => ({ url: 'mqtt://two', clientId: 'device' }),
      openLink({ broker, version }, _clock, sink) {
        links.push({ broker, sink });
        return {
          broker,
          version,
          accepted: false,
          window: 16,
          largestPacketBytes: Number.POSITIVE_INFINITY,
          allowed: ALL_ALLOWED,
          congested: false,
          publish() {},
          subscribe() {},
          unsubscribe: (_subscriptions, done) => done(),
          end() {},
          destroy() {},
        };
      },
    },
  )({ subscriptions: [], will: null }, { up() {}, down() {}, message() {} });
  links[0]?.sink.accepted();
  links[0]?.sink.ready([]);
  bus.attempt?.({ topic: 'status', payload: '', retain: true }, () => {});
  links[0]?.sink.ended({ problem: 'unreachable', message: 'gone' });
  bus.reconnect();
  await clock.elapse(10);
  links[1]?.sink.ended({ problem: 'refused', message: 'not here' });
  links[2]?.sink.ready([]);
  await clock.elapse(5000);
  expect(links.slice(2)).toHaveLength(1);
  void bus.close();
});
