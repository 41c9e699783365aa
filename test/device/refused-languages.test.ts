/** Languages that the service refuses: the lane continues with the last accepted ones, also after a restart. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTasks, TASKS_FILE_VERSION, writeTasks } from '../../src/device/lane/runner/accepted-tasks.ts';
import { ready, rejected } from '../service-events.ts';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

const DESIRED = `${BASE}/config/desired`;
const RECORDS = new URL('./state-files/', import.meta.url);
/** Version 1 of the file, as the program of that time wrote it. */
const WRITTEN = readFileSync(new URL('tasks-1.json', RECORDS), 'utf8');

const reject = (deps: FakeDeps): void => deps.service(rejected('unknown target_language xx'));
const targetsTold = (deps: FakeDeps): string[] =>
  deps
    .lastStream()
    .calls.filter((call) => call.startsWith('runTask'))
    .map((call) => /"targets":\["([^"]+)"/.exec(call)?.[1] ?? 'none');
function laneState(deps: FakeDeps) {
  deps.clock.advance(1000);
  const { lanes = [] } = (deps.sent('state').at(-1)?.body ?? {}) as { lanes?: Record<string, unknown>[] };
  return lanes[0];
}
function errorsReported(deps: FakeDeps) {
  deps.clock.advance(1000);
  return deps.sent('config/reported').at(-1)?.body['errors'];
}
/** The service runs the last task. */
function run(deps: FakeDeps): void {
  deps.clock.advance(6000);
  deps.service(ready());
}
async function connect(deps: FakeDeps): Promise<void> {
  await deps.agent.start();
  deps.brokerUp();
  deps.grant();
  deps.lastStream().listener.opened();
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A kiosk whose owner has set languages that the service refused. */
async function refused() {
  const files = { desired: createMemoryFile(), tasks: createMemoryFile() };
  const more = { desiredFile: files.desired.file, taskFile: files.tasks.file };
  const deps = createFakeDeps(testConfig(), more);
  await deps.goLive();
  deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', targets: ['xx'] }] });
  deps.clock.advance(3000);
  reject(deps);
  run(deps);
  await settle();
  return { deps, files, restart: () => createFakeDeps(testConfig(), more) };
}

describe('languages that the service refuses', () => {
  it('are reported in state and config/reported while the earlier ones continue', async () => {
    const { deps } = await refused();
    expect(deps.agent.lanes[0]?.phase).toBe('live');
    expect(laneState(deps)).toMatchObject({
      phase: 'live',
      targets: ['es'],
      refused_task: { targets: ['xx'], message: 'unknown target_language xx' },
    });
    expect(errorsReported(deps)).toEqual([
      {
        from: 'device',
        key: 'lanes[0].targets',
        message: 'the service says: unknown target_language xx',
      },
    ]);
  });

  it('are retried after a restart while the earlier ones continue, and the state shows it', async () => {
    const { restart } = await refused();
    const deps = restart();
    await connect(deps);
    reject(deps);
    run(deps);
    expect(targetsTold(deps)).toEqual(['xx', 'es']);
    expect(laneState(deps)).toMatchObject({
      phase: 'live',
      targets: ['es'],
      refused_task: { targets: ['xx'], message: 'unknown target_language xx' },
    });
    expect(errorsReported(deps)).toMatchObject([{ from: 'device', key: 'lanes[0].targets' }]);
    expect(deps.agent.publisher.status()).toMatchObject({ status: 'ready' });
  });

  it('are spoken after a restart once the service accepts them, and are no longer reported', async () => {
    const { restart } = await refused();
    const deps = restart();
    await connect(deps);
    run(deps);
    expect(laneState(deps)).toMatchObject({ phase: 'live', targets: ['xx'], refused_task: null });
    expect(errorsReported(deps)).toEqual([]);
  });

  it('stay reported when another key is set, until config/desired removes them', async () => {
    const { deps } = await refused();
    deps.deliver(DESIRED, { version: 2, lanes: [{ id: 'main', targets: ['xx'], standbyAfter: 33 }] });
    expect(errorsReported(deps)).toMatchObject([{ key: 'lanes[0].targets' }]);
    deps.deliver(DESIRED, { version: 3, lanes: [{ id: 'main', standbyAfter: 33 }] });
    expect(errorsReported(deps)).toEqual([]);
    expect(laneState(deps)).toMatchObject({ targets: ['es'], refused_task: null });
  });

  it('park the lane without earlier languages, and are reported with the document', async () => {
    const deps = createFakeDeps(testConfig());
    await deps.agent.start();
    deps.brokerUp();
    deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', targets: ['xx'] }] });
    for (const phase of ['waiting', 'parked']) {
      deps.grant();
      deps.lastStream().listener.opened();
      reject(deps);
      expect(deps.agent.lanes[0]?.phase).toBe(phase);
      if (phase === 'waiting') deps.clock.advance(3000);
    }
    expect(laneState(deps)).toMatchObject({ phase: 'parked', refused_task: null });
    expect(errorsReported(deps)).toMatchObject([{ from: 'device', key: 'lanes[0].targets' }]);
  });

  it("are reported in the command's answer, and not as a fault of the document that the command overrides", async () => {
    const deps = createFakeDeps(testConfig());
    await deps.goLive();
    deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', targets: ['fr'] }] });
    run(deps);
    deps.command('languages', { id: 'a', args: { targets: ['xx'] } });
    deps.clock.advance(3000);
    reject(deps);
    await deps.clock.elapse(0);
    expect(deps.answers('languages').at(-1)).toMatchObject({ error: { code: 'rejected' } });
    expect(errorsReported(deps)).toEqual([]);
    run(deps);
    expect(laneState(deps)).toMatchObject({ targets: ['fr'], refused_task: { targets: ['xx'] } });
    deps.command('voice', { id: 'b', args: { voice: 'low' } });
    run(deps);
    await deps.clock.elapse(0);
    expect(deps.answers('voice').at(-1)).toMatchObject({
      status: 'ok',
      data: { lanes: [{ targets: ['fr'] }] },
    });
  });
});

describe('the tasks that the service accepted', () => {
  it('are written only when they change', async () => {
    const { files, restart } = await refused();
    expect(files.tasks.writes).toHaveLength(1);
    expect(readTasks(files.tasks.text ?? '')).toEqual({
      kind: 'kept',
      content: [{ id: 'main', source: 'en', targets: ['es'], voice: null }],
    });
    const next = restart();
    await connect(next);
    reject(next);
    run(next);
    await settle();
    expect(files.tasks.writes).toHaveLength(1);
  });

  it('can be read in each version of the file', () => {
    const lane = { id: 'main', source: 'en', targets: ['es', 'fr'], voice: null };
    expect(readTasks(WRITTEN)).toEqual({ kind: 'kept', content: [lane] });
    expect(readTasks(writeTasks([lane]))).toEqual({ kind: 'kept', content: [lane] });
    const kept = Array.from({ length: TASKS_FILE_VERSION }, (_, index) => `tasks-${index + 1}.json`);
    expect(readdirSync(RECORDS).filter((file) => file.startsWith('tasks'))).toEqual(kept);
  });

  it.each([
    '',
    '{',
    '{"version":1}',
    '{"version":99,"lanes":[]}',
    '{"version":1,"lanes":[{"id":"main","source":"en","targets":[],"voice":null}]}',
    '{"version":1,"lanes":[{"id":"main","source":"en","targets":["en"],"voice":null}]}',
    `{"version":1,"lanes":[{"id":"main","source":"${'e'.repeat(99_999)}","targets":["es"],"voice":null}]}`,
  ])('are ignored when the file holds %.60s, and the agent starts', async (text) => {
    const file = createMemoryFile();
    file.fill(text);
    const deps = createFakeDeps(testConfig(), { taskFile: file.file });
    await connect(deps);
    reject(deps);
    expect(deps.agent.lanes[0]?.phase).toBe('waiting');
    expect(JSON.stringify(deps.logged)).toContain(text === '' ? '' : 'ignoring them');
  });

  it('are reported once when they cannot be written', async () => {
    const file = createMemoryFile();
    file.fail('no space left');
    const deps = createFakeDeps(testConfig(), { taskFile: file.file });
    await deps.goLive();
    await settle();
    expect(JSON.stringify(deps.logged)).toContain('no space left; the languages that the service accepted');
  });
});
