/** Whether the doctor tells that a device reaches the topics of others. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { findMosquitto, findOpenssl, startMosquitto } from '../../adapters/mqtt/fixture.ts';
import { type DeviceLogin, type Form, setUpBroker } from '../../backend/broker/fixture.ts';
import { createDoctorFixture } from './fixture.ts';

const mosquitto = findMosquitto();
const fixture = createDoctorFixture();
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
  it.skip('isolation: mosquitto is not installed', () => {});
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

  describe('the doctor', { timeout: 60_000 }, () => {
    it('warns where the broker lets a device do everything', async () => {
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

    it('warns where it may only publish', async () => {
      const { url } = await start([OWN, 'topic write dragoman/#']);
      expect(await examine({ url })).toMatchObject({
        verdict: 'warning',
        finding: expect.stringContaining('lets this device publish on topics'),
      });
    });

    it('warns where it may only receive', async () => {
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

    it('is content where a device has its own topics only', async () => {
      const { url } = await start([OWN]);
      expect(await examine({ url })).toMatchObject({ verdict: 'ok', fix: null });
    });

    const SET_UPS: readonly (readonly [Form, DeviceLogin])[] = [
      ['dynsec', 'password'],
      ['acl', 'certificate'],
    ];
    it.skipIf(!findOpenssl()).each(SET_UPS)('is content with "broker init" (%s, %s)', async (form, login) => {
      const broker = await setUpBroker(form, login);
      running.push(broker);
      await broker.start();
      const at = (name: string): string => join(broker.login('museum.kiosk-01'), name);
      const credential =
        login === 'password'
          ? { passwordFile: at('mqtt-password') }
          : { certFile: at('mqtt.crt'), keyFile: at('mqtt.key') };
      const url = `mqtts://127.0.0.1:${broker.devicePort}`;
      const mqtt = { url, username: 'museum.kiosk-01', caFile: at('broker-ca.crt'), ...credential };
      expect(await examine(mqtt)).toMatchObject({
        verdict: 'ok',
        data: { published: 'refused', devices_heard: 0, came_back: false },
      });
      const whole = await fixture.examine(fixture.config(`set-up-${names++}`, { mqtt }), [
        '--only',
        'broker',
      ]);
      expect(whole.of('broker').verdict).toBe('ok');
    });
  });
}

it('the doctor says what keeps it from the broker', async () => {
  const finding = expect.stringContaining('127.0.0.1');
  expect(await examine({ url: 'mqtt://127.0.0.1:1' })).toMatchObject({ verdict: 'problem', finding });
});
