/** The checks of `dragoman-backend doctor`, each on its own. */
import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSystemClock } from '../../adapters/clock.ts';
import { createMqttBus } from '../../adapters/mqtt/bus.ts';
import { askServerTime } from '../../adapters/network-time.ts';
import type { OpenBus } from '../../ports/bus.ts';
import { MEMORY_STORE } from '../../protocol/backend-config.ts';
import { backendSelfTest } from '../../protocol/mqtt/topics.ts';
import { brokerLogin } from '../config/broker-login.ts';
import type { Opened } from '../config/open-config.ts';
import { createServiceClient } from '../service/service-client.ts';
import { ServiceFailure } from '../service/service-failure.ts';
import { SCHEMA_VERSION, StoreTooNew, tryStore } from '../store/migrations.ts';
import { openKeptEngine } from '../store/open-store.ts';
import type { SqlEngine } from '../store/sql-engine.ts';
import { createSqlStore } from '../store/sql-store.ts';
import { sendsRetainedToWildcards } from './retained-check.ts';

export interface Finding {
  readonly check: 'configuration' | 'service' | 'key' | 'broker' | 'store' | 'clock';
  readonly verdict: 'ok' | 'warning' | 'problem' | 'skipped';
  readonly finding: string;
  /** What to do; null if there is nothing to do. */
  readonly fix: string | null;
}

const BROKER_WITHIN_MS = 10_000;
/** Largest harmless clock error (s): more affects certificates, the bill's months and the times in the log. */
const MOST_CLOCK_ERROR_S = 30;

type Result = Omit<Finding, 'check'>;
const ok = (finding: string): Result => ({ verdict: 'ok', finding, fix: null });
const problem = (finding: string, fix: string): Result => ({ verdict: 'problem', finding, fix });

/** Lists sessions, which costs nothing and shows that the service answers and accepts the key. */
export async function checkService({ config, secrets }: Opened): Promise<Finding[]> {
  const { url, timeout } = config.service;
  const { apiKey, serviceCa } = secrets;
  const client = createServiceClient({
    url,
    timeoutMs: timeout * 1000,
    apiKey,
    ...(serviceCa && { ca: serviceCa }),
  });
  try {
    await client.listSessions({ clientReferenceId: 'doctor' });
    return [
      { check: 'service', ...ok(`${url} answers`) },
      { check: 'key', ...ok('the service accepts the API key') },
    ];
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    const { kind } = error.trouble;
    const isKey = kind === 'unauthorized' || kind === 'misconfigured';
    if (isKey) {
      return [
        { check: 'service', ...ok(`${url} answers`) },
        { check: 'key', ...problem(error.message, 'check service.apiKeyFile') },
      ];
    }
    const skipped = { verdict: 'skipped', finding: 'the service could not be asked', fix: null } as const;
    return [
      { check: 'service', ...problem(error.message, 'check service.url, the network and the service') },
      { check: 'key', ...skipped },
    ];
  } finally {
    client.close();
  }
}

/** Connects like the running backend, under another name, and sends itself a request. */
export async function checkBroker({ config, secrets }: Opened): Promise<Finding> {
  const { url, prefix } = config.mqtt;
  const clock = createSystemClock();
  const { response } = backendSelfTest(prefix);
  const id = randomUUID();
  const connection = brokerLogin(config, secrets, `dragoman-backend-doctor-${id.slice(0, 8)}`);
  const result = await new Promise<Result>((resolve) => {
    const fix = 'check mqtt.url, the user name with its password, and the rules of the broker';
    const bus = createMqttBus(connection, { clock, seed: 1 })(
      { subscriptions: [response], will: null },
      {
        up: () => bus.publish(response, JSON.stringify({ ts: null, id, ok: true }), { qos: 0 }),
        down: (_problem, message) => end(problem(message, fix)),
        message: ({ payload }) => {
          if (payload.includes(id)) end(ok(`${url} accepts this backend, and a message came back`));
        },
      },
    );
    const cancel = clock.at(clock.now() + BROKER_WITHIN_MS, () =>
      end(problem(`no message came back through ${url} within ${BROKER_WITHIN_MS / 1000} s`, fix)),
    );
    const end = (outcome: Result): void => {
      cancel();
      void bus.close().then(() => resolve(outcome));
    };
  });
  if (result.verdict !== 'ok') return { check: 'broker', ...result };
  const openAs = (clientId: string): OpenBus =>
    createMqttBus(brokerLogin(config, secrets, clientId), { clock, seed: 1 });
  const sendsRetained = await sendsRetainedToWildcards({ openAs, clock, topic: response, id: randomUUID() });
  return { check: 'broker', ...(sendsRetained === false ? ok(`${result.finding}; ${ASKED}`) : result) };
}

