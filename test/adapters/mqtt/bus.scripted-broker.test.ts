/** Everything that a broker can do to us, byte by byte, in virtual time. */
import { describe, expect, it } from 'vitest';
import { until } from '../../until.ts';
import { startScriptedBroker } from './loopback-servers.ts';
import {
  CONNACK_4,
  CONNACK_5,
  CONNECT,
  levelOf,
  PINGREQ,
  PUBLISH,
  packetType,
  SUBSCRIBE,
  send,
  suback5,
  useScriptedBroker,
} from './scripted-broker.ts';
import type { OpenedBus } from './test-buses.ts';

describe('bus against a scripted broker', () => {
  const fixture = useScriptedBroker();
  const { play, passUntil, seen } = fixture;

  it('sends no largest packet size, because brokers then lose slots', async () => {
    const connects: Buffer[] = [];
    const device = await play((bytes, socket) => {
      if (packetType(bytes) !== CONNECT) return;
      connects.push(bytes);
      send(socket, ...CONNACK_5);
    });
    await until(() => device.ups.length === 1, 'up');
    expect(levelOf(connects[0] ?? Buffer.of())).toBe(5);
    // After the name, the level, the flags and the keep-alive: the length of all properties.
    expect(connects[0]?.[12]).toBe(0);
  });

  it('falls back to 3.1.1 at once when MQTT 5 is refused, and tries 5 again after an hour', async () => {
    const device = await play((bytes, socket) => {
      if (packetType(bytes) !== CONNECT) return;
      if (levelOf(bytes) === 5) socket.end(Buffer.from([0x20, 2, 0, 1]));
      else send(socket, ...CONNACK_4);
    });
    await until(() => device.ups.length === 1, 'up');
    expect(device.order).toEqual(['up 1']);
    expect(seen.map((connect) => connect.level)).toEqual([5, 4]);

    const again = await openAfterCut(device, 2);
    expect(again).toEqual([5, 4, 4]);
    fixture.clock().advance(3_600_000);
    expect(await openAfterCut(device, 3)).toEqual([5, 4, 4, 5, 4]);
    expect(device.ups.every((up) => up.protocol === 4)).toBe(true);
  });

  const openAfterCut = async (device: OpenedBus, up: number): Promise<number[]> => {
    fixture.scripted().cutAll();
    await until(() => device.downs.length === up - 1, 'down');
    await passUntil(() => device.ups.length === up, 'up again');
    return seen.map((connect) => connect.level);
  };

  /** A property of MQTT 5: the server reference. */
  const naming = (server: string): number[] => [0x1c, 0, server.length, ...Buffer.from(server)];

  it.each([0x9c, 0x9d])('names the other server when the broker refuses with reason %i', async (reason) => {
    const properties = naming('broker-2.example:8883');
    const device = await play((bytes, socket) => {
      if (packetType(bytes) !== CONNECT) return;
      send(socket, 0x20, 3 + properties.length, 0, reason, properties.length, ...properties);
    });
    await until(() => device.downs.length > 0, 'down');
    expect(device.downs[0]?.message).toMatch(/refused the connection: .*: broker-2\.example:8883$/);
  });

  it('names the other server when the broker disconnects with it, on one line without control characters', async () => {
    const properties = naming('other.example\u001b[2J');
    const device = await play((bytes, socket) => {
      if (packetType(bytes) !== CONNECT) return;
      send(socket, ...CONNACK_5);
      send(socket, 0xe0, 2 + properties.length, 0x9c, properties.length, ...properties);
    });
    await until(() => device.downs.length > 0, 'down');
    expect(device.downs[0]?.message).toContain('disconnected us');
    expect(device.downs[0]?.message).toContain('other.example');
    expect(device.downs[0]?.message).not.toContain('\u001b');
  });

  it('reconnects within 15 s when needed at once, even if an attempt hangs', async () => {
    let hangs = false;
    const device = await play((bytes, socket) => {
      if (packetType(bytes) === CONNECT && !hangs) send(socket, ...CONNACK_5);
    });
    await until(() => device.ups.length === 1, 'up');
    hangs = true;
    fixture.scripted().cutAll();
    await passUntil(() => device.downs.length >= 8, 'a long outage');
    device.bus.urgent(true);
    const hanging = fixture.scripted().connections();
    await passUntil(() => fixture.scripted().connections() > hanging, 'a try that hangs');
    hangs = false;
    const waitedS = await passUntil(() => device.ups.length === 2, 'up again');
    expect(waitedS).toBeLessThanOrEqual(15);
    expect(device.downs.at(-1)?.message).toMatch(/no answer/);
  });

  it.each([
    [false, 15],
    [true, 8],
  ])(
    'disconnects from a broker that does not answer the subscription, without `up` (urgent: %s)',
    async (isUrgent, withinS) => {
      const device = await play(
        (bytes, socket) => {
          if (packetType(bytes) === CONNECT) send(socket, ...CONNACK_5);
        },
        ['a/b'],
      );
      device.bus.urgent(isUrgent);
      const tookS = await passUntil(() => device.downs.length === 1, 'down');
      expect(tookS).toBeLessThanOrEqual(withinS + 1);
      expect(device.downs[0]?.message).toMatch(/does not answer the subscription/);
      expect(device.ups).toEqual([]);
    },
  );

  it('names the filter that the broker does not allow', async () => {
    const device = await play(
      (bytes, socket) => {
        if (packetType(bytes) === CONNECT) send(socket, ...CONNACK_5);
        if (packetType(bytes) === SUBSCRIBE) send(socket, ...suback5(bytes, 1, 0x87));
      },
      ['fine', 'secret/#'],
    );
    await until(() => device.downs.length === 1, 'down');
    expect(device.downs[0]).toMatchObject({ problem: 'refused' });
    expect(device.downs[0]?.message).toMatch(/subscribe to secret\/#$/);
  });

  it('subscribes to the plain filter when shared ones are refused', async () => {
    const filters: string[] = [];
    const device = await play(
      (bytes, socket) => {
        if (packetType(bytes) === CONNECT) send(socket, ...CONNACK_5);
        if (packetType(bytes) !== SUBSCRIBE) return;
        const filter = bytes.subarray(7, bytes.length - 1).toString();
        filters.push(filter);
        send(socket, ...suback5(bytes, filter.startsWith('$share') ? 0x9e : 1));
      },
      ['$share/group/p/+/req'],
    );
    await until(() => device.ups.length === 1, 'up');
    expect(filters).toEqual(['$share/group/p/+/req', 'p/+/req']);
  });

  it('drops a connection without acknowledgements, and sends again on the next', async () => {
    const published: number[] = [];
    const device = await play((bytes, socket, connection) => {
      if (packetType(bytes) === CONNECT) send(socket, ...CONNACK_5);
      if (packetType(bytes) === PUBLISH) published.push(connection);
      if (packetType(bytes) === PINGREQ) send(socket, 0xd0, 0);
    });
    await until(() => device.ups.length === 1, 'up');
    device.bus.publish('t', 'x');
    await until(() => published.length === 1, 'the message');
    await passUntil(() => device.downs.length === 1, 'down');
    expect(device.downs[0]?.message).toMatch(/acknowledges nothing/);
    device.bus.urgent(true);
    await passUntil(() => published.length === 2, 'the message again');
    expect(await passUntil(() => device.downs.length === 2, 'down again')).toBeLessThanOrEqual(9);
    await passUntil(() => device.bus.outbox.dropped === 1, 'giving up');
    expect(published).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('does not send a message larger than the broker allows', async () => {
    const device = await play((bytes, socket) => {
      // Maximum packet size 1000 (property 0x27).
      if (packetType(bytes) === CONNECT) send(socket, 0x20, 8, 0, 0, 5, 0x27, 0, 0, 3, 0xe8);
    });
    await until(() => device.ups.length === 1, 'up');
    device.bus.publish('t', 'x'.repeat(1000));
    expect(device.bus.outbox).toMatchObject({ dropped: 1, waiting: 0, inFlight: 0 });
  });

  it.each([
    ['garbage before CONNACK', false, [0xff, 0xff, 0xff, 0xff, 0xff]],
    ['garbage after CONNACK', true, [0xf3, 0x80, 0x80, 0x80, 0x80, 0x80]],
    ['a publish with a broken topic length', true, [0x30, 4, 0xff, 0xff, 1, 2]],
    ['a publish with broken properties', true, [0x30, 8, 0, 1, 0x61, 4, 0x7f, 1, 2, 3]],
    ['a second CONNACK', true, CONNACK_5],
    ['an acknowledgement of nothing, then the wrong kind', true, [0x40, 2, 0, 9, 0x90, 4, 0, 9, 0, 1, 0xff]],
  ])('ends only the connection on %s', async (_name, after, bytes) => {
    const device = await play((received, socket) => {
      if (packetType(received) !== CONNECT) return;
      send(socket, ...(after ? [...CONNACK_5, ...bytes] : bytes));
      setTimeout(() => socket.end(), 100);
    });
    await until(() => device.downs.length === 1, 'down');
    expect(device.downs[0]?.problem).toBe('unreachable');
    device.bus.publish('t', 'x');
    await passUntil(() => fixture.scripted().connections() >= 2, 'the next try');
  });

  it('survives random bytes from the broker', async () => {
    let state = 1;
    const next = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 16) & 0xff;
    };
    const device = await play((received, socket, connection) => {
      if (packetType(received) !== CONNECT) return;
      const noise = Array.from({ length: 1 + (next() % 40) }, next);
      socket.end(Buffer.from(connection % 2 === 0 ? noise : [...CONNACK_5, ...noise]));
    });
    await passUntil(() => device.downs.length >= 12, 'twelve endings');
  });

  it('explains in plain words why it cannot connect', async () => {
    await play(() => {});
    const secret = 'never-in-a-message';
    const open = (url: string, password: () => string): OpenedBus =>
      fixture.buses().open({ url, clientId: url, username: 'me', password });
    const cases = [
      open(await closedPort(), () => secret),
      open('mqtt://no-such-host.invalid:1', () => secret),
      open('mqtt://127.0.0.1:1', () => {
        throw new Error('there is no file /run/secret');
      }),
      open('nonsense', () => secret),
      open('mqtt://no-such-host.local', () => secret),
    ];
    await until(() => {
      fixture.clock().advance(10);
      return cases.every((device) => device.downs.length > 0);
    }, 'five failures');
    const messages = cases.map((device) => device.downs[0]?.message ?? '');
    expect(messages[0]).toMatch(/^cannot reach mqtt:\/\/127\.0\.0\.1:\d+: nothing listens there$/);
    expect(messages[1]).toMatch(/^cannot reach mqtt:\/\/no-such-host\.invalid:1: its name/);
    expect(messages[2]).toBe('the password for the broker cannot be read: there is no file /run/secret');
    expect(messages[3]).toBe('cannot reach the broker: Invalid URL (ERR_INVALID_URL)');
    expect(messages[4]).toMatch(/^cannot reach mqtt:\/\/no-such-host\.local: its name .*need multicast DNS/);
    expect(cases[2]?.downs[0]?.problem).toBe('refused');
    expect(messages.join()).not.toContain(secret);
  });
});

async function closedPort(): Promise<string> {
  const scripted = await startScriptedBroker(() => {});
  await scripted.close();
  return scripted.url;
}
