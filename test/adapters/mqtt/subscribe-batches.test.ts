/** Brokers that accept few filters in a SUBSCRIBE, and brokers that cut a connection: which packet was it? In virtual time. */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Subscription } from '../../../src/ports/bus.ts';
import { until } from '../../until.ts';
import {
  bodyOf,
  CONNACK_5,
  CONNECT,
  countFilters,
  PUBACK,
  PUBLISH,
  packets,
  packetType,
  readPublish,
  SUBSCRIBE,
  send,
  useScriptedBroker,
} from './scripted-broker.ts';

const ALLOWED = 1;
const REFUSED = 0x87;

const optional = (filter: string): Subscription => ({ filter, qos: 1, mayBeRefused: true });
const filtersNamed = (count: number): string[] => Array.from({ length: count }, (_, index) => `f/${index}`);

/** Filters of a SUBSCRIBE. */
function filtersOf(body: Buffer): string[] {
  const filters: string[] = [];
  for (let at = 3 + (body[2] ?? 0); at < body.length; ) {
    const end = at + 2 + body.readUInt16BE(at);
    filters.push(body.subarray(at + 2, end).toString());
    at = end + 1;
  }
  return filters;
}

/** A SUBACK of MQTT 5. */
const grant = (subscribe: Buffer, granted: readonly number[]): number[] => {
  const [high = 0, low = 0] = bodyOf(subscribe);
  return [0x90, 3 + granted.length, high, low, 0, ...granted];
};

describe('subscriptions at a broker that cuts connections', () => {
  const fixture = useScriptedBroker();
  const { passUntil } = fixture;

  const play = (
    on: {
      subscribe: (packet: Buffer, socket: Socket) => void;
      publish?: (packet: Buffer, socket: Socket) => void;
    },
    subscriptions: readonly (string | Subscription)[],
  ) =>
    fixture.play((bytes, socket) => {
      for (const packet of packets(bytes)) {
        if (packetType(packet) === CONNECT) send(socket, ...CONNACK_5);
        if (packetType(packet) === SUBSCRIBE) on.subscribe(packet, socket);
        if (packetType(packet) === PUBLISH) on.publish?.(packet, socket);
      }
    }, subscriptions);
  const grantAll = (packet: Buffer, socket: Socket): void =>
    send(socket, ...grant(packet, Array(countFilters(bodyOf(packet))).fill(ALLOWED)));

  it.each([
    [8, [8]],
    [9, [8, 1]],
    [17, [8, 8, 1]],
  ])('subscribes to %i filters when the broker accepts eight a packet', async (count, sizes) => {
    const asked: string[][] = [];
    const device = await play(
      {
        subscribe(packet, socket) {
          const filters = filtersOf(bodyOf(packet));
          asked.push(filters);
          if (filters.length > 8) socket.end();
          else grantAll(packet, socket);
        },
      },
      filtersNamed(count),
    );
    await passUntil(() => device.ups.length === 1, 'up');
    expect(asked.map(({ length }) => length)).toEqual(sizes);
    expect(asked.flat()).toEqual(filtersNamed(count));
    expect(device.order).toEqual(['up 1']);
  });

  it('names each refused filter when several packets have some, answered in any order', async () => {
    const waiting: Buffer[] = [];
    let answer = (): void => {};
    const device = await play(
      {
        subscribe(packet, socket) {
          waiting.push(packet);
          answer = () => {
            const last = waiting.pop();
            if (last === undefined) return;
            const granted = filtersOf(bodyOf(last)).map((filter) =>
              ['f/1', 'f/9', 'f/16'].includes(filter) ? REFUSED : ALLOWED,
            );
            send(socket, ...grant(last, granted));
          };
        },
      },
      filtersNamed(17).map(optional),
    );
    await until(() => waiting.length === 3, 'three packets');
    answer();
    answer();
    await passUntil(() => waiting.length === 1, 'two answers');
    expect(device.ups).toEqual([]);
    answer();
    await until(() => device.ups.length === 1, 'up');
    expect(device.refused).toEqual([['f/1', 'f/9', 'f/16']]);
    expect(device.order).toEqual(['up 1']);
  });

  it('names all filters that it cannot do without when the broker refuses them in several packets', async () => {
    const device = await play(
      {
        subscribe(packet, socket) {
          const granted = filtersOf(bodyOf(packet)).map((filter) =>
            ['f/0', 'f/8'].includes(filter) ? REFUSED : ALLOWED,
          );
          send(socket, ...grant(packet, granted));
        },
      },
      filtersNamed(9),
    );
    await until(() => device.downs.length === 1, 'down');
    expect(device.downs[0]).toMatchObject({ problem: 'refused' });
    expect(device.downs[0]?.message).toMatch(/does not allow us to subscribe to f\/0, f\/8$/);
  });

  it.each([
    ['closes', (socket: Socket) => void socket.end(), /closed the connection/],
    ['resets', (socket: Socket) => void socket.resetAndDestroy(), /cannot reach/],
    [
      'ends with a reason',
      (socket: Socket) => send(socket, 0xe0, 2, 0x97, 0),
      /disconnected us: Quota exceeded/,
    ],
  ])('names the SUBSCRIBE that was not answered when the broker %s', async (_, end, words) => {
    let packetsSeen = 0;
    const device = await play(
      {
        subscribe(packet, socket) {
          packetsSeen += 1;
          if (packetsSeen === 1) grantAll(packet, socket);
          // The answer to the first packet arrives before the end.
          else setTimeout(() => end(socket), 20);
        },
      },
      filtersNamed(10),
    );
    await until(() => device.downs.length === 1, 'down');
    expect(device.downs[0]?.message).toMatch(words);
    expect(device.downs[0]?.message).toMatch(/ after our SUBSCRIBE to "f\/8", "f\/9"$/);
  });

  it.each([0, 1] as const)(
    'names the PUBLISH when the broker closes the connection at it (QoS %i)',
    async (qos) => {
      const device = await play({ subscribe: grantAll, publish: (_, socket) => void socket.end() }, ['f']);
      await until(() => device.ups.length === 1, 'up');
      device.bus.publish('a/b', 'x', { qos });
      await until(() => device.downs.length === 1, 'down');
      expect(device.downs[0]?.message).toMatch(/closed the connection after our PUBLISH to "a\/b"$/);
    },
  );

  it('names no packet when the broker had answered the last one', async () => {
    const device = await play(
      {
        subscribe: grantAll,
        publish: (packet, socket) => send(socket, PUBACK, 2, ...readPublish(packet).id),
      },
      ['f'],
    );
    await until(() => device.ups.length === 1, 'up');
    device.bus.publish('a/b', 'x');
    await until(() => device.bus.outbox.depth === 0, 'the acknowledgement');
    fixture.scripted().cutAll();
    await until(() => device.downs.length === 1, 'down');
    expect(device.downs[0]?.message).toMatch(/closed the connection$/);
  });

  it('names no packet when another client took over', async () => {
    const device = await play(
      { subscribe: grantAll, publish: (_, socket) => send(socket, 0xe0, 2, 0x8e, 0) },
      ['f'],
    );
    await until(() => device.ups.length === 1, 'up');
    device.bus.publish('a/b', 'x');
    await until(() => device.downs.length === 1, 'down');
    expect(device.downs[0]?.problem).toBe('taken_over');
    expect(device.downs[0]?.message).not.toContain('PUBLISH');
  });
});