const ASKED =
  'it sends no retained messages to a filter with a wildcard (as RabbitMQ): console, metrics and ctl therefore ask each device for its status 5 s after they connect';

export async function checkStore({ config, secrets }: Opened): Promise<Finding> {
  const { path, url } = config.store;
  if (url === null && path === MEMORY_STORE) {
    const finding = 'no store is set: a restart forgets sessions and limits';
    return { check: 'store', verdict: 'warning', finding, fix: 'set store.path or store.url' };
  }
  // Does not create the file: the backend might not be allowed to write a file of this user.
  if (url === null && !existsSync(path) && existsSync(dirname(path)))
    return { check: 'store', ...ok(`not created yet: the backend creates ${path} when it starts`) };
  const mayLackRows = url === null && mayLackNewest(path);
  const engine = openKeptEngine(config.store, secrets.storePassword);
  try {
    const version = await tryStore(engine);
    if (version === SCHEMA_VERSION) await createSqlStore(engine).check();
    const newest = version === SCHEMA_VERSION ? await newestSession(engine) : null;
    if (newest === null && mayLackRows && (version === 0 || version === SCHEMA_VERSION))
      return {
        check: 'store',
        verdict: 'warning',
        finding: `${path} holds no sessions`,
        fix: `if it is a copy of a file in use, also copy ${path}-wal, which has the newest rows; or use "backup" and "restore"`,
      };
    const upgrade = `on its next start the backend ${version === 0 ? 'creates its tables' : `upgrades its tables from version ${version}`}`;
    const last = newest === null ? '' : `; its ledger ends at ${new Date(newest).toISOString()}`;
    const sentence = `it can be read and written${last}`;
    return { check: 'store', ...ok(version === SCHEMA_VERSION ? sentence : `${sentence}; ${upgrade}`) };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unknown reason';
    const [finding = message, advice] = message.split('; ');
    return { check: 'store', ...problem(finding, advice ?? fixOfStore(error, url !== null)) };
  } finally {
    await close(engine);
  }
}

/** True for a non-empty file without SQLite's log: it was closed properly, or copied without the log while in use. */
function mayLackNewest(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0 && !existsSync(`${path}-wal`);
}

/** The time of the ledger's newest line (ms); null: it has none. */
async function newestSession(engine: SqlEngine): Promise<number | null> {
  const [row] = await engine.transact(null, (sql) => sql.query('SELECT max(at) AS at FROM ledger'));
  return row?.['at'] == null ? null : Number(row['at']);
}

function fixOfStore(error: unknown, isServer: boolean): string {
  if (error instanceof StoreTooNew) return 'install the newer program, or restore a backup into a new store';
  if (!isServer) return 'check store.path, the owner of the file and its folder';
  return 'start the server, or correct host and port of store.url';
}

/** Closes with a timeout: closing an unavailable store may take long. */
const close = (engine: SqlEngine): Promise<unknown> =>
  Promise.race([engine.close().catch(() => {}), sleep(1000)]);

/** Compares this machine's clock with the service's. */
export async function checkClock({ config }: Opened): Promise<Finding> {
  const skipped = (finding: string): Finding => ({ check: 'clock', verdict: 'skipped', finding, fix: null });
  const wall = createSystemClock().wall();
  const fix = 'switch on time synchronisation: timedatectl set-ntp true';
  if (wall === null) return { check: 'clock', ...problem('the clock of this machine is not set', fix) };
  if (!config.service.url.startsWith('https:')) return skipped('the service gives no time without TLS');
  const server = await askServerTime(config.service.url);
  if (server === null) return skipped('the service gives no time');
  const seconds = Math.round(Math.abs(wall - server.date) / 1000);
  return seconds > MOST_CLOCK_ERROR_S
    ? { check: 'clock', ...problem(`the clock differs from the service's by ${seconds} s`, fix) }
    : { check: 'clock', ...ok("it agrees with the service's clock") };
}
