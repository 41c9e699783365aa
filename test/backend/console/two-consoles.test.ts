/** Two backends with one broker and one store. */
import { afterEach, expect, it } from 'vitest';
import { startBroker } from '../../../src/cli/demo/broker.ts';
import { onBothStores } from '../store/both-stores.ts';
import { PASSWORD as STORE_PASSWORD } from '../store/postgres-server.ts';
import { type ConsoleFixture, startConsoleFixture } from './console-on-loopback.ts';

const ROUNDS = 4;

onBothStores((maker) => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  it.each([
    ['of a device', { device: 'museum/a' }],
    ['of a group', { tenant: 'museum', group: 'lobby' }],
  ])('let one of two people who change the configuration %s at the same time', async (_, target) => {
    const broker = await startBroker();
    closing.push(() => broker.close());
    const { config } = await maker.make();
    const open = async (): Promise<ConsoleFixture> => {
      const fixture = await startConsoleFixture({ broker, store: config, storePassword: STORE_PASSWORD });
      closing.push(() => fixture.close());
      await fixture.signIn('ann');
      return fixture;
    };
    const consoles = [await open(), await open()];
    consoles[0]?.status('museum/a');
    for (const one of consoles)
      await expect.poll(async () => (await one.ask('ann', 'GET', '/api/devices')).json.total).toBe(1);
    for (let version = 0; version < ROUNDS; version += 1) {
      const answers = await Promise.all(
        consoles.map((one) =>
          one.ask('ann', 'POST', '/api/config', { target, basedOn: version, document: {} }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });
});
