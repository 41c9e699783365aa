/** The fleet, its devices, commands to them and their configuration. */
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import { type ConfigChange, configChangeSchema } from '../../protocol/console-config.ts';
import type { DeviceHealth } from '../../protocol/console-device.ts';
import { deviceNameSchema, type FleetWindow, fleetViewSchema } from '../../protocol/console-fleet.ts';
import {
  commandRequestSchema,
  type Job,
  type JobDetail,
  jobWindowSchema,
} from '../../protocol/console-jobs.ts';
import { logRequestSchema } from '../../protocol/console-log.ts';
import { includesRole } from '../../protocol/console-routes.ts';
import { viewChangeSchema } from '../../protocol/console-stream.ts';
import { commandNamed } from '../../protocol/mqtt/commands/registry.ts';
import { nameSchema } from '../../protocol/mqtt/topics.ts';
import { detailOf } from '../fleet/device-detail.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { FleetDevice } from '../fleet/fleet-device.ts';
import { readHealth, STEP_S } from '../fleet/health-ring.ts';
import { makeRegistry } from '../fleet/registry.ts';
import { createSortedList } from '../fleet/sorted-list.ts';
import { deviceOf, type JobRecord, keptArgs, shownJob } from '../jobs/job-state.ts';
import { readJob } from '../jobs/job-text.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Action, Audit } from './audit.ts';
import { type Call, check, readBody, readJsonQuery, readQuery } from './call.ts';
import {
  createDesiredChanges,
  type DesiredChange,
  type DesiredParts,
  deviceConfig,
  groupConfig,
  publishedAs,
  UNSIGNED_WARNING,
} from './desired.ts';
import type { Viewer } from './event-stream.ts';
import { notFound, Refusal } from './refusal.ts';
import type { Handlers } from './router.ts';
import { selectedDevices } from './selection.ts';
import type { Streams } from './streams.ts';

const MOST_JOBS = 100;
const MOST_JOB_ROWS = 500;

export interface FleetParts extends DesiredParts {
  readonly fleet: Fleet;
  readonly streams: Streams;
  readonly jobs: Jobs;
  readonly store: ConsoleStore;
  readonly audit: Audit;
  readonly clock: Clock;
}

type FleetRoute =
  | 'GET /api/registry'
  | 'GET /api/stream'
  | 'GET /api/snapshot'
  | 'POST /api/stream/view'
  | 'GET /api/devices'
  | 'GET /api/devices/:tenant/:device'
  | 'GET /api/devices/:tenant/:device/health'
  | 'GET /api/devices/:tenant/:device/config'
  | 'POST /api/devices/:tenant/:device/log'
  | 'POST /api/commands'
  | 'GET /api/jobs'
  | 'GET /api/jobs/:id'
  | 'POST /api/jobs/:id/stop'
  | 'POST /api/config'
  | 'GET /api/groups/:tenant/:group/config';

