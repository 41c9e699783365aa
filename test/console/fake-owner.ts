import type { Job, JobDevice, JobState } from '../../src/protocol/console-jobs.ts';
import { JOB_STATES } from '../../src/protocol/console-jobs.ts';
import type { ConsoleProblem } from '../../src/protocol/console-routes.ts';
import { AUDIT, CONFIG, conversationsBy, costBy, HEALTH, PEOPLE, REGISTRY } from './owner-fixtures.ts';

/** What a route answers; `problem` with its status. */
export type FakeAnswer =
  | { readonly value: unknown }
  | { readonly status: number; readonly problem: ConsoleProblem };

/** What these routes need of the console. */
export interface FakeJobs {
  readonly jobs: Job[];
  readonly jobDevices: Map<string, JobDevice[]>;
  readonly rows: ReadonlyMap<string, unknown>;
  sendAll(diff: { readonly jobs: readonly Job[] }): void;
}

/** What the routes beside sign-in, stream and devices answer. */
export function answerOwner(
  fake: FakeJobs,
  key: string,
  url: URL,
  body: Record<string, unknown>,
): FakeAnswer {
  const { pathname, searchParams } = url;
  if (key === 'GET /api/registry') return { value: REGISTRY };
  if (key === 'GET /api/people') return { value: { people: PEOPLE } };
  if (key === 'GET /api/cost') return { value: costBy((searchParams.get('by') ?? 'device') as 'device') };
  if (key === 'GET /api/conversations')
    return { value: conversationsBy((searchParams.get('by') ?? 'day') as 'day') };
  if (key === 'GET /api/audit') {
    const who = searchParams.get('who') ?? '';
    return { value: { lines: AUDIT.filter((line) => line.who.includes(who)), before: null } };
  }
  if (key === 'GET /api/jobs') return { value: { jobs: fake.jobs } };
  if (key === 'POST /api/commands') return { value: { job: addJob(fake, body) } };
  if (key === 'POST /api/config') return { value: { version: 4, warnings: [] } };
  if (pathname.endsWith('/health')) return { value: HEALTH };
  if (pathname.startsWith('/api/groups/'))
    return { value: { desired: { version: 7, log: { level: 'info' } }, devices: 20, applied: 18 } };
  if (pathname.endsWith('/config')) return { value: CONFIG };
  if (pathname.endsWith('/log'))
    return { value: { job: addJob(fake, { command: 'log_stream', args: body }) } };
  const [, id] = /^\/api\/jobs\/([^/]+)(?:\/stop)?$/.exec(pathname) ?? [];
  const job = fake.jobs.find((one) => one.id === id);
  if (job !== undefined) {
    const state = searchParams.get('state');
    const all = fake.jobDevices.get(job.id) ?? [];
    const found = all.filter((one) => state === null || one.state === state);
    return {
      value: {
        job,
        total: found.length,
        first: 0,
        devices: found.slice(0, Number(searchParams.get('last') ?? 100)),
      },
    };
  }
  return { status: 404, problem: { code: 'not_found', message: 'There is no such thing.' } };
}

export function countsOf(devices: readonly JobDevice[]): Job['counts'] {
  const counts = JOB_STATES.map((state) => [state, devices.filter((one) => one.state === state).length]);
  return Object.fromEntries(counts) as Record<JobState, number>;
}

function addJob(fake: FakeJobs, body: Record<string, unknown>): Job {
  const to = body['to'] as { devices?: string[] } | undefined;
  const names = to?.devices ?? [...fake.rows.keys()];
  const devices = names.map(
    (device): JobDevice => ({ device, state: 'sent', code: null, message: null, data: null }),
  );
  const job: Job = {
    id: `job-${fake.jobs.length + 1}`,
    at: '2026-11-27T08:21:00.000Z',
    who: 'anna',
    command: String(body['command']),
    args: (body['args'] ?? {}) as Record<string, unknown>,
    devices: devices.length,
    counts: countsOf(devices),
    endedAt: null,
    first: devices[0] ?? null,
  };
  fake.jobs.unshift(job);
  fake.jobDevices.set(job.id, devices);
  fake.sendAll({ jobs: [job] });
  return job;
}

/** The devices of a job answer. */
export function answerJob(
  fake: FakeJobs,
  id: string,
  answer: (device: JobDevice, at: number) => Partial<JobDevice>,
): void {
  const devices = (fake.jobDevices.get(id) ?? []).map((one, at) => ({ ...one, ...answer(one, at) }));
  fake.jobDevices.set(id, devices);
  const counts = countsOf(devices);
  const isOpen = counts.waiting + counts.sent + counts.accepted > 0;
  const before = fake.jobs.find((job) => job.id === id);
  if (before === undefined) throw new Error(`there is no job ${id}`);
  const job: Job = {
    ...before,
    counts,
    endedAt: isOpen ? null : '2026-11-27T08:21:05.000Z',
    first: devices[0] ?? null,
  };
  fake.jobs.splice(fake.jobs.indexOf(before), 1, job);
  fake.sendAll({ jobs: [job] });
}
