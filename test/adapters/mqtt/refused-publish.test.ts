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

  it.each([
    [
      'by its answer, and hangs up',
      5,
      (socket: Socket, id: readonly number[]) =>
        void socket.end(Buffer.from([0x40, 3, ...id, NOT_AUTHORIZED])),
    ],
    [
      'by a reason to disconnect',
      5,
      (socket: Socket) => void socket.end(Buffer.from([0xe0, 2, NOT_AUTHORIZED, 0])),
    ],
    ['by hanging up without a reason', 5, (socket: Socket) => void socket.destroy()],
    ['by hanging up without a reason, over MQTT 3.1.1', 4, (socket: Socket) => void socket.destroy()],
  ] as const)(
    'has the topic reported and blocked, and the device reconnects soon: %s',
    async (_how, level, answer) => {
      const device = await play(answer, level);
      device.bus.publish('good', '1');
      device.bus.publish('bad', 'x');
      device.bus.publish('good', '2');
      const tookS = await passUntil(() => device.lost.length > 0 && device.bus.outbox.depth === 0, 'the end');
      expect(tookS).toBeLessThan(15);
      expect(device.lost.map(({ topic }) => topic)).toEqual(['bad']);
      expect(device.downs.length).toBeLessThanOrEqual(3);
      expect(device.downs.at(-1)).toMatchObject({ problem: 'unreachable' });
      expect(device.downs.at(-1)?.message).toContain('"bad"');
      expect(device.downs.map(({ message }) => message).join()).not.toContain('another client');
      await passUntil(() => device.ups.length > device.downs.length, 'up again');

      const before = { downs: device.downs.length, published: published.length };
      for (let i = 0; i < 20; i += 1) device.bus.publish('bad', 'x');
      device.bus.publish('good', '3');
      await passUntil(() => device.bus.outbox.depth === 0, 'the end of the queue');
      expect(device.downs).toHaveLength(before.downs);
      expect(published.slice(before.published)).toEqual(['good']);
      expect(device.lost).toHaveLength(21);
    },
  );

  it('gets the topic again after five minutes; the first hang-up blocks it', async () => {
    const device = await play((socket) => void socket.destroy());
    device.bus.publish('bad', 'x');
    await passUntil(() => device.lost.length > 0 && device.ups.length > device.downs.length, 'up again');
    const tries = published.length;
    const givenUpAt = broker.clock().now();
    await broker.passUntil(() => broker.clock().now() > givenUpAt + 300_000, 'five minutes');
    const before = { downs: device.downs.length, lost: device.lost.length };
    device.bus.publish('good', 'x');
    device.bus.publish('bad', 'x');
    await passUntil(() => published.length > tries + 1, 'another try');
    await passUntil(() => device.lost.length > before.lost, 'the end of it');
    expect(device.downs).toHaveLength(before.downs + 1);
    expect(device.lost.at(-1)).toMatchObject({ topic: 'bad', why: 'refused' });
  });

  it('gets the topic without suspicion once it allows the topic', async () => {
    let isAllowed = false;
    const device = await play((socket, id) => {
      if (isAllowed) send(socket, PUBACK, 2, ...id);
      else socket.destroy();
    });
    device.bus.publish('bad', 'x');
    await passUntil(() => device.lost.length > 0 && device.ups.length > device.downs.length, 'up again');
    isAllowed = true;
    await broker.passUntil(() => broker.clock().now() > 400_000, 'five minutes');
    const { length } = published;
    for (let i = 0; i < 20; i += 1) device.bus.publish('bad', 'x');
    await passUntil(() => device.bus.outbox.depth === 0, 'the end of the queue');
    expect(published).toHaveLength(length + 20);
    expect(device.lost).toHaveLength(1);
  });

  it('has an answer over MQTT 3.1.1 blocked before another client is suspected', async () => {
    const device = await play((socket) => void socket.destroy(), 4);
    device.bus.publish('bad', 'x', { share: 'answers' });
    await passUntil(() => device.lost.length > 0 && device.ups.length > device.downs.length, 'up again');
    expect(device.lost).toEqual([{ topic: 'bad', why: 'refused', reason: expect.any(String) }]);
    expect(device.downs.map(({ problem }) => problem)).not.toContain('taken_over');
    expect(device.downs.length).toBeLessThanOrEqual(4);
  });

  it('gets an answer over MQTT 5 many times before the topic is blocked', async () => {
    let cuts = 0;
    const device = await play((socket, id) => {
      cuts += 1;
      if (cuts <= 5) socket.destroy();
      else send(socket, PUBACK, 2, ...id);
    });
    device.bus.publish('bad', 'x', { share: 'answers' });
    await passUntil(() => device.bus.outbox.depth === 0, 'the end of the queue');
    expect(device.lost).toEqual([]);
  });

  it('has a QoS 0 topic blocked after two lost connections in a row', async () => {
    const device = await play((socket) => void socket.destroy(), 4);
    for (let i = 0; i < 100; i += 1) {
      device.bus.publish('good', 'x', { qos: 0 });
      device.bus.publish('bad', 'x', { qos: 0 });
      await passUntil(() => device.bus.connected, 'up');
      await broker.clock().elapse(1000);
    }
    expect(device.lost).toEqual([{ topic: 'bad', why: 'refused', reason: expect.any(String) }]);
    expect(device.downs).toHaveLength(2);
    expect(published.filter((topic) => topic === 'bad')).toHaveLength(2);
    expect(published.filter((topic) => topic === 'good').length).toBeGreaterThan(90);
  });

  it('has no topic blocked when another client uses the agent’s name', async () => {
    const device = await play((socket) => void socket.destroy(), 4);
    device.bus.disputed?.();
    device.bus.publish('bad', 'x');
    await passUntil(() => device.downs.length >= 2, 'down twice');
    expect(device.downs.map(({ problem }) => problem)).toEqual(['taken_over', 'taken_over']);
    expect(device.lost).toEqual([]);
  });
});