export function fleetRoutes(parts: FleetParts): Pick<Handlers, FleetRoute> {
  const { fleet, streams, jobs, store, audit, clock, prefix, signer } = parts;
  const registry = makeRegistry(signer !== null);
  const changeDesired = createDesiredChanges(parts);
  const viewerOf = (call: Call): Viewer => {
    const view = readJsonQuery(call, 'view', fleetViewSchema);
    const device = call.request.query.get('device');
    if (device !== null) check(deviceNameSchema, device);
    const { key, who } = call.session;
    return { session: key, who, view, device };
  };
  const deviceIn = ({ params }: Call): FleetDevice => {
    streams.refresh();
    const name = `${params['tenant']}/${params['device']}`;
    const device = fleet.devices.get(name);
    if (device === undefined) throw notFound(`device "${name.slice(0, 129)}"`);
    return device;
  };
  const command = async (
    call: Call,
    name: string,
    args: Record<string, unknown>,
    devices: string[],
    validS: number,
  ): Promise<Job> => {
    const definition = commandNamed(name);
    if (definition === null) throw notFound(`command "${name}"`);
    const { who } = call.session;
    if (!includesRole(who.role, definition.role))
      throw new Refusal(403, 'role', `this command needs the role ${definition.role}; yours is ${who.role}`);
    check(definition.args, args);
    const [first = ''] = devices;
    const on = devices.length === 1 ? first : `${devices.length} devices`;
    const line = await audit.begin({
      who: who.name,
      from: call.request.address,
      what: `command.${name}`,
      on,
      args: keptArgs(args, definition.keeps),
    });
    try {
      const { keeps } = definition;
      const newJob = { who: who.name, command: name, args, keeps, validMs: validS * 1000, devices };
      return shownJob(await jobs.begin({ ...newJob, auditLine: line }));
    } catch (error) {
      await audit.end(line, false, 'the job could not be written').catch(() => {});
      throw error;
    }
  };
  /** The audit does not keep a refused document, which may contain anything. @throws Refusal */
  const checkedDesired = async (change: ConfigChange, action: Action): Promise<DesiredChange> => {
    try {
      return await changeDesired(change);
    } catch (error) {
      const refused = { ...action, args: { basedOn: change.basedOn } };
      await audit.act(refused, () => Promise.reject(error));
      throw error;
    }
  };
  const storedJob = async (id: string): Promise<JobRecord> => {
    const known = jobs.find(id);
    if (known !== null) return known;
    const stored = await store.job(id);
    const read = stored === null ? null : readJob(stored.body);
    if (read === null) throw notFound('such job');
    return read.job;
  };

  return {
    'GET /api/registry': async () => ({ json: registry }),
    'GET /api/stream': async (call) => {
      const viewer = viewerOf(call);
      if (!streams.mayOpen(viewer.who))
        throw new Refusal(503, 'too_many', 'too many pages are open: close one', { retryAfterS: 10 });
      return { kind: 'stream', open: (sink) => streams.open(viewer, sink) };
    },
    'GET /api/snapshot': async (call) => ({ json: streams.snapshot(viewerOf(call)) }),
    'POST /api/stream/view': async (call) => {
      const change = await readBody(call, viewChangeSchema);
      if (!streams.change(call.session.key, change)) throw notFound('such stream: connect again');
      return { json: {} };
    },
    'GET /api/devices': async (call) => {
      const view = readJsonQuery(call, 'view', fleetViewSchema);
      streams.refresh();
      const list = createSortedList(view, fleet.devices.values());
      const rows = list.window(view.first, view.last).map(({ row }) => row);
      const window: FleetWindow = { number: 0, total: list.total, first: view.first, rows };
      return { json: window };
    },
    'GET /api/devices/:tenant/:device': async (call) => ({ json: detailOf(deviceIn(call), prefix) }),
    'GET /api/devices/:tenant/:device/health': async (call) => {
      const { fromMs, series } = readHealth(deviceIn(call).ring, clock.wall() ?? 0);
      const health: DeviceHealth = { from: new Date(fromMs).toISOString(), stepS: STEP_S, series };
      return { json: health };
    },
    'GET /api/devices/:tenant/:device/config': async (call) => ({
      json: deviceConfig(deviceIn(call), fleet),
    }),
    'POST /api/devices/:tenant/:device/log': async (call) => {
      const { minutes, level } = await readBody(call, logRequestSchema);
      const device = deviceIn(call);
      const job = await command(call, 'log_stream', { minutes, level }, [device.name], 30);
      device.logUntil = (clock.wall() ?? 0) + minutes * 60_000;
      return { json: { job } };
    },
    'POST /api/commands': async (call) => {
      const { command: name, args, to, validS } = await readBody(call, commandRequestSchema);
      streams.refresh();
      return { json: { job: await command(call, name, args, selectedDevices(fleet, to), validS) } };
    },
    'GET /api/jobs': async () => {
      const stored = await store.jobs(MOST_JOBS);
      const shown = stored.flatMap(({ id, body }) => {
        const job = jobs.find(id) ?? readJob(body)?.job;
        return job === undefined ? [] : [shownJob(job)];
      });
      return { json: { jobs: shown } };
    },
    'GET /api/jobs/:id': async (call) => {
      const { state, first, last } = readQuery(call, jobWindowSchema);
      const job = await storedJob(call.params['id'] ?? '');
      const fitting = [...job.devices].filter(([, entry]) => state === undefined || entry.state === state);
      const rows = fitting.slice(first, Math.min(last, first + MOST_JOB_ROWS));
      const detail: JobDetail = {
        job: shownJob(job),
        total: fitting.length,
        first,
        devices: rows.map(([name, entry]) => deviceOf(name, entry)),
      };
      return { json: detail };
    },
    'POST /api/jobs/:id/stop': async (call) => {
      const job = jobs.find(call.params['id'] ?? '');
      if (job === null)
        throw new Refusal(
          404,
          'not_found',
          'the job has ended, or no backend runs it yet: try again in half a minute',
        );
      const action = { who: call.session.who.name, from: call.request.address, what: 'job.stop', on: job.id };
      await audit.act(action, async () => {
        jobs.stop(job);
        return { result: 'stopped' };
      });
      return { json: { job: shownJob(job) } };
    },
    'POST /api/config': async (call) => {
      const change = await readBody(call, configChangeSchema);
      const { target, basedOn } = change;
      const isGroup = 'group' in target;
      const action = {
        who: call.session.who.name,
        from: call.request.address,
        what: isGroup ? 'config.group' : 'config.device',
        on: isGroup ? `${target.tenant}/group/${target.group}` : target.device,
      };
      const checked = await checkedDesired(change, action);
      const { document, version } = checked;
      try {
        await audit.act({ ...action, args: { basedOn, document } }, async () => {
          await checked.publish();
          return { result: publishedAs(version) };
        });
      } finally {
        await checked.end();
      }
      return { json: { version, warnings: signer === null ? [UNSIGNED_WARNING] : [] } };
    },
    'GET /api/groups/:tenant/:group/config': async ({ params }) => {
      streams.refresh();
      const tenant = check(nameSchema, params['tenant']);
      return { json: groupConfig(fleet, tenant, check(nameSchema, params['group'])) };
    },
  };
}
