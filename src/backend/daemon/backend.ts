/** The token issuer: connects the bus with the service client. */
import { randomUUID } from 'node:crypto';
import { createSystemClock } from '../../adapters/clock.ts';
import type { ConsoleFiles } from '../../adapters/console/console-files.ts';
import type { Logger } from '../../adapters/log.ts';
import { createMqttBus } from '../../adapters/mqtt/bus.ts';
import { createSigner } from '../../adapters/signing/signer.ts';
import { sleep } from '../../adapters/sleep.ts';
import { createLimitedWarnings } from '../../machine/limited-warnings.ts';
import { within } from '../../machine/within.ts';
import type { OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { type Store, StoreDown } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import type { BackendSecrets } from '../config/secrets.ts';
import { startConsole } from '../console/console.ts';
import { IssuerRunner } from '../issuing/issuer-runner.ts';
import { openHearing } from '../issuing/request-intake.ts';
import { createTokenCounts } from '../issuing/token-counts.ts';
import { DeviceReports } from '../reports/device-reports.ts';
import { startRolloutDriver } from '../rollout/driver.ts';
import { createServiceClient } from '../service/service-client.ts';
import { openConsoleStore, openRolloutStore, openStore } from '../store/open-store.ts';
import { measureStore } from '../watch/measured-store.ts';
import { startWatch } from '../watch/watch.ts';
import { shareBus } from './shared-bus.ts';

/** Longest wait for requests and reports at shutdown (ms). The whole shutdown, including broker, store and exit, takes at most 10 s. */
const CLOSE_WITHIN_MS = 4000;
/** Longest wait for running statements of the store at shutdown (ms). */
const STORE_CLOSES_WITHIN_MS = 1000;
/** Interval of checks while the store is unavailable at startup (ms). */
const STORE_LOOK_MS = 2000;

export interface BackendOptions {
  readonly config: BackendConfig;
  readonly secrets: BackendSecrets;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Random number from 0 to 1, for jitter. */
  readonly random?: () => number;
  /** Used instead of the configured store; closed with the backend. */
  readonly store?: Store;
  /** Used instead of the console's built-in files. */
  readonly consoleFiles?: ConsoleFiles;
  /** Longest wait for requests and reports at shutdown (ms), instead of the default. */
  readonly closeWithinMs?: number;
}

export interface Backend {
  /** Settles when the backend first receives requests, or when it is closed. */
  readonly ready: Promise<void>;
  readonly connected: boolean;
  /** Resolves to true when requests arrive and the store can be used, or to false at shutdown. */
  untilIssuing(): Promise<boolean>;
  /** Address of health and metrics; null: not served. */
  readonly watchedAt: string | null;
  /** Address of the owner's console; null: no console. */
  readonly consoleAt: string | null;
  /** Unsubscribes, finishes pending requests, then disconnects from the broker: 10 s at most. */
  close(): Promise<void>;
}

/**
 * Starts issuing tokens. Connects in the background; logs failures and retries.
 * @throws StoreRefused if the store can never be used as it is
 */
export async function startBackend(options: BackendOptions): Promise<Backend> {
  const { config, secrets, log, clock = createSystemClock(), random = Math.random } = options;
  const { closeWithinMs = CLOSE_WITHIN_MS } = options;
  const measured = measureStore(options.store ?? openStore(config.store, secrets.storePassword), clock);
  const { store } = measured;
  await openAtStart(store, log);
  const service = createServiceClient({
    url: config.service.url,
    timeoutMs: config.service.timeout * 1000,
    apiKey: secrets.apiKey,
    clock,
    ...(secrets.serviceCa && { ca: secrets.serviceCa }),
  });
  const signer = secrets.signingKey === undefined ? null : createSigner(secrets.signingKey);
  const counts = createTokenCounts();
  const complain = createLimitedWarnings(log, clock);
  const ready = createSignal();
  const clientId = config.mqtt.clientId ?? `dragoman-backend-${madeUpName(random)}`;
  const busAs = (id: string): OpenBus => openBusAs(id, options, clock, random);
  const consoleStore =
    config.console.listen === null ? null : openConsoleStore(config.store, secrets.storePassword);
  const reports = new DeviceReports({
    openBus: busAs(`${clientId}-reports`),
    prefix: config.mqtt.prefix,
    store,
    conversations: consoleStore,
    clock,
    log,
    complain,
  });
  const issuing = new IssuerRunner({
    config,
    store,
    service,
    signer,
    log,
    clock,
    random,
    counts,
    reports,
    instance: randomUUID(),
    closeWithinMs,
  });
  const bus = openHearing({
    openBus: busAs(clientId),
    prefix: config.mqtt.prefix,
    shareGroup: config.mqtt.shareGroup,
    clock,
    log,
    randomId: randomUUID,
    message: (message) => issuing.hear(message),
    listening(isShared) {
      ready.give();
      reports.listen(isShared ? config.mqtt.shareGroup : null);
    },
  });
  issuing.answerOn(bus);
  // A separate connection: messages of the fleet must not delay token requests.
  const fleet = shareBus(busAs(`${clientId}-fleet`));
  let isDraining = false;
  const watch = await startWatch({
    config,
    store,
    clock,
    log,
    complain,
    openBus: fleet.join,
    ...(secrets.webhookSecret && { webhookSecret: secrets.webhookSecret }),
    families: () => [...counts.families(), ...measured.families()],
    health: {
      isDraining: () => isDraining,
      isConnected: () => bus.connected,
      checkStore: () => store.check(),
      wait: (ms) => sleep(clock, ms),
    },
  });

  const owned =
    config.console.listen === null || consoleStore === null
      ? null
      : await startConsole({
          config,
          listen: config.console.listen,
          ledger: store,
          signer,
          log,
          clock,
          store: consoleStore,
          readTls: secrets.consoleTls ?? null,
          openBus: fleet.join,
          openOwnBus: (...given) => busAs(`${clientId}-look-${madeUpName(random)}`)(...given),
          ...(options.consoleFiles && { files: options.consoleFiles }),
        });
  fleet.open();
  const rollouts = openRolloutStore(config.store, secrets.storePassword);
  const driver =
    rollouts === null
      ? null
      : startRolloutDriver({
          config,
          prefix: config.mqtt.prefix,
          store: rollouts,
          ledger: store,
          signer,
          clock,
          log,
          complain,
          openBus: busAs(`${clientId}-rollout`),
          instance: randomUUID(),
        });

  /** Reports need the console's store. */
  const closeReports = async (): Promise<void> => {
    await reports.close();
    await owned?.close();
  };
  return {
    ready: ready.given,
    get connected() {
      return bus.connected;
    },
    async untilIssuing() {
      await ready.given;
      await untilUsable(store, clock, () => isDraining);
      return !isDraining;
    },
    watchedAt: watch.url,
    consoleAt: owned?.url ?? null,
    async close() {
      isDraining = true;
      await bus.unsubscribe?.();
      await Promise.all([
        issuing.close(),
        within(clock, closeWithinMs, Promise.all([closeReports(), driver?.close()])),
      ]);
      await bus.close();
      service.close();
      await within(clock, STORE_CLOSES_WITHIN_MS, watch.close());
      await within(clock, STORE_CLOSES_WITHIN_MS, store.close());
      ready.give();
    },
  };
}

/** A connection to the owner's broker, under this name. */
function openBusAs(
  clientId: string,
  { config, secrets }: BackendOptions,
  clock: Clock,
  random: () => number,
): OpenBus {
  const { url, username } = config.mqtt;
  return createMqttBus(
    {
      url,
      clientId,
      ...(username !== null && { username }),
      ...(secrets.mqttPassword && { password: secrets.mqttPassword }),
      ...secrets.brokerTls,
    },
    { clock, seed: Math.floor(random() * 2 ** 31) },
  );
}

/** Waits until the store can be used or the backend closes. */
async function untilUsable(store: Store, clock: Clock, isOver: () => boolean): Promise<void> {
  const isUsable = (): Promise<boolean> =>
    store.check().then(
      () => true,
      () => false,
    );
  while (!isOver() && !(await isUsable()))
    await new Promise<void>((resolve) => void clock.at(clock.now() + STORE_LOOK_MS, resolve));
}

async function openAtStart(store: Store, log: Log): Promise<void> {
  try {
    await store.open();
  } catch (error) {
    if (!(error instanceof StoreDown)) throw error;
    log.warn({ why: error.message }, 'the store cannot be used yet: devices get no sessions until it can');
  }
}

function createSignal(): { given: Promise<void>; give: () => void } {
  let give = (): void => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

/** A random name: two backends on one broker must not share a client identifier. */
function madeUpName(random: () => number): string {
  return Math.floor(random() * 36 ** 8)
    .toString(36)
    .padStart(8, '0');
}
