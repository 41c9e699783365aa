/** A broker that does not like a message, in all the ways in which brokers say so, byte by byte and in virtual time. */
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createVirtualClock, type VirtualClock } from '../../virtual-clock.ts';
import { createBusRack, type OpenedBus, type ScriptedBroker, startScriptedBroker, until } from './fixture.ts';

const NOT_AUTHORIZED = 0x87;

/** What a client wrote, packet by packet. */
function* packets(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    let length = 0;
    let head = 1;
    for (let shift = 0; ; shift += 7, head += 1) {
      const byte = bytes[at + head] ?? 0;
      length += (byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) break;
    }
    const end = at + head + 1 + length;
    yield bytes.subarray(at, end);
    at = end;
  }
}
/** Of a QoS 1 PUBLISH shorter than 128 bytes. */
function readPublish(packet: Buffer): { topic: string; id: [number, number] } {
  const length = packet.readUInt16BE(2);
  return {
    topic: packet.subarray(4, 4 + length).toString(),
    id: [packet[4 + length] ?? 0, packet[5 + length] ?? 0],
  };
}

describe('a broker that refuses a topic', () => {
  let clock: VirtualClock;
  let rack: ReturnType<typeof createBusRack>;
  let scripted: ScriptedBroker;
  const published: string[] = [];

  /** @param answer what becomes of a message to `bad` */
  const play = async (
    answer: (socket: Socket, id: readonly number[]) => void,
    level: 4 | 5 = 5,
  ): Promise<OpenedBus> => {
    published.length = 0;
    clock = createVirtualClock();
    rack = createBusRack(clock);
    scripted = await startScriptedBroker((bytes, socket) => {
      for (const packet of packets(bytes)) {
        const type = (packet[0] ?? 0) & 0xf0;
        if (type === 0x10) {
          if (level === 5) socket.write(Buffer.from([0x20, 3, 0, 0, 0]));
          else if (packet[8] === 5) socket.end(Buffer.from([0x20, 2, 0, 1]));
          else socket.write(Buffer.from([0x20, 2, 0, 0]));
        }
        if (type !== 0x30) continue;
        const { topic, id } = readPublish(packet);
        published.push(topic);
        if (topic === 'bad') answer(socket, id);
        else if (!socket.writableEnded) socket.write(Buffer.from([0x40, 2, ...id]));
      }
    });
    const device = rack.open({ url: scripted.url });
    await passUntil(() => device.ups.length === 1, 'up');
    return device;
  };
  const passUntil = async (check: () => boolean, what: string): Promise<number> => {
    for (let tenth = 0; tenth < 30_000; tenth += 1) {
      if (check()) return tenth * 100;
      clock.advance(100);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    throw new Error(`in vain: ${what}`);
  };

  afterEach(async () => {
    await scripted.close();
    const closed = rack.closeAll();
    await clock.elapse(5000);
    await closed;
  });

  it('by its answer: the line stays up, the rest arrives, and the topic is told', async () => {
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
    ['by hanging up without a word', 5, (socket: Socket) => void socket.destroy()],
    ['by hanging up without a word, over MQTT 3.1.1', 4, (socket: Socket) => void socket.destroy()],
  ] as const)('%s: told with the topic, back soon, and left alone', async (_how, level, answer) => {
    const device = await play(answer, level);
    device.bus.publish('good', '1');
    device.bus.publish('bad', 'x');
    device.bus.publish('good', '2');
    const tookMs = await passUntil(() => device.lost.length > 0 && device.bus.outbox.depth === 0, 'the end');
    expect(tookMs).toBeLessThan(15_000);
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
  });

  it('is tried again after ten minutes', async () => {
    const device = await play((socket) => void socket.destroy());
    device.bus.publish('bad', 'x');
    await passUntil(() => device.lost.length > 0 && device.ups.length > device.downs.length, 'up again');
    const tries = published.length;
    await passUntil(() => clock.now() > 700_000, 'ten minutes');
    device.bus.publish('bad', 'x');
    await passUntil(() => published.length > tries, 'another try');
    await until(() => device.downs.length > 0, 'down');
  });
});
