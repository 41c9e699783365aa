/** Monitoring for the owner: metrics, webhook and, at the same address, the files of releases. Issuing tokens does not depend on it. */
import { randomUUID } from 'node:crypto';
import { createCounter } from '../../adapters/watch/instruments.ts';
import { type Family, OPEN_METRICS_TYPE, openMetrics } from '../../adapters/watch/open-metrics.ts';
import { startWatchServer, type WatchServer } from '../../adapters/watch/watch-server.ts';
import { claimsConnection } from '../../fleet/silence.ts';
import type { Complain } from '../../machine/limited-warnings.ts';
import type { OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import { nameOf, siteOf } from '../config/owned-devices.ts';
import { type Condition, conditionOf } from '../fleet/condition.ts';
import { createFleetView, type DeviceView, type FleetView } from '../fleet/fleet-view.ts';
import { createReleaseFiles } from '../releases/release-files.ts';
import { complainOfStore } from '../store/store-complaint.ts';
import { backendFamilies } from './backend-metrics.ts';
import { type CallNotices, createCallNotices } from './call-notices.ts';
import { type FleetWatch, watchFleet } from './fleet-watch.ts';
import { type GroupBudgets, watchBudgets } from './group-budgets.ts';
import { type Change, createNotices, type Notices } from './notices.ts';
import { type Health, hasStore, healthPages } from './readiness.ts';
import { createWebhook, type Webhook } from './webhook.ts';

export interface WatchParts {
  readonly config: BackendConfig;
  readonly store: Store;
  readonly openBus: OpenBus;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
  readonly health: Health;
  readonly webhookSecret?: () => string;
  /** Metrics of other parts. */
  readonly families: () => Family[];
}

export interface Watch {
  readonly url: string | null;
  close(): Promise<void>;
}

const GROUP = 'group ';
const NOWHERE: Watch = { url: null, close: async () => {} };

/** @throws an error of the system if the address cannot be used */
export async function startWatch(parts: WatchParts): Promise<Watch> {
  const { config, store, clock, log, complain, health } = parts;
  const { listen } = config.metrics;
  const releases = config.releases.path === null ? null : createReleaseFiles(config.releases.path);
  if (listen === null && config.webhook === null && releases === null) return NOWHERE;
  const view = createFleetView();
  const sent = createCounter(['sent', 'retried', 'failed', 'dropped'].map((result) => ({ result })));
  const storeFailed = (error: unknown): void => complainOfStore(error, complain, log);
  const webhook = openWebhook(parts, (result) => sent.add({ result }));
  const notices: Notices | null =
    webhook === null
      ? null
      : createNotices({
          store,
          clock,
          storeFailed,
          conditionOf: (subject) => conditionNow(subject, view, budgets),
          tell: (change) => webhook.send(randomUUID(), messageOf(change, parts, view)),
        });
  const callNotices: CallNotices | null =
    webhook === null
      ? null
      : createCallNotices({
          store,
          clock,
          storeFailed,
          callOf: (device) => openCall(view.get(device)),
          tell: (device) => webhook.send(randomUUID(), callMessage(device, parts)),
        });
  const budgets: GroupBudgets = watchBudgets({
    config,
    store,
    clock,
    storeFailed,
    changed: (group) => notices?.look(`${GROUP}${group}`),
  });
  const pages = {
    ...healthPages(health),
    '/metrics': async () => ({
      status: 200,
      type: OPEN_METRICS_TYPE,
      body: openMetrics([
        ...backendFamilies({
          isConnected: health.isConnected(),
          followsFleet: fleet?.connected ?? false,
          view,
          hasStore: await hasStore(health),
          budgets: budgets.lines,
        }),
        ...parts.families(),
        ...(webhook === null ? [] : webhookFamilies(webhook.waiting, sent.samples())),
      ]),
    }),
  };
  let fleet: FleetWatch | null = null;
  let server: WatchServer | null = null;
  let releasesServer: WatchServer | null = null;
  const close = async (): Promise<void> => {
    const open = [notices, callNotices, budgets, fleet, webhook, server, releasesServer];
    await Promise.all(open.map((part) => part?.close()));
  };
  const apart = config.releases.listen;
  try {
    if (listen !== null)
      server = await startWatchServer(listen, pages, clock, apart === null ? releases : null);
    if (apart !== null) releasesServer = await startWatchServer(apart, {}, clock, releases);
  } catch (error) {
    await close();
    throw error;
  }
  if (listen !== null || webhook !== null)
    fleet = watchFleet({
      openBus: parts.openBus,
      prefix: config.mqtt.prefix,
      view,
      clock,
      log,
      complain,
      changed: (device) => notices?.look(device),
      heard: (device) => callNotices?.look(device),
    });
  return { url: server?.url ?? null, close };
}

function openWebhook(
  { config, clock, log, webhookSecret }: WatchParts,
  counted: Parameters<typeof createWebhook>[0]['counted'],
): Webhook | null {
  if (config.webhook === null || webhookSecret === undefined) return null;
  return createWebhook({ url: config.webhook.url, secret: webhookSecret, clock, log, counted });
}

export function webhookFamilies(waiting: number, samples: Family['samples']): Family[] {
  return [
    {
      name: 'dragoman_backend_webhook_messages',
      type: 'counter',
      samples,
      help: 'Messages to the webhook. failed: given up; dropped: the queue was full.',
    },
    {
      name: 'dragoman_backend_webhook_waiting',
      type: 'gauge',
      samples: [{ value: waiting }],
      help: 'Messages that are not sent yet.',
    },
  ];
}

function conditionNow(subject: string, view: FleetView, budgets: GroupBudgets): Condition | null {
  if (!subject.startsWith(GROUP)) {
    const device = view.get(subject);
    return device === undefined ? null : conditionOf(device);
  }
  if (!budgets.areKnown) return null;
  const line = budgets.lines.find(({ name }) => name === subject.slice(GROUP.length));
  return line?.warning === 'over_budget' ? 'over_budget' : 'fine';
}

/** The device's open call; null: there is none, or the device is disconnected, so that its retained state may be stale. */
function openCall(device: DeviceView | undefined): string | null {
  if (device === undefined || device.status === null || !claimsConnection(device.status)) return null;
  return device.call;
}

function callMessage(device: string, { config, clock }: WatchParts): object {
  return {
    ts: timestamp(clock.wall()),
    kind: 'help',
    before: null,
    device,
    group: null,
    site: siteOf(config, nameOf(device)),
    reasons: [],
  };
}

/** A message of the webhook, see docs/backend.md. */
function messageOf(
  { subject, condition, before }: Change,
  { config, clock }: WatchParts,
  view: FleetView,
): object {
  const isGroup = subject.startsWith(GROUP);
  return {
    ts: timestamp(clock.wall()),
    kind: condition === 'fine' ? 'recovered' : condition,
    before: before === 'fine' ? null : before,
    device: isGroup ? null : subject,
    group: isGroup ? subject.slice(GROUP.length) : null,
    site: isGroup ? null : siteOf(config, nameOf(subject)),
    reasons: isGroup ? [] : (view.get(subject)?.reasons ?? []),
  };
}
