import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../../src/adapters/clock.ts';
import { createBrokerConnection } from '../../../../../src/device/doctor/checks/broker/broker-connection.ts';
import type { AgentLink } from '../../../../../src/device/doctor/checks/broker/login-rules.ts';
import { deviceTopics } from '../../../../../src/protocol/mqtt/topics.ts';
import { type ScriptedBroker, startScriptedBroker } from '../../../../adapters/mqtt/loopback-servers.ts';
import { testConfig } from '../../../fake-deps.ts';

const TOPICS = deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' });
const ACCEPTED = [0x20, 3, 0, 0, 0];
const BAD_IDENTIFIER = 0x85;
/** Connect flags: a retained will with QoS 1, without user and password, and no clean start. */
const AS_THE_AGENT = 0b0010_1100;
const NOT_AUTHORISED = 0x87;

const flags: number[] = [];

let scripted: ScriptedBroker | null = null;
let close = async (): Promise<void> => {};
afterEach(async () => {
  flags.length = 0;
  await close();
  await scripted?.close();
  scripted = null;
});

/** A broker that checks client ids and topic filters. */
async function startBroker(options: {
  accepts?: (clientId: string) => boolean;
  allows?: (filter: string) => boolean;
  refusal?: number;
}): Promise<string[]> {
  const clients: string[] = [];
  const { accepts = () => true, allows = () => true, refusal = BAD_IDENTIFIER } = options;
  const send = (socket: Socket, bytes: number[]): void => void socket.write(Buffer.from(bytes));
  scripted = await startScriptedBroker((bytes, socket) => {
    const type = (bytes[0] ?? 0) & 0xf0;
    // After the fixed header; its length takes a second byte from 128 on.
    const body = bytes.subarray((bytes[1] ?? 0) < 0x80 ? 2 : 3);
    if (type === 0x10) {
      const propertiesLength = body[10] ?? 0;
      const at = 11 + propertiesLength;
      const id = body.subarray(at + 2, at + 2 + body.readUInt16BE(at)).toString();
      clients.push(id);
      flags.push(body[7] ?? 0);
      if (accepts(id)) send(socket, ACCEPTED);
      else socket.end(Buffer.from([0x20, 3, 0, refusal, 0]));
    }
    if (type === 0x80) {
      const granted: number[] = [];
      for (let at = 3; at + 2 < body.length; ) {
        const length = body.readUInt16BE(at);
        granted.push(allows(body.subarray(at + 2, at + 2 + length).toString()) ? 1 : NOT_AUTHORISED);
        at += length + 3;
      }
      send(socket, [0x90, 3 + granted.length, body[0] ?? 0, body[1] ?? 0, 0, ...granted]);
    }
  });
  return clients;
}

async function join(agent: AgentLink, beforeLogin = async (): Promise<void> => {}) {
  const url = scripted?.url ?? '';
  const connection = createBrokerConnection({
    beforeLogin,
    certificate: async () => null,
    config: testConfig({}, { mqtt: { url } }),
    topics: TOPICS,
    clock: createSystemClock(),
    agent,
    connection: async () => ({ url, clientId: 'museum.kiosk-01' }),
    hear: () => {},
  });
  close = connection.close;
  return connection.join();
}

describe('the connection to the broker', () => {
  it('is opened under a client id of its own', async () => {
    const clients = await startBroker({});
    expect((await join('unknown')).outcome).toMatchObject({ verdict: 'ok', data: { login_as: 'doctor' } });
    expect(clients).toEqual(['museum.kiosk-01.doctor']);
    expect(flags).toEqual([AS_THE_AGENT]);
  });

  it('is opened after what else logs in with this name, because the broker may allow one client', async () => {
    const clients = await startBroker({});
    const before: number[] = [];
    await join('absent', async () => void before.push(clients.length));
    expect([before, clients]).toEqual([[0], ['museum.kiosk-01.doctor']]);
  });

  it.each<[number, RegExp]>([
    [0x86, /mqtt\.username/],
    [0x87, /to publish its status/],
    [0x8a, /banned/],
    [0x9a, /retain_available/],
    [0x9b, /max_qos/],
  ])('is a problem with its cause when the broker refuses it with reason %i', async (refusal, fix) => {
    await startBroker({ accepts: () => false, refusal });
    for (const agent of ['absent', 'unknown', { fails: 'refused' }] as const)
      expect((await join(agent)).outcome).toMatchObject({
        verdict: 'problem',
        fix: expect.stringMatching(fix),
        data: { login: 'refused', code: refusal },
      });
  });

  it("uses the device's client id when the broker accepts no other and no agent runs", async () => {
    const clients = await startBroker({ accepts: (id) => id === 'museum.kiosk-01' });
    expect((await join('absent')).outcome).toMatchObject({ verdict: 'ok', data: { login_as: 'device' } });
    expect(clients).toEqual(['museum.kiosk-01.doctor', 'museum.kiosk-01']);
  });

  it("never uses the device's client id while an agent runs, or may run", async () => {
    const clients = await startBroker({ accepts: (id) => id === 'museum.kiosk-01' });
    const { outcome, bus } = await join('unknown');
    expect(clients).toEqual(['museum.kiosk-01.doctor']);
    expect(bus).toBeNull();
    expect(outcome).toMatchObject({ verdict: 'problem', fix: expect.stringContaining('"diagnose"') });
  });

  it('names the topics that the broker refuses', async () => {
    await startBroker({ allows: (filter) => !filter.endsWith('/cmd/+') });
    const { outcome } = await join('absent');
    expect(outcome).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('dragoman/v1/museum/kiosk-01/cmd/+, dragoman/v1/museum/all/cmd/+'),
      fix: expect.stringContaining('access list (client "museum.kiosk-01")'),
    });
  });

  it('is not attempted with an unusable file', async () => {
    const connection = createBrokerConnection({
      beforeLogin: async () => {},
      certificate: async () => null,
      config: testConfig(),
      topics: TOPICS,
      clock: createSystemClock(),
      agent: 'absent',
      connection: async () => {
        throw new Error('mqtt.caFile: the file ca.pem cannot be read (EACCES)');
      },
      hear: () => {},
    });
    expect((await connection.join()).outcome).toMatchObject({
      verdict: 'problem',
      finding: 'mqtt.caFile: the file ca.pem cannot be read (EACCES)',
    });
    await connection.close();
  });
});
