/** A broker whose documents come late. */
import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedBroker, startScriptedBroker } from '../../adapters/mqtt/loopback-servers.ts';
import {
  bodyOf,
  CONNACK_5,
  CONNECT,
  countFilters,
  PUBLISH,
  packets,
  packetType,
  SUBSCRIBE,
  send,
} from '../../adapters/mqtt/scripted-broker.ts';
import { ctlOfEachTest } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest();
const DESIRED = 'dragoman/v1/museum/kiosk-01/config/desired';
const MARKER = 'dragoman/v1/museum/backend/config/desired';
const KEPT = { version: 7, lanes: [{ id: 'main', volume: 70 }] };

/** A PUBLISH with QoS 0 of up to 16 kB. */
function publishOf(topic: string, payload: string, isRetained: boolean): number[] {
  const bytes = [0, topic.length, ...Buffer.from(topic), 0, ...Buffer.from(payload)];
  return [0x30 | Number(isRetained), 0x80 | (bytes.length & 0x7f), bytes.length >> 7, ...bytes];
}

describe('dragoman ctl config set', () => {
  let broker: ScriptedBroker;
  afterEach(() => broker.close());
  /** @param sendsDocument at the first message of the client, and not before */
  const start = async (sendsDocument: boolean) => {
    const documents: { version: number; lanes: unknown }[] = [];
    broker = await startScriptedBroker((bytes, socket) => {
      for (const packet of packets(bytes)) {
        const body = bodyOf(packet);
        const type = packetType(packet);
        if (type === CONNECT) send(socket, ...CONNACK_5);
        if (type === SUBSCRIBE) {
          const granted = Array.from({ length: countFilters(body) }, () => 1);
          send(socket, 0x90, 3 + granted.length, body[0] ?? 0, body[1] ?? 0, 0, ...granted);
        }
        if (type !== PUBLISH) continue;
        const end = 2 + body.readUInt16BE(0);
        send(socket, 0x40, 2, body[end] ?? 0, body[end + 1] ?? 0);
        const topic = body.subarray(2, end).toString();
        const payload = body.subarray(end + 3).toString();
        if (topic === DESIRED) documents.push(JSON.parse(payload));
        if (topic !== MARKER || !sendsDocument) continue;
        send(socket, ...publishOf(DESIRED, JSON.stringify(KEPT), true));
        send(socket, ...publishOf(MARKER, payload, false));
      }
    });
    ctl.writeProfiles({ profiles: { museum: { url: broker.url, tenant: 'museum' } } });
    return { documents, ran: await ctl.run('kiosk-01', 'config', 'set', 'main.voice=ann', '--new') };
  };

  it('adds to a document that comes later than any pause', async () => {
    const { documents } = await start(true);
    expect(documents).toMatchObject([{ version: 8, lanes: [{ id: 'main', volume: 70, voice: 'ann' }] }]);
  });

  it('changes nothing when it is not certain which document there is', async () => {
    const { documents, ran } = await start(false);
    expect(documents).toEqual([]);
    expect(ran).toMatchObject({ exitCode: 4, printed: '' });
    expect(ran.complained).toMatch(/nothing was changed: the broker has not sent/);
  });
});
