/** The command `languages`: validated like the configuration, and answered with the service's verdict. */
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/protocol/config.ts';
import { closed, ready, rejected } from '../service-events.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';

async function live() {
  const deps = createFakeDeps();
  await deps.goLive();
  deps.clock.advance(5000);
  return deps;
}
type Fake = Awaited<ReturnType<typeof live>>;

const order = (deps: Fake, args: Record<string, unknown>, id = 'a'): void =>
  deps.command('languages', { id, args });
const brief = (deps: Fake): unknown[] =>
  deps
    .answers('languages')
    .map(({ status, error }) => (error as { code: string } | undefined)?.code ?? status);
const optionsOf = (deps: Fake) => deps.agent.lanes[0]?.state.options;
/** The service answers that the task runs. */
async function taskRuns(deps: Fake): Promise<void> {
  deps.clock.advance(3000);
  deps.lastStream().listener.pong();
  deps.service(ready());
  await deps.clock.elapse(0);
}
const reject = (deps: Fake, text: string): void => deps.service(rejected(text));

describe('languages', () => {
  it('are accepted at once, and ok when the task runs', async () => {
    const deps = await live();
    order(deps, { source: 'de', targets: ['en', 'ja'] });
    expect(deps.lastStream().calls.at(-1)).toContain('"source":"de"');
    expect(brief(deps)).toEqual(['accepted']);
    await taskRuns(deps);
    expect(brief(deps)).toEqual(['accepted', 'ok']);
    expect(deps.answers('languages')[1]).toMatchObject({
      data: { lanes: [{ phase: 'live', source: 'de', targets: ['en', 'ja'] }] },
    });
    expect(deps.answers('languages')[1]?.['data']).not.toHaveProperty('note');
  });

  it("are rejected with the service's message when it refuses them, and the earlier languages continue", async () => {
    const deps = await live();
    order(deps, { targets: ['qqq'] });
    reject(deps, 'unknown language qqq');
    await deps.clock.elapse(0);
    expect(brief(deps)).toEqual(['accepted', 'rejected']);
    expect(deps.answers('languages')[1]).toMatchObject({
      error: { message: expect.stringContaining('unknown language qqq') },
    });
    expect(optionsOf(deps)).toMatchObject({ targets: ['qqq'] });
    await deps.clock.elapse(2100);
    const told = deps.lastStream().calls.filter((call) => call.startsWith('runTask'));
    expect(told.at(-1)).toContain('"targets":["es"]');
  });

  it('time out when the service does not answer', async () => {
    const deps = await live();
    order(deps, { targets: ['fr'] });
    await deps.clock.elapse(29_000);
    expect(brief(deps)).toEqual(['accepted']);
    await deps.clock.elapse(1000);
    expect(brief(deps)).toEqual(['accepted', 'no_answer']);
    await deps.clock.elapse(60_000);
    expect(brief(deps)).toHaveLength(2);
    expect(optionsOf(deps)).toMatchObject({ targets: ['fr'] });
  });

  it('take effect with the next session, with a note, when no stream is open', async () => {
    const deps = createFakeDeps(testConfig({ start: 'command' }));
    await deps.agent.start();
    deps.brokerUp();
    order(deps, { targets: ['fr'] });
    expect(deps.answers('languages')).toMatchObject([
      { status: 'ok', data: { note: expect.stringContaining('next session'), lanes: [{ targets: ['fr'] }] } },
    ]);
  });

  it('are judged on the next stream when the first ends before the answer', async () => {
    const deps = await live();
    order(deps, { targets: ['fr'] });
    deps.lastStream().listener.said(closed());
    await deps.clock.elapse(3000);
    expect(brief(deps)).toEqual(['accepted']);
    deps.grant();
    deps.lastStream().listener.opened();
    expect(deps.lastStream().calls[0]).toContain('"targets":["fr"]');
    await taskRuns(deps);
    expect(brief(deps)).toEqual(['accepted', 'ok']);
    expect(deps.answers('languages')[1]?.['data']).not.toHaveProperty('note');
  });

  it('take effect with the next session when the stream is stopped before the answer', async () => {
    const deps = await live();
    order(deps, { targets: ['fr'] });
    deps.command('stop', { id: 'stop' });
    deps.lastStream().listener.said(closed('closed'));
    await deps.clock.elapse(0);
    expect(brief(deps)).toEqual(['accepted', 'ok']);
    expect(deps.answers('languages')[1]).toMatchObject({ data: { note: expect.any(String) } });
  });

  it('are rejected also when the first task of a session contains them', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.grant();
    deps.lastStream().listener.opened();
    order(deps, { targets: ['qqq'] });
    await deps.clock.elapse(2500);
    reject(deps, 'unknown language qqq');
    await deps.clock.elapse(0);
    expect(brief(deps)).toEqual(['accepted', 'rejected']);
  });

  it('are ok at once when they already run, and nothing is sent', async () => {
    const deps = await live();
    const calls = deps.lastStream().calls.length;
    order(deps, { source: 'en', targets: ['es'] });
    expect(brief(deps)).toEqual(['ok']);
    expect(deps.lastStream().calls).toHaveLength(calls);
  });

  it('from two commands in a row: the first is superseded, the second is answered', async () => {
    const deps = await live();
    order(deps, { targets: ['fr'] }, 'a');
    order(deps, { targets: ['de'] }, 'b');
    await deps.clock.elapse(2500);
    expect(deps.answers('languages').map(({ id, status }) => [id, status])).toEqual([
      ['a', 'accepted'],
      ['b', 'accepted'],
      ['a', 'error'],
    ]);
    // The first was under way; the second is answered once it runs.
    await taskRuns(deps);
    expect(deps.answers('languages')).toHaveLength(3);
    await taskRuns(deps);
    expect(deps.answers('languages').at(-1)).toMatchObject({ id: 'b', status: 'ok' });
    expect(optionsOf(deps)).toMatchObject({ targets: ['de'] });
  });

  it('changed and changed back: the second answer waits for the last task', async () => {
    const deps = await live();
    order(deps, { targets: ['fr'] }, 'a');
    order(deps, { targets: ['es'] }, 'b');
    await deps.clock.elapse(0);
    expect(deps.answers('languages').find(({ id, status }) => id === 'b' && status === 'ok')).toBeUndefined();
    deps.clock.advance(2100);
    await taskRuns(deps);
    expect(deps.answers('languages').find(({ id, status }) => id === 'b' && status === 'ok')).toBeUndefined();
    await taskRuns(deps);
    expect(deps.answers('languages').at(-1)).toMatchObject({ id: 'b', status: 'ok' });
  });

  it('from many commands in a row: each has one answer, and the last is ok', async () => {
    const deps = await live();
    const names = ['fr', 'de', 'it', 'ja', 'pt', 'pl', 'nl'];
    for (const [i, target] of names.entries()) {
      order(deps, { targets: [target] }, `${i}`);
      await deps.clock.elapse(2800);
      deps.lastStream().listener.pong();
      deps.service(ready());
    }
    for (let i = 0; i < 3; i++) await taskRuns(deps);
    const answers = deps.answers('languages').filter(({ status }) => status !== 'accepted');
    expect(answers.map(({ id, error }) => [id, (error as { code: string } | undefined)?.code])).toEqual(
      names.map((_, i) => [`${i}`, i < names.length - 1 ? 'superseded' : undefined]),
    );
    expect(answers.at(-1)?.status).toBe('ok');
    expect(optionsOf(deps)).toMatchObject({ targets: ['nl'] });
  });

  const refused: readonly [Record<string, unknown>, string][] = [
    [{ targets: ['de', 'de'] }, 'twice'],
    [{ targets: ['pt-br', 'pt-BR'] }, 'twice'],
    [{ targets: ['en'] }, 'the source already'],
    [{ source: 'es' }, 'the source already'],
    [{ source: 'fr', targets: ['de', 'fr'] }, 'the source already'],
    [{ targets: [] }, 'targets'],
    [{ targets: Array.from({ length: 9 }, (_, index) => `a${'abcdefghi'[index]}`) }, 'targets'],
    [{ source: `en-${'abcdefgh-'.repeat(9000)}x` }, '35 characters'],
  ];
  it.each(refused)('as in %j are refused before any change: %s', async (args, why) => {
    const deps = await live();
    const calls = deps.lastStream().calls.length;
    order(deps, args);
    expect(deps.answers('languages')).toMatchObject([
      { error: { code: 'invalid_args', message: expect.stringContaining(why) } },
    ]);
    expect(optionsOf(deps)).toMatchObject({ source: 'en', targets: ['es'] });
    expect(deps.lastStream().calls).toHaveLength(calls);
  });

  it.each(refused)('as in %j are refused in a configuration too: %s', (args, why) => {
    const [lane] = testConfig().lanes;
    const config = { ...testConfig(), lanes: [{ ...lane, ...args }] };
    const parsed = configSchema.safeParse(config);
    expect(parsed.success).toBe(false);
    expect(JSON.stringify(parsed.error?.issues)).toContain(why);
  });
});
