/** Brokers that end a connection at MQTT 5 without an answer, and the memory of those that have accepted it. */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { createVersionMemory, type VersionMemory } from '../../../src/adapters/mqtt/version-memory.ts';
import type { StateFound, StateReading } from '../../../src/ports/state-file.ts';
import type { MqttVersion } from '../../../src/protocol/common/setting-values.ts';
import { until } from '../../until.ts';
import {
  CONNACK_4,
  CONNACK_5,
  CONNECT,
  levelOf,
  packetType,
  send,
  useScriptedBroker,
} from './scripted-broker.ts';
import { createRecordingListener } from './test-buses.ts';

const DAY_MS = 86_400_000;
const close = (socket: Socket): void => void socket.end();
const reset = (socket: Socket): void => void socket.resetAndDestroy();

describe('the version of MQTT', () => {
  const fixture = useScriptedBroker();
  const { passUntil, seen } = fixture;
  const levels = (): number[] => seen.map(({ level }) => level);
  const opened: { close: () => Promise<void> }[] = [];

  /** A broker with this answer to each CONNECT, and a bus. The scripted broker counts the connections of both. */
  const play = async (
    answer: (level: number, socket: Socket, connection: number) => void,
    { versions, version }: { versions?: VersionMemory; version?: MqttVersion } = {},
  ) => {
    let first = 0;
    const probe = await fixture.play((bytes, socket, connection) => {
      if (packetType(bytes) !== CONNECT) return;
      if (first === 0) {
        first = connection;
        return send(socket, ...CONNACK_5);
      }
      answer(levelOf(bytes), socket, connection);
    });
    await until(() => probe.ups.length === 1, 'the first bus');
    await probe.bus.close();
    seen.length = 0;
    const { heard, listener } = createRecordingListener();
    const connection = {
      url: fixture.scripted().url,
      clientId: 'museum.kiosk-01',
      ...(version !== undefined && { version }),
    };
    const bus = createMqttBus(connection, {
      clock: fixture.clock(),
      seed: 1,
      other: () => connection,
      ...(versions !== undefined && { versions }),
    })({ subscriptions: [], will: null }, listener);
    opened.push(bus);
    return { bus, ...heard };
  };

  it.each([
    ['closes', close],
    ['resets', reset],
  ])('becomes 3.1.1 at once when a broker %s the third connection without a byte', async (_, end) => {
    const device = await play((level, socket) => (level === 5 ? end(socket) : send(socket, ...CONNACK_4)));
    await until(() => device.ups.length === 1, 'up');
    expect(levels()).toEqual([5, 5, 5, 4]);
    expect(device.order).toEqual(['up 1']);
    expect(device.ups[0]?.protocol).toBe(4);
    await device.bus.close();
  });

  it('is 3.1.1 for a day, and is then found again', async () => {
    const device = await play((level, socket) => (level === 5 ? close(socket) : send(socket, ...CONNACK_4)));
    await until(() => device.ups.length === 1, 'up');
    const reconnect = async (count: number): Promise<void> => {
      seen.length = 0;
      device.bus.reconnect();
      await passUntil(() => device.ups.length === count, 'up again', 1);
    };
    fixture.clock().advance(DAY_MS - 60_000);
    await passUntil(() => device.bus.connected, 'up');
    await reconnect(device.ups.length + 1);
    expect(levels()).toEqual([4]);
    fixture.clock().advance(60_000);
    await reconnect(device.ups.length + 1);
    expect(levels()).toEqual([5, 5, 5, 4]);
    await device.bus.close();
  });

  it('is 5 again when 3.1.1 is not accepted either', async () => {
    const device = await play((_, socket) => close(socket));
    await passUntil(() => device.downs.length === 2, 'two reports');
    expect(levels()).toEqual([5, 5, 5, 4, 5, 5, 5, 4]);
    await device.bus.close();
  });

  it('stays 5 when another ending comes between three silent ones', async () => {
    const device = await play((level, socket, connection) => {
      // The fourth connection is refused with "server busy".
      if (connection === 4) send(socket, 0x20, 3, 0, 0x89, 0);
      else if (connection < 7) close(socket);
      else send(socket, ...(level === 5 ? CONNACK_5 : CONNACK_4));
    });
    await passUntil(() => device.ups.length === 1, 'up');
    // Two silent ones, the refusal, and two silent ones: never three in a row.
    expect(levels()).toEqual([5, 5, 5, 5, 5, 5]);
    await device.bus.close();
  });

  it('stays 5 at a broker that has ever accepted it, also after a restart', async () => {
    const file = memoryFile();
    const versions = createVersionMemory(file);
    const device = await play(
      (level, socket, connection) => {
        if (connection === 2 && level === 5) send(socket, ...CONNACK_5);
        else close(socket);
      },
      { versions },
    );
    await until(() => device.ups.length === 1, 'up');
    fixture.scripted().cutAll();
    await passUntil(() => device.downs.length >= 8, 'eight failures');
    expect(new Set(levels())).toEqual(new Set([5]));
    expect(file.texts).toHaveLength(1);

    seen.length = 0;
    const { heard, listener } = createRecordingListener();
    const again = createMqttBus(
      { url: fixture.scripted().url, clientId: 'x' },
      { clock: fixture.clock(), seed: 1, versions: createVersionMemory(file) },
    )({ subscriptions: [], will: null }, listener);
    await device.bus.close();
    seen.length = 0;
    await passUntil(() => heard.downs.length >= 5, 'five failures');
    expect(new Set(levels())).toEqual(new Set([5]));
    await again.close();
  });

  it('stays 5 when the broker says a byte, or never ends the connection', async () => {
    const device = await play((_, socket, connection) => {
      if (connection % 2 === 0) socket.end(Buffer.of(0x20));
    });
    await passUntil(() => device.downs.length >= 6, 'six failures');
    expect(new Set(levels())).toEqual(new Set([5]));
    await device.bus.close();
  });

  it('stays 5 when this side ends the attempt three times', async () => {
    const device = await play((level, socket, connection) => {
      if (connection > 5) send(socket, ...(level === 5 ? CONNACK_5 : CONNACK_4));
    });
    for (const connection of [2, 3, 4, 5]) {
      await until(() => fixture.scripted().connections() === connection, 'an attempt');
      await until(() => seen.length === connection - 1, 'its CONNECT');
      device.bus.reconnect();
    }
    await until(() => device.ups.length === 1, 'up');
    expect(levels()).toEqual([5, 5, 5, 5, 5]);
    await device.bus.close();
  });

  it.each([
    [5, [5, 5, 5, 5, 5]],
    [4, [4, 4, 4, 4, 4]],
  ] as const)('is always %i when the operator sets it', async (version, expected) => {
    const device = await play((_, socket) => close(socket), { version });
    await passUntil(() => device.downs.length === 5, 'five failures');
    expect(levels().slice(0, 5)).toEqual(expected);
    await device.bus.close();
  });

  it.each([
    [5, 'MQTT 5'],
    [4, 'MQTT 3.1.1'],
  ] as const)('is named when the broker refuses the only one that is allowed (%i)', async (version, name) => {
    const device = await play((_, socket) => void socket.end(Buffer.from([0x20, 2, 0, 1])), { version });
    await until(() => device.downs.length === 1, 'down');
    expect(device.downs[0]?.problem).toBe('refused');
    expect(device.downs[0]?.message).toContain(
      `does not speak ${name}, the only version that mqtt.version allows`,
    );
    expect(levels()).toEqual([version]);
    await device.bus.close();
  });

  it('is found also when a connection to another broker is tried beside the present one', async () => {
    let isOld = false;
    const device = await play(
      (level, socket) => {
        if (isOld && level === 5) close(socket);
        else send(socket, ...(level === 5 ? CONNACK_5 : CONNACK_4));
      },
      { versions: { ...createVersionMemory(), hasAccepted5: () => false } },
    );
    await until(() => device.ups.length === 1, 'up');
    isOld = true;
    const results: (string | null)[] = [];
    device.bus.attempt?.({ topic: 't', payload: '', retain: false }, (problem) => results.push(problem));
    await passUntil(() => results.length === 1, 'the result');
    expect(results).toEqual([null]);
    expect(levels()).toEqual([5, 5, 5, 5, 4]);
    await device.bus.close();
  });
});

