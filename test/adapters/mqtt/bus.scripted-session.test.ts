/** Takeovers of the identifier and the order of session messages, byte by byte. */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { until } from '../../until.ts';
import {
  CONNACK_4,
  CONNACK_5,
  CONNACK_5_KEPT,
  CONNECT,
  levelOf,
  PUBACK,
  packetType,
  SUBSCRIBE,
  send,
  suback5,
  useScriptedBroker,
} from './scripted-broker.ts';

/** Options as an agent uses them. */
const KEPT = [[], { keptForS: 600 }] as const;

describe('a session at a scripted broker', () => {
  const fixture = useScriptedBroker();
  const { play, passUntil } = fixture;

  it('recognises a takeover by its reason and waits long before it reconnects', async () => {
    const device = await play((bytes, socket) => {
      if (packetType(bytes) !== CONNECT) return;
      send(socket, ...CONNACK_5);
      setTimeout(() => send(socket, 0xe0, 2, 0x8e, 0), 20);
    });
    await until(() => device.downs.length === 1, 'down');
    expect(device.downs[0]?.problem).toBe('taken_over');
    expect(device.downs[0]?.message).toMatch(/another client/);
    const waitedS = await passUntil(() => fixture.scripted().connections() === 2, 'the next try');
    expect(waitedS).toBeGreaterThanOrEqual(60);
    expect(waitedS).toBeLessThanOrEqual(301);
  });

  it.each([
    ['closed', (socket: Socket) => void socket.end()],
    ['reset', (socket: Socket) => void socket.resetAndDestroy()],
  ])(
    'suspects no takeover when each connection of 3.1.1 is %s soon and without a reason',
    async (how, end) => {
      const device = await play(
        (bytes, socket) => {
          if (packetType(bytes) !== CONNECT) return;
          if (levelOf(bytes) === 5) socket.end(Buffer.from([0x20, 2, 0, 1]));
          else socket.write(Buffer.from(CONNACK_4), () => setTimeout(() => end(socket), 20));
        },
        ...KEPT,
      );
      await passUntil(() => device.downs.length >= 5, 'five closes');
      expect(device.downs.every(({ problem }) => problem === 'unreachable')).toBe(true);
      const hint = 'does another client use the identifier "museum.kiosk-01"?';
      expect(device.downs[1]?.message).not.toContain(hint);
      if (how === 'closed') expect(device.downs[2]?.message).toContain(hint);
    },
  );

  it.each([
    [4, false, 60],
    [5, false, 60],
    [4, true, 9],
  ] as const)(
    'waits before the next try when a second client was proved (MQTT %s, urgent: %s)',
    async (level, isUrgent, leastS) => {
      const device = await play(
        (bytes, socket) => {
          if (packetType(bytes) !== CONNECT) return;
          if (level === 4 && levelOf(bytes) === 5) socket.end(Buffer.from([0x20, 2, 0, 1]));
          else socket.write(Buffer.from(level === 4 ? CONNACK_4 : CONNACK_5_KEPT));
        },
        ...KEPT,
      );
      await until(() => device.ups.length === 1, 'up');
      device.bus.disputed?.(true);
      device.bus.urgent(isUrgent);
      const tries = fixture.scripted().connections();
      fixture.scripted().cutAll();
      await until(() => device.downs.length === 1, 'down');
      const waitedS = await passUntil(() => fixture.scripted().connections() > tries, 'the next try');
      expect(waitedS).toBeGreaterThanOrEqual(leastS);
      expect(waitedS).toBeLessThanOrEqual(isUrgent ? 15 : 301);
    },
  );

  it('suspects no takeover when the broker has lost the session of MQTT 5', async () => {
    const device = await play(
      (bytes, socket) => {
        if (packetType(bytes) !== CONNECT) return;
        socket.write(Buffer.from(CONNACK_5), () => setTimeout(() => socket.end(), 20));
      },
      ...KEPT,
    );
    await passUntil(() => device.downs.length >= 5, 'five closes');
    expect(device.downs.every(({ problem }) => problem === 'unreachable')).toBe(true);
  });

  it('comes up without an optional filter that was refused, reports it first, and retries it', async () => {
    const asked: string[] = [];
    let isAllowed = false;
    const device = await play(
      (bytes, socket) => {
        if (packetType(bytes) === CONNECT) send(socket, ...CONNACK_5);
        if (packetType(bytes) !== SUBSCRIBE) return;
        const isFirst = bytes.includes('fine');
        asked.push(isFirst ? 'all' : 'the refused one');
        send(socket, ...suback5(bytes, ...(isFirst ? [1, 0x87] : [isAllowed ? 0 : 0x87])));
      },
      ['fine', { filter: 'secret/#', qos: 0, mayBeRefused: true }],
    );
    await until(() => device.ups.length === 1, 'up');
    expect(device.refused).toEqual([['secret/#']]);
    await passUntil(() => device.refused.length === 2, 'a second try');
    isAllowed = true;
    device.bus.urgent(true);
    const waitedS = await passUntil(() => device.refused.length === 3, 'a third try');
    expect(waitedS).toBeLessThanOrEqual(15);
    expect(device.refused).toEqual([['secret/#'], ['secret/#'], []]);
    expect(asked).toEqual(['all', 'the refused one', 'the refused one']);
    expect(device.downs).toEqual([]);
  });

  it('acknowledges a message that came before its subscriptions only after its delivery', async () => {
    const acknowledged: number[] = [];
    const device = await play(
      (bytes, socket, connection) => {
        if (packetType(bytes) === CONNECT) {
          send(socket, ...CONNACK_5);
          // The content of a kept session follows: topic "a/b", packet identifier 7, payload "x".
          send(socket, 0x32, 9, 0, 3, 0x61, 0x2f, 0x62, 0, 7, 0, 0x78);
        }
        if (packetType(bytes) === PUBACK) acknowledged.push(connection);
        if (packetType(bytes) === SUBSCRIBE && connection === 1) socket.destroy();
        else if (packetType(bytes) === SUBSCRIBE) send(socket, ...suback5(bytes, 1));
      },
      ['a/b'],
    );
    await passUntil(() => device.ups.length === 1, 'up');
    await until(() => acknowledged.length === 1, 'the acknowledgement');
    expect(acknowledged).toEqual([2]);
    expect(device.order).toEqual(['down unreachable', 'up 2', 'message a/b']);
  });
});
