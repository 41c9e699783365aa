/** The owner's console: hears the fleet, and serves its pages. */
import { type ConsoleFiles, readConsoleFiles } from '../../adapters/console/console-files.ts';
import { type ConsoleServer, openConsoleServer } from '../../adapters/console/console-server.ts';
import { createPasswordHasher } from '../../adapters/console/password-hash.ts';
import type { Signer } from '../../adapters/signing/signer.ts';
import { listenTrouble } from '../../adapters/system-error.ts';
import { claimsConnection } from '../../core/fleet/silence.ts';
import type { Bus, BusMessage, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import type { Log } from '../../ports/log.ts';
import { type Store, StoreDown } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { readListen } from '../../protocol/backend-console.ts';
import type { FleetStatus } from '../../protocol/console-fleet.ts';
import { isObject, parseJson } from '../../protocol/json.ts';
import { count } from '../../protocol/mqtt/bounds.ts';
import { deviceTopics } from '../../protocol/mqtt/topics.ts';
import { createLimitedWarnings } from '../limited-warnings.ts';
import { createAudit } from './audit.ts';
import { clean } from './clean.ts';
import { createDesiredLook } from './desired-look.ts';
import { createFleet } from './fleet.ts';
import { consoleFilters, readConsoleTopic } from './fleet-topics.ts';
import { Jobs } from './jobs.ts';
import { createRefusedConfigs } from './refused-configs.ts';
import { createRouter } from './router.ts';
import { figureRoutes } from './routes-figures.ts';
import { fleetRoutes } from './routes-fleet.ts';
import { peopleRoutes, publicRoutes } from './routes-people.ts';
import { createSignIn } from './sign-in.ts';
import { Streams } from './streams.ts';

const UPKEEP_EACH_MS = 5000;
const PRUNE_EACH_MS = 3_600_000;
const LONGEST_LOG = 131_072;
const MOST_LINES = 500;
const LONGEST_LINE = 2000;

export interface ConsoleParts {
  readonly config: BackendConfig;
  /** `host:port` */
  readonly listen: string;
  /** Read again now and then: certificates are renewed. Null: without TLS. */
  readonly readTls: (() => { readonly cert: string; readonly key: string }) | null;
  readonly store: ConsoleStore;
  readonly ledger: Pick<Store, 'sums'>;
  readonly signer: Signer | null;
  readonly openBus: OpenBus;
  /** Makes a connection of its own at each call. */
  readonly openOwnBus: OpenBus;
  readonly log: Log;
  readonly clock: Clock;
  /** Instead of the files in the program. */
  readonly files?: ConsoleFiles;
}

export interface Console {
  readonly url: string;
  close(): Promise<void>;
}

/** The console cannot be opened; the message says what to do. */
export class ConsoleUnavailable extends Error {}

/** @throws StoreRefused, ConsoleUnavailable */
export async function startConsole(parts: ConsoleParts): Promise<Console> {
  const { config, store, signer, log, clock, ledger } = parts;
  const { prefix } = config.mqtt;
  const complain = createLimitedWarnings(log, clock);
  const files = parts.files ?? (await builtFiles());
  const fleet = createFleet(config, clock);
  const audit = createAudit(store, log);
  const hasher = createPasswordHasher();
  const signIn = createSignIn(store, hasher, clock);
  await openStore(store, log);

  const statusOf = (device: string): FleetStatus => fleet.devices.get(device)?.row.status ?? 'unknown';
  const jobs = new Jobs({
    store,
    prefix,
    signer,
    clock,
    complain,
    bus: () => bus,
    isConnected: (device) => claimsConnection(statusOf(device)),
    whySilent(device) {
      const status = statusOf(device);
      return claimsConnection(status)
        ? 'it did not answer in time'
        : `it did not answer in time; its last status was ${status}`;
    },
    ended(job, auditLine) {
      if (auditLine === null) return;
      const counted = Object.entries(job.counts).filter(([, count]) => count > 0);
      const text = counted.map(([state, count]) => `${count} ${state}`).join(', ');
      const why = job.devices === 1 && job.first?.message ? `: ${job.first.message}` : '';
      void audit.end(auditLine, job.counts.ok === job.devices, `${text}${why}`).catch((error: unknown) => {
        complain('audit', { why: String(error) }, 'the result of a job cannot be written to the audit');
      });
    },
  });
  const streams = new Streams({
    fleet,
    prefix,
    clock,
    jobs,
    isConnected: () => bus.connected,
    async isSignedIn(key) {
      try {
        return await signIn.goesOn(key);
      } catch (error) {
        // A short failure of the store does not sign people out.
        complain('sessions', { why: String(error) }, 'cannot read the sign-in sessions');
        return true;
      }
    },
  });
  const refused = createRefusedConfigs({ fleet, store, clock, complain });
  const hearLog = (device: string, payload: string): void => {
    if (payload.length > LONGEST_LOG) return;
    const message = parseJson(payload);
    if (!isObject(message) || !Array.isArray(message['lines'])) return;
    const lines = message['lines'].filter((line) => typeof line === 'string').slice(0, MOST_LINES);
    const dropped = count.catch(0).parse(message['dropped']);
    streams.hearLog(
      device,
      lines.map((line) => clean(line, LONGEST_LINE)),
      dropped,
    );
  };
  const hear = (message: BusMessage): void => {
    const news = readConsoleTopic(prefix, message);
    if (news === null) return;
    if (news.kind === 'log') return hearLog(news.name, news.payload);
    if (news.kind === 'answer') return jobs.hearAnswer(news.name, news.payload);
    fleet.hear(news);
    if (news.kind === 'reported' && !news.isRetained) refused.heard(news.name);
  };
  const { health } = deviceTopics({ prefix, tenant: '+', device: '+' });
  let hearsHealth = true;
  const bus: Bus = parts.openBus(
    { subscriptions: consoleFilters(prefix), will: null },
    {
      refused(filters) {
        hearsHealth = !filters.includes(health);
        if (!hearsHealth) fleet.listen(false);
        const sentence =
          'the broker does not allow the console to hear everything: give the backend the rights of docs/console.md';
        if (filters.length > 0) log.warn({ filters }, sentence);
      },
      up() {
        fleet.listen(hearsHealth);
        void jobs.claim();
      },
      down(problem, message) {
        fleet.listen(false);
        complain(`console ${message}`, { problem }, message);
      },
      message: hear,
      lost: ({ topic, reason }) =>
        complain(
          'console lost',
          { topic: clean(topic), reason: clean(reason) },
          'the broker did not take a message',
        ),
    },
  );

  const fleetParts = {
    fleet,
    bus: () => bus,
    prefix,
    signer,
    clock,
    streams,
    jobs,
    store,
    audit,
    look: createDesiredLook(parts.openOwnBus, clock),
  };
  const peopleParts = { store, signIn, hasher, audit, clock, sessionsEnded: () => void streams.check() };
  const handlers = {
    ...peopleRoutes(peopleParts),
    ...fleetRoutes(fleetParts),
    ...figureRoutes({ ledger, store, config, fleet, clock }),
  };
  const tls = parts.readTls?.() ?? null;
  let server: ConsoleServer;
  try {
    server = await openConsoleServer({
      ...readListen(parts.listen),
      tls,
      files,
      clock,
      trustedProxies: config.console.trustedProxies,
      hosts: config.console.hosts,
      api: createRouter(signIn, publicRoutes(peopleParts), handlers, log),
    });
  } catch (error) {
    await Promise.all([jobs.close(), bus.close()]);
    throw new ConsoleUnavailable(`console.listen: ${parts.listen} ${listenTrouble(error)}`);
  }

  let prunedAt = clock.now();
  let lastCertificate = tls?.cert;
  const upkeep = async (): Promise<void> => {
    await refused.note();
    if (clock.now() - prunedAt < PRUNE_EACH_MS) return;
    prunedAt = clock.now();
    await store.prune().catch((error: unknown) => {
      complain('prune', { why: String(error) }, 'old lines of the console cannot be deleted');
    });
    renewTls();
  };
  const renewTls = (): void => {
    try {
      const next = parts.readTls?.();
      if (next === undefined || next.cert === lastCertificate) return;
      server.renew(next);
      lastCertificate = next.cert;
      log.info({}, 'the console uses its renewed certificate');
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown reason';
      complain('certificate', { why }, "the console's renewed certificate cannot be used");
    }
  };
  let cancel = (): void => {};
  const keepUp = (): void => {
    cancel = clock.at(clock.now() + UPKEEP_EACH_MS, () => {
      void upkeep();
      keepUp();
    });
  };
  keepUp();

  return {
    url: server.url,
    async close() {
      cancel();
      streams.close();
      await server.close();
      await jobs.close();
      await bus.close();
      await store.close();
    },
  };
}

async function builtFiles(): Promise<ConsoleFiles> {
  try {
    return await readConsoleFiles();
  } catch (error) {
    throw new ConsoleUnavailable(
      `console.listen: ${error instanceof Error ? error.message : 'the pages are missing'}`,
    );
  }
}

async function openStore(store: ConsoleStore, log: Log): Promise<void> {
  try {
    await store.open();
  } catch (error) {
    if (!(error instanceof StoreDown)) throw error;
    log.warn(
      { why: error.message },
      'the store cannot be used yet: no one can sign in at the console until it can',
    );
  }
}
