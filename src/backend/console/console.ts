/** The owner's console: receives the fleet's messages and serves the pages. */
import { type ConsoleFiles, readConsoleFiles } from '../../adapters/console/console-files.ts';
import { type ConsoleServer, openConsoleServer } from '../../adapters/console/console-server.ts';
import { createPasswordHasher } from '../../adapters/console/password-hash.ts';
import type { Signer } from '../../adapters/signing/signer.ts';
import { listenTrouble } from '../../adapters/system-error.ts';
import { claimsConnection } from '../../fleet/silence.ts';
import { type Complain, createLimitedWarnings } from '../../machine/limited-warnings.ts';
import type { OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import type { Log } from '../../ports/log.ts';
import { type Store, StoreDown } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { readListen } from '../../protocol/backend-console.ts';
import type { FleetStatus } from '../../protocol/console-fleet.ts';
import type { Job } from '../../protocol/console-jobs.ts';
import { createFleet } from '../fleet/fleet.ts';
import { Jobs } from '../jobs/jobs.ts';
import { type Audit, createAudit } from './audit.ts';
import { createDesiredLook, createDesiredPublish } from './desired-look.ts';
import { openFleetBus } from './fleet-bus.ts';
import { createRefusedConfigs } from './refused-configs.ts';
import { createRouter } from './router.ts';
import { figureRoutes } from './routes-figures.ts';
import { fleetRoutes } from './routes-fleet.ts';
import { peopleRoutes, publicRoutes } from './routes-people.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { Streams } from './streams.ts';
import { startUpkeep, type Tls } from './upkeep.ts';

export interface ConsoleParts {
  readonly config: BackendConfig;
  /** `host:port` */
  readonly listen: string;
  /** Read again regularly, because certificates are renewed. Null: without TLS. */
  readonly readTls: (() => Tls) | null;
  readonly store: ConsoleStore;
  readonly ledger: Pick<Store, 'sums'>;
  readonly signer: Signer | null;
  readonly openBus: OpenBus;
  /** Opens a separate connection at each call. */
  readonly openOwnBus: OpenBus;
  readonly log: Log;
  readonly clock: Clock;
  /** Used instead of the built-in files. */
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
  const { config, store, signer, log, clock, ledger, readTls } = parts;
  const { prefix } = config.mqtt;
  // May throw, so it runs before anything is open.
  const tls = readTls?.() ?? null;
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
    whySilent: (device) => whySilent(statusOf(device)),
    ended: (job, auditLine) => noteResult(job, auditLine, audit, complain),
  });
  const streams = new Streams({
    fleet,
    prefix,
    clock,
    jobs,
    isConnected: () => bus.connected,
    isSignedIn: (key) => isSignedIn(key, signIn, complain),
  });
  const refused = createRefusedConfigs({ fleet, store, clock, complain });
  const bus = openFleetBus(parts.openBus, prefix, { fleet, refused, jobs, streams }, log, complain);

  const peopleParts = { store, signIn, hasher, audit, clock, sessionsEnded: () => void streams.check() };
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
    publish: createDesiredPublish(parts.openOwnBus, clock),
  };
  const handlers = {
    ...peopleRoutes(peopleParts),
    ...fleetRoutes(fleetParts),
    ...figureRoutes({ ledger, store, config, fleet, clock }),
  };
  const api = createRouter(signIn, publicRoutes(peopleParts), handlers, log);
  const server = await openServer(parts, tls, files, api).catch(async (error: unknown) => {
    streams.close();
    await Promise.all([jobs.close(), bus.close()]);
    throw error;
  });
  const stopUpkeep = startUpkeep({ refused, store, server, readTls, tls, clock, log, complain });

  return {
    url: server.url,
    async close() {
      stopUpkeep();
      streams.close();
      await server.close();
      await jobs.close();
      await bus.close();
      await store.close();
    },
  };
}

function whySilent(status: FleetStatus): string {
  return claimsConnection(status)
    ? 'it did not answer in time'
    : `it did not answer in time; its last status was ${status}`;
}

/** Writes the result of a job to its audit line. */
function noteResult(job: Job, auditLine: string | null, audit: Audit, complain: Complain): void {
  if (auditLine === null) return;
  const counted = Object.entries(job.counts).filter(([, count]) => count > 0);
  const text = counted.map(([state, count]) => `${count} ${state}`).join(', ');
  const why = job.devices === 1 && job.first?.message ? `: ${job.first.message}` : '';
  void audit.end(auditLine, job.counts.ok === job.devices, `${text}${why}`).catch((error: unknown) => {
    complain('audit', { why: String(error) }, 'the result of a job cannot be written to the audit');
  });
}

async function isSignedIn(key: string, signIn: SignIn, complain: Complain): Promise<boolean> {
  try {
    return await signIn.goesOn(key);
  } catch (error) {
    // A short failure of the store must not sign people out.
    complain('sessions', { why: String(error) }, 'cannot read the sign-in sessions');
    return true;
  }
}

/** @throws ConsoleUnavailable */
async function openServer(
  { config, listen, clock }: ConsoleParts,
  tls: Tls | null,
  files: ConsoleFiles,
  api: ReturnType<typeof createRouter>,
): Promise<ConsoleServer> {
  try {
    return await openConsoleServer({
      ...readListen(listen),
      tls,
      files,
      clock,
      trustedProxies: config.console.trustedProxies,
      hosts: config.console.hosts,
      api,
    });
  } catch (error) {
    throw new ConsoleUnavailable(`console.listen: ${listen} ${listenTrouble(error)}`);
  }
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
