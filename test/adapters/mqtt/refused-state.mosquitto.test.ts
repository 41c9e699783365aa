/** A real broker that refuses a topic in MQTT 5, and whose rules are corrected later: a whole agent, in virtual time. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from '../../device/fake-deps.ts';
import { needs } from '../../needs.ts';
import { createFence, type Fence } from './broker-fence.ts';
import { type Relay, startRelay } from './loopback-servers.ts';
import { findMosquitto, type Mosquitto, startMosquitto } from './mosquitto.ts';
import { createTestBuses } from './test-buses.ts';

const command = findMosquitto();
const RUN_AS_ROOT = process.getuid?.() === 0 ? ['user root'] : [];
const SLOW = { timeout: 20_000 };
const EVERYTHING = 'topic readwrite #\n';

if (command === null) {
  it('a refused state at mosquitto', needs('needs mosquitto'), () => {});
} else {
  describe('a state that mosquitto refuses', () => {
    let broker: Mosquitto;
    let relay: Relay;
    let fence: Fence;
    let world: FakeDeps;
    const witnesses = createTestBuses();

    beforeEach(async () => {
      broker = await startMosquitto(command, (folder) => {
        writeFileSync(join(folder, 'acl'), `topic deny ${BASE}/state\n${EVERYTHING}`);
        return [
          ...RUN_AS_ROOT,
          'set_tcp_nodelay true',
          'allow_anonymous true',
          `acl_file ${join(folder, 'acl')}`,
        ];
      });
      relay = await startRelay(broker.port);
      fence = await createFence(broker.url);
    });
    afterEach(async () => {
      const stopped = world.agent.stop();
      await passUntil(() => false, 12);
      await stopped;
      await witnesses.closeAll();
      await fence.close();
      await relay.close();
      await broker.close();
    });

    const passUntil = async (check: () => boolean, atMostS: number): Promise<number | null> => {
      for (let passedMs = 0; passedMs < atMostS * 1000; passedMs += 500) {
        if (check()) return passedMs / 1000;
        await world.clock.elapse(500);
        await fence.pass();
      }
      return check() ? atMostS : null;
    };
    const refusals = (): number =>
      world.logged.filter(([, sentence]) => sentence === 'a message to the owner was dropped').length;

    it.each([
      ['and all else is well', false],
      ['and the network cuts the connection', true],
    ])('is published within six minutes after it is allowed (%s)', async (_, isCut) => {
      world = createFakeDeps(testConfig({ start: 'command' }), {
        openBus: (options, listener) =>
          createMqttBus(
            { url: `mqtt://127.0.0.1:${relay.port}`, clientId: 'museum.kiosk-01' },
            { clock: world.clock, seed: 4711 },
          )(options, listener),
      });
      await world.agent.start();
      expect(await passUntil(() => refusals() > 0, 60)).not.toBeNull();
      if (isCut) relay.cut();
      await passUntil(() => false, 3);
      writeFileSync(join(broker.folder, 'acl'), EVERYTHING);
      broker.reload();
      const witness = witnesses.open(
        { url: broker.url, clientId: 'witness' },
        { subscriptions: [`${BASE}/state`] },
      );
      await expect.poll(() => witness.ups, SLOW).not.toEqual([]);
      expect(await passUntil(() => witness.messages.length > 0, 360)).not.toBeNull();
      expect(refusals()).toBeLessThanOrEqual(3);
    });
  });
}
