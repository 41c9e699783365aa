/** A connection that ends or is left with messages in flight, byte by byte and in virtual time. */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { BusOptions } from '../../../src/ports/bus.ts';
import { until } from '../../until.ts';
import {
  CONNACK_5,
  CONNECT,
  PUBACK,
  PUBLISH,
  packets,
  packetType,
  readPublish,
  SUBSCRIBE,
  send,
  suback5,
  useScriptedBroker,
} from './scripted-broker.ts';
import type { OpenedBus } from './test-buses.ts';

const NOT_AUTHORIZED = 0x87;
const FINALE = { topic: 'status', payload: '', retain: true };

interface Published {
  readonly connection: number;
  readonly topic: string;
  answer(reason?: number): void;
}

describe('a connection with messages in flight', () => {
  const broker = useScriptedBroker();
  const published: Published[] = [];
  /** A second CONNACK: the library gives the connection up. */
  let acceptAgain = (): void => {};
  const subscribed: { readonly connection: number; answer(granted: number): void }[] = [];

  /** A broker that acknowledges messages and further subscriptions only when the test says so. */
  const play = async (subscriptions: BusOptions['subscriptions'] = []): Promise<OpenedBus> => {
    published.length = 0;
    subscribed.length = 0;
    const device = await broker.play((bytes, socket, connection) => {
      for (const packet of packets(bytes)) handle(packet, socket, connection);
    }, subscriptions);
    await until(() => device.ups.length === 1, 'up');
    return device;
  };
  const handle = (packet: Buffer, socket: Socket, connection: number): void => {
    if (packetType(packet) === CONNECT) {
      send(socket, ...CONNACK_5);
      acceptAgain = () => send(socket, ...CONNACK_5);
    }
    if (packetType(packet) === SUBSCRIBE) {
      const answer = (granted: number): void => send(socket, ...suback5(packet, granted));
      if (subscribed.every((one) => one.connection !== connection)) answer(NOT_AUTHORIZED);
      subscribed.push({ connection, answer });
    }
    if (packetType(packet) !== PUBLISH) return;
    const { topic, id } = readPublish(packet);
    let isAnswered = false;
    const answer = (reason = 0): void => {
      if (!isAnswered) send(socket, PUBACK, 3, ...id, reason);
      isAnswered = true;
    };
    published.push({ connection, topic, answer });
  };
  const topicsOf = (connection: number): string[] =>
    published.filter((one) => one.connection === connection).map(({ topic }) => topic);
  const answerAll = (connection: number, topic: string, reason?: number): void => {
    for (const one of published) if (one.connection === connection && one.topic === topic) one.answer(reason);
  };
  /** Publishes two messages, and records how they end. */
  const publishTwo = ({ bus }: OpenedBus): boolean[] => {
    const delivered: boolean[] = [];
    for (let i = 0; i < 2; i += 1)
      bus.publish('t', 'x', { ended: (isDelivered) => delivered.push(isDelivered) });
    return delivered;
  };
  const untilLastIsGone = (): Promise<unknown> =>
    broker.passUntil(() => broker.scripted().open() === 1, 'the end of the last connection', 100);

  it('sends its messages again after the library has given it up', async () => {
    const device = await play();
    const delivered = publishTwo(device);
    await until(() => topicsOf(1).length === 2, 'the messages');
    acceptAgain();
    await until(() => device.downs.length === 1, 'down');
    await broker.passUntil(
      () => {
        answerAll(2, 't');
        return delivered.length === 2;
      },
      'the acknowledgements',
      100,
    );
    expect([delivered, device.lost]).toEqual([[true, true], []]);
  });

  it('sends its messages again when it reconnects', async () => {
    const device = await play();
    const delivered = publishTwo(device);
    await until(() => topicsOf(1).length === 2, 'the messages');
    device.bus.reconnect();
    await until(() => topicsOf(2).length === 2, 'the messages again');
    answerAll(2, 't');
    await until(() => delivered.length === 2, 'the acknowledgements');
    expect([delivered, device.lost, device.downs]).toEqual([[true, true], [], []]);
  });

  it('sends its messages to the broker that replaces it', async () => {
    const device = await play();
    const delivered = publishTwo(device);
    await until(() => topicsOf(1).length === 2, 'the messages');
    device.bus.attempt?.(FINALE, () => {});
    await until(() => topicsOf(1).includes('status') && topicsOf(2).length === 2, 'the messages again');
    answerAll(1, 'status');
    await untilLastIsGone();
    expect([delivered, device.lost]).toEqual([[], []]);
    answerAll(2, 't');
    await until(() => delivered.length === 2, 'the acknowledgements');
    expect([delivered, device.lost, device.downs]).toEqual([[true, true], [], []]);
  });

  it('loses no message when the broker that is replaced refuses it late', async () => {
    const device = await play();
    const delivered = publishTwo(device);
    await until(() => topicsOf(1).length === 2, 'the messages');
    device.bus.attempt?.(FINALE, () => {});
    await until(() => topicsOf(1).includes('status') && topicsOf(2).length === 2, 'the messages again');
    answerAll(1, 't', NOT_AUTHORIZED);
    answerAll(1, 'status');
    await untilLastIsGone();
    answerAll(2, 't');
    await until(() => delivered.length === 2, 'the acknowledgements');
    expect([delivered, device.lost]).toEqual([[true, true], []]);
  });

  it('reports no message as refused when it is closed', async () => {
    const device = await play();
    const delivered = publishTwo(device);
    await until(() => topicsOf(1).length === 2, 'the messages');
    let isClosed = false;
    void device.bus.close().then(() => {
      isClosed = true;
    });
    await broker.passUntil(() => isClosed, 'the end', 100);
    expect([delivered, device.lost]).toEqual([[], []]);
  });

  it('keeps the queue when it reconnects as soon as the other broker has accepted it', async () => {
    const device = await play();
    for (let i = 0; i < 40; i += 1) device.bus.publish('t', 'x');
    await until(() => topicsOf(1).length >= 15, 'the messages');
    device.bus.attempt?.(FINALE, () => device.bus.reconnect());
    await broker.passUntil(() => device.ups.at(-1)?.connection === 3, 'up again', 100);
    await until(() => {
      answerAll(3, 't');
      return device.bus.outbox.depth === 0;
    }, 'the end of the queue');
    expect([device.order, device.lost]).toEqual([['up 1', 'up 3'], []]);
    expect(topicsOf(3)).toHaveLength(40);
  });

  it('does not count its late subscription for the connection that replaces it', async () => {
    const device = await play([{ filter: 'secret/#', qos: 0, mayBeRefused: true }]);
    await broker.passUntil(() => subscribed.length === 2, 'a second try');
    device.bus.attempt?.(FINALE, () => {});
    await until(() => topicsOf(1).includes('status') && device.ups.length === 2, 'the other broker');
    expect(device.refused).toEqual([['secret/#'], ['secret/#']]);
    subscribed[1]?.answer(0);
    answerAll(1, 'status');
    await untilLastIsGone();
    expect(device.refused).toHaveLength(2);
    await broker.passUntil(() => subscribed.length === 4, 'a try on the new connection');
    expect(subscribed.map(({ connection }) => connection)).toEqual([1, 1, 2, 2]);
  });
});
