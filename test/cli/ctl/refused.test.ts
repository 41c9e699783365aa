import { expect, it } from 'vitest';
import { startScriptedBroker } from '../../adapters/mqtt/loopback-servers.ts';
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
const NOT_AUTHORIZED = 0x87;

it('names the role when the broker refuses a command', async () => {
  const broker = await startScriptedBroker((bytes, socket) => {
    for (const packet of packets(bytes)) {
      const body = bodyOf(packet);
      const type = packetType(packet);
      if (type === CONNECT) send(socket, ...CONNACK_5);
      if (type === SUBSCRIBE) {
        const granted = Array.from({ length: countFilters(body) }, () => 1);
        send(socket, 0x90, 3 + granted.length, body[0] ?? 0, body[1] ?? 0, 0, ...granted);
      }
      if (type === PUBLISH) {
        const id = 2 + body.readUInt16BE(0);
        send(socket, 0x40, 3, body[id] ?? 0, body[id + 1] ?? 0, NOT_AUTHORIZED);
      }
    }
  });
  ctl.writeProfiles({ profiles: { museum: { url: broker.url, tenant: 'museum' } } });
  const ran = await ctl.run('kiosk-01', 'reboot');
  await broker.close();
  expect(ran).toMatchObject({ exitCode: 1, printed: '' });
  expect(ran.complained).toMatch(/the broker rejected the message: .*not authorized/i);
  expect(ran.complained).toContain('the role of this login does not allow "reboot"');
  expect(ran.complained).not.toContain('check the profile');
});
