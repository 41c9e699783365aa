/** What shall be spoken is on no disk: neither of the backend nor of a real broker that stores what waits for a device. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type MqttClient } from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMosquitto, type Mosquitto, startMosquitto } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { type ConsoleFixture, consoleOfEachTest, PREFIX } from './console-on-loopback.ts';

const command = findMosquitto();
const RUN_AS_ROOT = process.getuid?.() === 0 ? ['user root'] : [];
const SPOKEN = 'the words that shall be spoken';
const TO = { devices: ['museum/a'] };
const SAY = { command: 'say', args: { text: SPOKEN, language: 'en' }, to: TO };

if (command === null) {
  it('what shall be spoken (skipped without mosquitto)', needs('needs mosquitto'), () => {});
} else {
  describe('what shall be spoken', () => {
    const { start } = consoleOfEachTest();
    let broker: Mosquitto;
    let fixture: ConsoleFixture;
    const received: { topic: string; qos: number; text: string }[] = [];
    let device: MqttClient;
    beforeEach(async () => {
      received.length = 0;
      broker = await startMosquitto(command, (folder) => [
        ...RUN_AS_ROOT,
        'allow_anonymous true',
        'persistence true',
        `persistence_location ${folder}/`,
      ]);
      device = await openDevice();
      fixture = await start({ broker }, ['ann', 'vic']);
      fixture.status('museum/a');
      await expect.poll(statusOfDevice).toBe('ready');
    });
    afterEach(async () => {
      await device.endAsync(true);
      await broker.close();
    });

    /** For which the broker keeps commands for ten minutes. */
    const openDevice = async (): Promise<MqttClient> => {
      const client = connect(broker.url, {
        clientId: 'museum.a',
        clean: false,
        protocolVersion: 5,
        properties: { sessionExpiryInterval: 600 },
      });
      // What waited comes at once with the connection.
      client.on('message', (topic, payload, { qos }) => {
        received.push({ topic: topic.slice(PREFIX.length + 1), qos, text: payload.toString() });
      });
      await new Promise((resolve) => client.once('connect', resolve));
      await client.subscribeAsync(`${PREFIX}/museum/a/cmd/+`, { qos: 1 });
      return client;
    };
    const statusOfDevice = async () => (await fixture.ask('vic', 'GET', '/api/devices')).json.rows[0]?.status;
    const stored = (): string => {
      broker.save();
      // The broker writes mosquitto.db.new, and renames it when it is whole.
      const file = join(broker.folder, 'mosquitto.db');
      return existsSync(file) ? readFileSync(file, 'latin1') : '';
    };
    const answerTo = async (id: string) => (await fixture.ask('vic', 'GET', `/api/jobs/${id}`)).json;

    it.each(['lost', 'offline'])(
      'is not sent to a device that is %s, nor when it returns',
      async (status) => {
        await device.endAsync();
        fixture.status('museum/a', status);
        await expect.poll(statusOfDevice).toBe(status);
        const { json } = await fixture.ask('ann', 'POST', '/api/commands', SAY);
        await expect
          .poll(() => answerTo(json.job.id))
          .toMatchObject({
            job: { counts: { error: 1 }, endedAt: expect.any(String) },
            devices: [
              { code: 'not_connected', message: expect.stringMatching(/not connected.*send it again/) },
            ],
          });
        // Any other command waits for it at the broker, on its disk.
        await fixture.ask('ann', 'POST', '/api/commands', { command: 'mute', to: TO });
        await until(() => stored().includes('cmd/mute'), 'the command in the store');
        expect(stored()).not.toContain(SPOKEN);
        device = await openDevice();
        await until(() => received.length > 0, 'what waited');
        fixture.status('museum/a', 'ready');
        await fixture.ask('ann', 'POST', '/api/commands', { command: 'unmute', to: TO });
        await until(() => received.some(({ topic }) => topic.endsWith('unmute')), 'the next command');
        expect(received.map(({ topic }) => topic)).toEqual(['museum/a/cmd/mute', 'museum/a/cmd/unmute']);
      },
    );

    it('reaches a connected device with QoS 0, is not kept for one that the broker takes for connected', async () => {
      const { json } = await fixture.ask('ann', 'POST', '/api/commands', SAY);
      await until(() => received.length === 1, 'the command');
      expect(received[0]).toMatchObject({ topic: 'museum/a/cmd/say', qos: 0 });
      expect(received[0]?.text).toContain(SPOKEN);
      fixture.say('museum/a', 'cmd/say/res', { ts: null, id: json.job.id, status: 'ok' }, false);
      await expect.poll(async () => (await answerTo(json.job.id)).job.counts.ok).toBe(1);

      // It is away, and its status does not say so yet.
      await device.endAsync();
      await fixture.ask('ann', 'POST', '/api/commands', SAY);
      await fixture.ask('ann', 'POST', '/api/commands', { command: 'mute', to: TO });
      await until(() => stored().includes('cmd/mute'), 'the command in the store');
      expect(stored()).not.toContain(SPOKEN);
      device = await openDevice();
      await until(() => received.length === 2, 'what waited');
      expect(received[1]).toMatchObject({ topic: 'museum/a/cmd/mute', qos: 1 });
    });
  });
}
