/** Two backends over a real broker and the emulator, with one store of each kind. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { until } from '../../until.ts';
import {
  errorOf,
  type Fixture,
  type FixtureOptions,
  fixtureOfEachTest,
  sessionOf,
  startFixture,
} from '../backend-on-loopback.ts';
import { type Database, onBothStores } from './both-stores.ts';
import { PASSWORD } from './postgres-server.ts';

const LIMITS = { createsPerSecond: 200, concurrency: 64, pendingSessions: 1000 };
const PLAIN = { mqtt: { shareGroup: 'one' } };

onBothStores((maker) => {
  const { start, sessionsAtService } = fixtureOfEachTest();
  const optionsOf = ({ openStore }: Database, more: object = {}): FixtureOptions => ({
    // A busy machine must not look like a service that does not answer.
    ...{
      serviceTimeout: 60,
      store: openStore,
      config: { limits: LIMITS, session: { expiresInSeconds: 300 }, ...more },
    },
  });
  /** A second backend beside the one of a fixture. In a group of its own it hears every request, too. */
  const startSecond = (first: Fixture, options: FixtureOptions, hearsAll: boolean): Promise<Fixture> =>
    startFixture({
      ...{ brokerUrl: first.brokerUrl, serviceUrl: first.emulator?.url ?? '' },
      ...options,
      config: { ...options.config, mqtt: { url: first.brokerUrl, ...(hearsAll && PLAIN.mqtt) } },
    });
  const unused = () => sessionsAtService().filter(({ revoked }) => !revoked);

  it('make one session for each request when both hear it', async () => {
    const options = optionsOf(await maker.make());
    const first = await start(options);
    const second = await startSecond(first, options, true);
    const devices = Array.from({ length: 20 }, (_, index) => `kiosk-${index}`);
    await Promise.all(devices.map((device) => first.ask(device, 'r1')));
    // The other backend answers with the same session. On a machine that stands still for a whole lease it takes over instead,
    // and the first backend revokes the session that it has made.
    const sessionsOf = (device: string) =>
      sessionsAtService().filter(({ clientReferenceId }) => clientReferenceId === `museum/${device}/main`);
    const isSettled = (device: string): boolean =>
      first.answersTo(device).length + sessionsOf(device).filter(({ revoked }) => revoked).length >= 2;
    await until(() => devices.every(isSettled), 'the second backend');
    await second.close();
    for (const device of devices) {
      const left = sessionsOf(device).filter(({ revoked }) => !revoked);
      const answers = first.answersTo(device).map((answer) => sessionOf(answer).id);
      expect(new Set(answers)).toEqual(new Set(left.map(({ id }) => id)));
      expect(left).toHaveLength(1);
    }
  });

  it('give the same session to a repeated request, whichever of them hears it, without a token in the store', async () => {
    const database = await maker.make();
    const options = optionsOf(database);
    const first = await start(options);
    const { id, token } = sessionOf(await first.ask('kiosk', 'r1'));
    await first.backend.close();
    const second = await startSecond(first, options, false);
    const again = sessionOf(await second.ask('kiosk', 'r1', { attempt: 2 }));
    expect([again.id, again.token]).toEqual([id, token]);
    expect(sessionsAtService()).toHaveLength(1);
    const engine = database.engine();
    const rows = await engine.transact(null, async (sql) => [
      ...(await sql.query('SELECT * FROM mint')),
      ...(await sql.query('SELECT * FROM session')),
    ]);
    await engine.close();
    const kept = JSON.stringify(rows) + ('path' in database.config ? filesOf(database.config.path) : '');
    expect(kept).toContain(id);
    expect(kept).not.toContain(token);
    await second.close();
  });

  it('count limits together, and keep them over a restart', async () => {
    const options = optionsOf(await maker.make(), {
      limits: { ...LIMITS, lanes: 1, sessionsPerHour: 4 },
    });
    const first = await start(options);
    sessionOf(await first.ask('kiosk', 'r1'));
    sessionOf(await first.ask('kiosk', 'r2'));
    await first.backend.close();
    const second = await startSecond(first, options, false);
    expect(errorOf(await second.ask('kiosk', 'r3', { lane: 'other' })).code).toBe('lane_limit_reached');
    sessionOf(await second.ask('kiosk', 'r4'));
    sessionOf(await second.ask('kiosk', 'r5'));
    expect(errorOf(await second.ask('kiosk', 'r6')).code).toBe('hourly_limit_reached');
    await second.close();
  });

  it('deny with a wait while the store is down, log why, and serve again after its return', async () => {
    const database = await maker.make();
    const fixture = await start(optionsOf(database));
    sessionOf(await fixture.ask('kiosk', 'r1'));
    const { server } = maker;
    const engine = database.engine();
    let free = (): void => {};
    // SQLite is down while another process holds it.
    let held = Promise.resolve();
    if (server !== null) await server.stop();
    else
      await new Promise<void>((begun) => {
        held = engine.transact(null, () => {
          begun();
          return new Promise<void>((resolve) => {
            free = resolve;
          });
        });
      });
    const denied = errorOf(await fixture.ask('kiosk', 'r2'));
    expect(denied).toMatchObject({ code: 'store_unavailable', final: false });
    expect(denied.retry_after_s).toBeGreaterThanOrEqual(5);
    expect(fixture.lines.join('')).toMatch(/the store cannot be used: devices get no new sessions/);
    expect(fixture.lines.join('')).not.toContain(PASSWORD);
    expect(unused()).toHaveLength(1);
    free();
    await held;
    await server?.start();
    await engine.close();
    sessionOf(await fixture.ask('kiosk', 'r3'));
  });
});

/** The bytes of SQLite's files, which may still hold what was deleted. */
const filesOf = (path: string): string =>
  readFileSync(path, 'latin1') + readFileSync(`${path}-wal`, 'latin1');
