/** Jobs that the console lists and opens. */
import { beforeEach, expect, it } from 'vitest';
import type { Call } from '../../../src/backend/console/call.ts';
import { type FleetParts, fleetRoutes } from '../../../src/backend/console/routes-fleet.ts';
import { createJob, type JobRecord, stopJob } from '../../../src/backend/jobs/job-state.ts';
import { textOfJob } from '../../../src/backend/jobs/job-text.ts';
import { createConsoleStore } from '../../../src/backend/store/console-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import type { ConsoleStore } from '../../../src/ports/console-store.ts';
import { MEMORY_STORE } from '../../../src/protocol/backend-config.ts';

const NOW = Date.UTC(2026, 9, 31, 23, 59, 30);
const COMMAND = { who: 'ann', command: 'mute', args: {}, validMs: 60_000, auditLine: 'l' };
const devicesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `museum/${String(index).padStart(3, '0')}`);

let store: ConsoleStore;
/** Jobs on which this backend works. */
const held = new Map<string, JobRecord>();
beforeEach(async () => {
  held.clear();
  store = createConsoleStore(createSqliteEngine(MEMORY_STORE));
  await store.open();
  return () => store.close();
});

async function save(id: string, at: number, devices = devicesOf(1)): Promise<JobRecord> {
  const job = createJob({ ...COMMAND, id, devices }, at);
  await store.saveJob({ id, at, endedAt: null, body: textOfJob(job) }, 'another backend', 15_000);
  return job;
}

async function ask(route: 'GET /api/jobs' | 'GET /api/jobs/:id', id = '', query = ''): Promise<unknown> {
  const jobs = { find: (wanted: string) => held.get(wanted) ?? null };
  const routes = fleetRoutes({ store, jobs, signer: null } as unknown as FleetParts);
  const request = { query: new URLSearchParams(query) };
  const answer = await routes[route]({ request, params: { id } } as unknown as Call);
  return 'json' in answer ? answer.json : null;
}

it('lists the latest hundred jobs, newest first, as far as this backend has come', async () => {
  const ids = Array.from({ length: 101 }, (_, index) => `job-${index}`);
  for (const [index, id] of ids.entries()) await save(id, NOW + index);
  const mine = createJob({ ...COMMAND, id: 'job-100', devices: devicesOf(1) }, NOW + 100);
  stopJob(mine, 'stopped');
  held.set(mine.id, mine);
  const { jobs } = (await ask('GET /api/jobs')) as { jobs: { id: string; counts: object }[] };
  expect(jobs.map(({ id }) => id)).toEqual(ids.slice(1).reverse());
  expect(jobs.slice(0, 2)).toMatchObject([
    { counts: { stopped: 1, waiting: 0 } },
    { counts: { stopped: 0, waiting: 1 } },
  ]);
});

it('shows a window of at most 500 devices of one job', async () => {
  await save('large', NOW, devicesOf(600));
  const shown = (query: string) =>
    ask('GET /api/jobs/:id', 'large', query) as Promise<{ total: number; devices: { device: string }[] }>;
  const wide = await shown('first=50&last=1000');
  expect(wide.total).toBe(600);
  expect(wide.devices.map(({ device }) => device)).toEqual(devicesOf(600).slice(50, 550));
  expect((await shown('first=590&last=1000')).devices).toHaveLength(10);
});
