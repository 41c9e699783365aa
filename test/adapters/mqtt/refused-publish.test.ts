/** A broker that refuses a message, in all the ways in which brokers do so, byte by byte and in virtual time. */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  CONNACK_4,
  CONNACK_5,
  CONNACK_5_KEPT,
  CONNECT,
  levelOf,
  PUBACK,
  PUBLISH,
  packets,
  packetType,
  readPublish,
  send,
  useScriptedBroker,
} from './scripted-broker.ts';
import type { OpenedBus } from './test-buses.ts';

const NOT_AUTHORIZED = 0x87;
const AS_AN_AGENT = [[], { keptForS: 600 }] as const;

describe('a broker that refuses a topic', () => {
  const broker = useScriptedBroker();
  const published: string[] = [];

  /** @param answer handles a message to `bad` */
  const play = async (
    answer: (socket: Socket, id: readonly number[]) => void,
    level: 4 | 5 = 5,
  ): Promise<OpenedBus> => {
    published.length = 0;
    const device = await broker.play(
      (bytes, socket, connection) => {
        for (const packet of packets(bytes)) {
          if (packetType(packet) === CONNECT) {
            if (level === 5) send(socket, ...(connection === 1 ? CONNACK_5 : CONNACK_5_KEPT));
            else if (levelOf(packet) === 5) socket.end(Buffer.from([0x20, 2, 0, 1]));
            else send(socket, ...CONNACK_4);
          }
          if (packetType(packet) !== PUBLISH) continue;
          const { topic, id } = readPublish(packet);
          published.push(topic);
          if (topic === 'bad') answer(socket, id);
          else if (!socket.writableEnded) send(socket, PUBACK, 2, ...id);
        }
      },
      ...AS_AN_AGENT,
    );
    await passUntil(() => device.ups.length === 1, 'up');
    return device;
  };
  const passUntil = (check: () => boolean, what: string) => broker.passUntil(check, what, 100);

  it('keeps the connection when it refuses by its answer; the topic is reported', async () => {
    const device = await play(
      (socket, id) => void socket.write(Buffer.from([0x40, 3, ...id, NOT_AUTHORIZED])),
    );
    for (let i = 0; i < 50; i += 1) device.bus.publish('bad', 'x');
    device.bus.publish('good', 'x');
    await passUntil(() => device.bus.outbox.depth === 0, 'the end of the queue');
    expect(device.downs).toEqual([]);
    expect(device.lost).toHaveLength(50);
    expect(device.lost[0]).toEqual({ topic: 'bad', why: 'refused', reason: 'not authorized' });
    expect(published.at(-1)).toBe('good');
  });

  it('has the topic reported and blocked when it also hangs up, and the device reconnects soon', async () => {
    const device = await play(refuseAndHangUp);
    device.bus.publish('good', '1');
    device.bus.publish('bad', 'x');
    device.bus.publish('good', '2');
    const tookS = await passUntil(() => device.lost.length > 0 && device.bus.outbox.depth === 0, 'the end');
    expect(tookS).toBeLessThan(15);
    expect(device.lost).toEqual([{ topic: 'bad', why: 'refused', reason: 'not authorized' }]);
    expect(device.downs.length).toBeLessThanOrEqual(1);
    await passUntil(() => device.ups.length > device.downs.length, 'up again');

    const before = { downs: device.downs.length, published: published.length };
    for (let i = 0; i < 20; i += 1) device.bus.publish('bad', 'x');
    device.bus.publish('bad', 'x', { qos: 0 });
    device.bus.publish('good', '3');
    await passUntil(() => device.bus.outbox.depth === 0, 'the end of the queue');
    expect(device.downs).toHaveLength(before.downs);
    expect(published.slice(before.published)).toEqual(['good']);
    expect(device.lost).toHaveLength(21);
  });

  it.each([
    ['a status', 'general', 240_000],
    ['a token request', 'tokens', 15_000],
  ] as const)('gets %s again after a while', async (_, share, afterMs) => {
    let isAllowed = false;
    const device = await play((socket, id) => {
      if (isAllowed) send(socket, PUBACK, 2, ...id);
      else refuseAndHangUp(socket, id);
    });
    device.bus.publish('bad', 'x', { share });
    await passUntil(() => device.lost.length > 0, 'the refusal');
    const refusedAt = broker.clock().now();
    isAllowed = true;
    await broker.passUntil(
      () => broker.clock().now() >= refusedAt + afterMs && device.bus.connected,
      'the time',
    );
    for (let i = 0; i < 20; i += 1) device.bus.publish('bad', 'x', { share });
    await passUntil(() => device.bus.outbox.depth === 0, 'the end of the queue');
    expect(published.filter((topic) => topic === 'bad')).toHaveLength(21);
    expect(device.lost).toHaveLength(1);
  });

  it.each([
    ['without a reason', 5, []],
    ['without a reason, over MQTT 3.1.1', 4, []],
    ['with a reason', 5, [0xe0, 2, NOT_AUTHORIZED, 0]],
  ] as const)('has no topic blocked when it only hangs up %s', async (_how, level, words) => {
    let cuts = 0;
    const device = await play((socket, id) => {
      cuts += 1;
      if (cuts <= 5) socket.end(Buffer.from(words));
      else send(socket, PUBACK, 2, ...id);
    }, level);
    device.bus.publish('bad', 'x');
    device.bus.urgent(true);
    await passUntil(() => device.bus.outbox.depth === 0, 'the end of the queue');
    expect(device.lost).toEqual([]);
    expect(device.downs).toHaveLength(5);
    expect(device.downs.map(({ problem }) => problem)).not.toContain('taken_over');
  });

  it('has its topic named in the log when it hangs up again and again', async () => {
    const device = await play((socket) => void socket.destroy(), 4);
    device.bus.publish('bad', 'x');
    await passUntil(() => device.lost.length > 0, 'the end of it');
    expect(device.downs[1]?.message).toMatch(/closed the connection after our PUBLISH to "bad"$/);
    expect(device.downs[2]?.message).toMatch(/after our PUBLISH to "bad" again; does it allow "bad"\?/);
    // The others are still sent.
    expect(device.lost).toEqual([{ topic: 'bad', why: 'undeliverable', reason: expect.any(String) }]);
    expect(device.downs).toHaveLength(10);
  });
});

function refuseAndHangUp(socket: Socket, id: readonly number[]): void {
  socket.end(Buffer.from([0x40, 3, ...id, NOT_AUTHORIZED]));
}