describe('the memory of versions', () => {
  it('takes any broker for one with MQTT 5 until the disk has answered', () => {
    let answer: (found: StateFound) => void = () => {};
    const file = memoryFile({
      kind: 'awaited',
      isOverdue: true,
      whenFound: (callback) => {
        answer = callback;
      },
    });
    const versions = createVersionMemory(file);
    versions.noteAccepted5('mqtts://b');
    expect(versions.hasAccepted5('mqtts://c')).toBe(true);
    expect(file.texts).toEqual([]);
    answer({ kind: 'text', text: '{"version":1,"accepted5":["mqtts://a"]}' });
    expect(['a', 'b', 'c'].map((name) => versions.hasAccepted5(`mqtts://${name}`))).toEqual([
      true,
      true,
      false,
    ]);
    expect(file.texts).toEqual(['{"version":1,"accepted5":["mqtts://b","mqtts://a"]}\n']);
  });

  it.each(['', 'nonsense', '{"version":2,"accepted5":["mqtts://a"]}', '{"version":1,"accepted5":[7]}'])(
    'knows nothing when the file holds %j',
    (text) => {
      const versions = createVersionMemory(memoryFile({ kind: 'text', text }));
      expect(versions.hasAccepted5('mqtts://a')).toBe(false);
    },
  );

  it('writes each broker once, and forgets the oldest of nine', () => {
    const file = memoryFile();
    const versions = createVersionMemory(file);
    for (let at = 0; at < 9; at += 1) {
      versions.noteAccepted5(`mqtts://b${at}`);
      versions.noteAccepted5(`mqtts://b${at}`);
    }
    expect(file.texts).toHaveLength(9);
    const later = createVersionMemory(file);
    expect(later.hasAccepted5('mqtts://b0')).toBe(false);
    expect(later.hasAccepted5('mqtts://b1')).toBe(true);
  });
});

function memoryFile(first: StateReading = { kind: 'none' }) {
  const texts: string[] = [];
  return {
    texts,
    read: (): StateReading => {
      const last = texts.at(-1);
      return last === undefined ? first : { kind: 'text', text: last };
    },
    write: (text: string) => {
      texts.push(text);
      return Promise.resolve({ ok: true } as const);
    },
  };
}
