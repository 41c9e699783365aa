/** Two backends over a real broker and the emulator, with one store of each kind. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { endStream, openStream } from '../../fleet/devices.ts';
import { until } from '../../until.ts';
import {
  errorOf,
  type Fixture,
  type FixtureOptions,
  fixtureOfEachTest,
  sessionOf,
  startFixture,
} from '../backend-on-loopback.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';
import { type Database, onBothStores } from './both-stores.ts';
import { PASSWORD } from './postgres-server.ts';

const LIMITS = { createsPerSecond: 200, concurrency: 64, pendingSessions: 1000 };
const PLAIN = { mqtt: { shareGroup: 'one' } };

onBothStores((maker) => {
  const { start, sessionsAtService } = fixtureOfEachTest();
  const optionsOf = ({ openStore }: Database, more: object = {}): FixtureOptions => ({
    // A busy machine must not look like a service that does not answer.
    serviceTimeout: 60,
    store: openStore,
    config: { limits: LIMITS, session: { expiresInSeconds: 300 }, ...more },
  });
  /** A second backend beside the one of a fixture. In a group of its own it hears every request, too. */
  const startSecond = (first: Fixture, options: FixtureOptions, hearsAll: boolean): Promise<Fixture> =>
    startFixture({
      brokerUrl: first.brokerUrl,
      serviceUrl: first.emulator?.url ?? '',
      ...options,
      config: { ...options.config, mqtt: { url: first.brokerUrl, ...(hearsAll && PLAIN.mqtt) } },
    });
  const unused = () => sessionsAtService().filter(({ revoked }) => !revoked);

  it('make one session for each request when both hear it', async () => {
    const clock = createJumpingClock();
    const options = { ...optionsOf(await maker.make()), clock };
    const first = await start(options);
    const second = await startSecond(first, options, true);
    const devices = Array.from({ length: 20 }, (_, index) => `kiosk-${index}`);
    await Promise.all(devices.map((device) => first.ask(device, 'r1')));
    // Who waits for the other's answer looks again after its lease.
    clock.jump(4000);
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

  it('count bans and the limits of groups together when a device asks them in turn', async () => {
    const options = optionsOf(await maker.make(), {
      limits: LIMITS,
      groups: [
        { name: 'lobby', members: ['museum/lobby-*'], limits: { sessionsPerHour: 2 } },
        { name: 'closed', members: ['museum/old-*'], disabled: true },
      ],
      devices: { 'museum/banned': { disabled: true } },
    });
    const first = await start(options);
    // At a broker of its own it hears only what it alone is asked.
    const second = await startFixture({ serviceUrl: first.emulator?.url ?? '', ...options });
    const ask = async (
      one: Fixture,
      device: string,
      id: string,
      more: { lane?: string } = {},
    ): Promise<string> => {
      const answer = await one.ask(device, id, more);
      return answer.ok ? 'granted' : answer.error.code;
    };
    const inTurn: string[] = [];
    for (const [id, one] of [first, second, first, second].entries())
      inTurn.push(await ask(one, 'lobby-1', `r${id}`));
    expect(inTurn).toEqual(['granted', 'granted', 'hourly_limit_reached', 'hourly_limit_reached']);
    const lanes = [
      await ask(first, 'hall', 'r1', { lane: 'a' }),
      await ask(second, 'hall', 'r2', { lane: 'b' }),
      await ask(first, 'hall', 'r3', { lane: 'c' }),
    ];
    expect(lanes).toEqual(['granted', 'granted', 'lane_limit_reached']);
    for (const one of [first, second])
      for (const device of ['banned', 'old-1']) expect(await ask(one, device, 'r1')).toBe('device_disabled');
    await second.close();
  });

  it('never have more unused sessions than the limit when many devices ask both at once', async () => {
    const devices = Array.from({ length: 40 }, (_, index) => `kiosk-${index}`);
    const options = optionsOf(await maker.make(), {
      allow: devices.map((device) => `museum/${device}`),
      limits: { ...LIMITS, pendingSessions: 10 },
    });
    const first = await start(options);
    const second = await startFixture({ serviceUrl: first.emulator?.url ?? '', ...options });
    const asked = devices.map((device, index) => (index % 2 === 0 ? first : second).ask(device, 'r1'));
    const denied = (await Promise.all(asked)).filter(({ ok }) => !ok).map(errorOf);
    expect(new Set(denied.map(({ code }) => code))).toEqual(new Set(['pending_sessions_limit_reached']));
    expect([denied.length, unused().length]).toEqual([30, 10]);
    await second.close();
  });

  it('deny with a wait while the store is down, say why, end no stream, and serve again after its return', async () => {
    const database = await maker.make();
    const fixture = await start({
      ...optionsOf(database, { metrics: { listen: '127.0.0.1:0' } }),
      store: database.openImpatiently,
      emulator: { setupMs: 50 },
    });
    const session = sessionOf(await fixture.ask('kiosk', 'r1'));
    const url = `${fixture.emulator?.wsUrl}/streaming-api/x/v1/speech-to-speech/stream`;
    const stream = await openStream({ session, url, waitedMs: 0, denials: 0 });
    const taskOf = async (): Promise<string> => {
      const answered = once(stream, 'message');
      stream.send(JSON.stringify({ message_type: 'get_task', data: {} }));
      return String((await answered)[0]);
    };
    const metrics = async () => (await fetch(`${fixture.backend.watchedAt}/metrics`)).text();
    expect(await metrics()).toMatch(/^dragoman_backend_store_up 1$/m);
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
    const denied = errorOf(await fixture.ask('kiosk', 'r2', { reason: 'rollover' }));
    expect(denied).toMatchObject({ code: 'store_unavailable', final: false });
    expect(denied.retry_after_s).toBeGreaterThanOrEqual(5);
    expect(fixture.lines.join('')).toMatch(/the store cannot be used: devices get no new sessions/);
    expect(fixture.lines.join('')).not.toContain(PASSWORD);
    const told = await metrics();
    expect(told).toMatch(/^dragoman_backend_store_up 0$/m);
    expect(told).toMatch(/^dragoman_backend_store_failures_total\{why="down"\} [1-9]/m);
    expect(told).toMatch(/^dragoman_backend_token_denials_total\{code="store_unavailable"\} 1$/m);
    expect(await taskOf()).toMatch(/current_task/);
    expect(unused().map(({ id, activeStreams }) => [id, activeStreams])).toEqual([[session.id, 1]]);
    free();
    await held;
    await server?.start();
    await engine.close();
    sessionOf(await fixture.ask('kiosk', 'r3', { reason: 'rollover' }));
    expect(await taskOf()).toMatch(/current_task/);
    endStream(stream);
  });
});

/** The bytes of SQLite's files, which may still hold what was deleted. */
const filesOf = (path: string): string =>
  readFileSync(path, 'latin1') + readFileSync(`${path}-wal`, 'latin1');
