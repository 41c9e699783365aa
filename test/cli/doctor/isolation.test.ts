/** The doctor detects that a device can access the topics of others. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { tryForeignTopics } from '../../../src/device/doctor/checks/isolation/foreign-topics.ts';
import { findMosquitto, findOpenssl, startMosquitto } from '../../adapters/mqtt/mosquitto.ts';
import { type DeviceLogin, type Form, setUpBroker } from '../../backend/broker/set-up-broker.ts';
import { needs } from '../../needs.ts';
import { createConsultation } from './consultation.ts';

const mosquitto = findMosquitto();
const fixture = createConsultation();
const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});
afterAll(() => fixture.close());

let names = 0;
const examine = async (mqtt: Record<string, unknown>) => {
  const file = fixture.config(`isolation-${names++}`, { mqtt });
  return (await fixture.examine(file, ['--only', 'isolation'])).of('isolation');
};

if (mosquitto === null) {
  it('isolation', needs('needs mosquitto'), () => {});
} else {
  const start = async (rules: readonly string[]) => {
    const broker = await startMosquitto(mosquitto, (folder) => {
      writeFileSync(join(folder, 'acl'), `${rules.join('\n')}\n`);
      const user = process.getuid?.() === 0 ? ['user root'] : [];
      return [...user, 'allow_anonymous true', `acl_file ${join(folder, 'acl')}`];
    });
    running.push(broker);
    return broker;
  };
  const OWN = 'topic readwrite dragoman/v1/museum/kiosk-01/#';

  describe('the doctor', () => {
    it('warns when the broker allows a device everything', async () => {
      const { url } = await start(['topic readwrite #']);
      const other = await connectAsync(url);
      await other.publishAsync('dragoman/v1/museum/kiosk-02/status', '{}', { qos: 1, retain: true });
      await other.endAsync();
      expect(await examine({ url })).toMatchObject({
        verdict: 'warning',
        finding: expect.stringContaining('publish and receive on topics of other devices'),
        fix: expect.stringContaining('broker init'),
        data: { published: 'taken', subscribed: 'granted', came_back: true, devices_heard: 1 },
      });
    });

    it('warns when the device may publish to other topics', async () => {
      const { url } = await start([OWN, 'topic write dragoman/#']);
      expect(await examine({ url })).toMatchObject({
        verdict: 'warning',
        finding: expect.stringContaining('lets this device publish on topics'),
      });
    });

    it('warns when the device may receive other topics', async () => {
      const { url } = await start([OWN, 'topic read dragoman/#', 'user other', 'topic readwrite #']);
      const other = await connectAsync(url, { username: 'other' });
      for (const device of ['kiosk-01', 'kiosk-02', 'kiosk-03'])
        await other.publishAsync(`dragoman/v1/museum/${device}/status`, '{}', { qos: 1, retain: true });
      await other.endAsync();
      expect(await examine({ url })).toMatchObject({
        verdict: 'warning',
        finding: expect.stringContaining('lets this device receive on topics'),
        data: { published: 'refused', devices_heard: 2 },
      });
    });

    it('reports ok when a device can access only its own topics', async () => {
      const { url } = await start([OWN]);
      expect(await examine({ url })).toMatchObject({ verdict: 'ok', fix: null });
    });

    // Not with the command line: another agent on this machine would change the checks.
    const SET_UPS: readonly (readonly [Form, DeviceLogin])[] = [
      ['dynsec', 'password'],
      ['acl', 'certificate'],
    ];
    it.each(SET_UPS)(
      'is refused by "broker init" (%s, %s)',
      needs(!findOpenssl() && 'needs openssl'),
      async (form, login) => {
        const broker = await setUpBroker(form, login);
        running.push(broker);
        await broker.start();
        const read = (name: string): Buffer => readFileSync(join(broker.login('museum.kiosk-01'), name));
        const clientId = 'museum.kiosk-01';
        const credential =
          login === 'password'
            ? { password: () => read('mqtt-password').toString() }
            : { cert: read('mqtt.crt'), key: read('mqtt.key') };
        const own = {
          url: `mqtts://127.0.0.1:${broker.devicePort}`,
          clientId,
          username: clientId,
          ca: read('broker-ca.crt'),
          ...credential,
        };
        const facts = await tryForeignTopics({
          clock: createSystemClock(),
          address: { prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' },
          absentDevice: 'doctor-4711',
          connections: [{ ...own, clientId: `${clientId}.doctor` }, own],
        });
        expect(facts).toMatchObject({ published: 'refused', devicesHeard: 0, cameBack: false });
        expect(facts?.subscribed).toBe(form === 'dynsec' ? 'refused' : 'granted');
      },
    );
  });
}

it('the doctor reports why it cannot reach the broker', async () => {
  const finding = expect.stringContaining('127.0.0.1');
  expect(await examine({ url: 'mqtt://127.0.0.1:1' })).toMatchObject({ verdict: 'problem', finding });
});
