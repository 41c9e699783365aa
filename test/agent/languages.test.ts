/** The command `languages`: checked as the configuration is, and answered with what the service says. */
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/protocol/config.ts';
import { createFakeWorld, testConfig } from './fake-world.ts';

async function live() {
  const world = createFakeWorld();
  await world.goLive();
  world.clock.advance(5000);
  return world;
}
type World = Awaited<ReturnType<typeof live>>;

const order = (world: World, args: Record<string, unknown>, id = 'a'): void =>
  world.command('languages', { id, args });
const brief = (world: World): unknown[] =>
  world
    .answers('languages')
    .map(({ status, error }) => (error as { code: string } | undefined)?.code ?? status);
const ordersOf = (world: World) => world.agent.lanes[0]?.state.orders;
/** The service answers the question whether the task runs. */
async function taskRuns(world: World): Promise<void> {
  world.clock.advance(3000);
  world.service({ message_type: 'current_task', data: {} });
  await world.clock.elapse(0);
}
const reject = (world: World, desc: string): void =>
  world.service({ message_type: 'error', data: { code: 'VALIDATION_ERROR', desc } });

describe('languages', () => {
  it('is accepted at once, and ok when the task runs', async () => {
    const world = await live();
    order(world, { source: 'de', targets: ['en', 'ja'] });
    expect(world.lastStream().calls.at(-1)).toContain('"source_language":"de"');
    expect(brief(world)).toEqual(['accepted']);
    await taskRuns(world);
    expect(brief(world)).toEqual(['accepted', 'ok']);
    expect(world.answers('languages')[1]).toMatchObject({
      data: { lanes: [{ phase: 'live', source: 'de', targets: ['en', 'ja'] }] },
    });
    expect(world.answers('languages')[1]?.['data']).not.toHaveProperty('note');
  });

  it('that the service does not take is rejected in its words, and the languages before it go on', async () => {
    const world = await live();
    order(world, { targets: ['qqq'] });
    reject(world, 'unknown language qqq');
    await world.clock.elapse(0);
    expect(brief(world)).toEqual(['accepted', 'rejected']);
    expect(world.answers('languages')[1]).toMatchObject({
      error: { message: expect.stringContaining('unknown language qqq') },
    });
    expect(ordersOf(world)).toMatchObject({ targets: ['es'] });
  });

  it('that the service never answers is told after a bound', async () => {
    const world = await live();
    order(world, { targets: ['fr'] });
    await world.clock.elapse(29_000);
    expect(brief(world)).toEqual(['accepted']);
    await world.clock.elapse(1000);
    expect(brief(world)).toEqual(['accepted', 'no_answer']);
    await world.clock.elapse(60_000);
    expect(brief(world)).toHaveLength(2);
    expect(ordersOf(world)).toMatchObject({ targets: ['fr'] });
  });

  it('takes effect with the next session where nobody streams, and says so', async () => {
    const world = createFakeWorld(testConfig({ start: 'command' }));
    await world.agent.start();
    world.brokerUp();
    order(world, { targets: ['fr'] });
    expect(world.answers('languages')).toMatchObject([
      { status: 'ok', data: { note: expect.stringContaining('next session'), lanes: [{ targets: ['fr'] }] } },
    ]);
  });

  it('whose stream ends before the service has answered is judged on the next', async () => {
    const world = await live();
    order(world, { targets: ['fr'] });
    world.lastStream().listener.ended(1006, '');
    await world.clock.elapse(3000);
    expect(brief(world)).toEqual(['accepted']);
    world.grant();
    world.lastStream().listener.opened();
    expect(world.lastStream().calls[0]).toContain('"target_language":"fr"');
    await taskRuns(world);
    expect(brief(world)).toEqual(['accepted', 'ok']);
    expect(world.answers('languages')[1]?.['data']).not.toHaveProperty('note');
  });

  it('whose stream is stopped before the service has answered takes effect with the next', async () => {
    const world = await live();
    order(world, { targets: ['fr'] });
    world.command('stop', { id: 'stop' });
    world.lastStream().listener.ended(1000, '');
    await world.clock.elapse(0);
    expect(brief(world)).toEqual(['accepted', 'ok']);
    expect(world.answers('languages')[1]).toMatchObject({ data: { note: expect.any(String) } });
  });

  it('that the first task of a session names are rejected, too', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.grant();
    world.lastStream().listener.opened();
    order(world, { targets: ['qqq'] });
    await world.clock.elapse(2500);
    reject(world, 'unknown language qqq');
    await world.clock.elapse(0);
    expect(brief(world)).toEqual(['accepted', 'rejected']);
  });

  it('that run already are ok at once, and nothing is sent', async () => {
    const world = await live();
    const calls = world.lastStream().calls.length;
    order(world, { source: 'en', targets: ['es'] });
    expect(brief(world)).toEqual(['ok']);
    expect(world.lastStream().calls).toHaveLength(calls);
  });

  it('of two commands in a row: the first is superseded, the second has the answer', async () => {
    const world = await live();
    order(world, { targets: ['fr'] }, 'a');
    order(world, { targets: ['de'] }, 'b');
    await world.clock.elapse(2500);
    expect(world.answers('languages').map(({ id, status }) => [id, status])).toEqual([
      ['a', 'accepted'],
      ['b', 'accepted'],
      ['a', 'error'],
    ]);
    await taskRuns(world);
    expect(world.answers('languages').at(-1)).toMatchObject({ id: 'b', status: 'ok' });
    expect(ordersOf(world)).toMatchObject({ targets: ['de'] });
  });

  it('there and back again: the answer waits for the last task, not for the one before it', async () => {
    const world = await live();
    order(world, { targets: ['fr'] }, 'a');
    order(world, { targets: ['es'] }, 'b');
    await world.clock.elapse(0);
    expect(
      world.answers('languages').find(({ id, status }) => id === 'b' && status === 'ok'),
    ).toBeUndefined();
    world.clock.advance(2100);
    await taskRuns(world);
    expect(world.answers('languages').at(-1)).toMatchObject({ id: 'b', status: 'ok' });
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
  it.each(refused)('%j is refused before anything is changed: %s', async (args, why) => {
    const world = await live();
    const calls = world.lastStream().calls.length;
    order(world, args);
    expect(world.answers('languages')).toMatchObject([
      { error: { code: 'invalid_args', message: expect.stringContaining(why) } },
    ]);
    expect(ordersOf(world)).toMatchObject({ source: 'en', targets: ['es'] });
    expect(world.lastStream().calls).toHaveLength(calls);
  });

  it.each(refused)('%j is no configuration either: %s', (args, why) => {
    const [lane] = testConfig().lanes;
    const config = { ...testConfig(), lanes: [{ ...lane, ...args }] };
    const parsed = configSchema.safeParse(config);
    expect(parsed.success).toBe(false);
    expect(JSON.stringify(parsed.error?.issues)).toContain(why);
  });
});
