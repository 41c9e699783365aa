/** What an attacker, or a slip, can do with commands. */
import { describe, expect, it } from 'vitest';
import { BASE, createFakeWorld } from './fake-world.ts';

const FLEET = 'dragoman/v1/museum/all';

async function live() {
  const world = createFakeWorld();
  await world.goLive();
  return world;
}
type World = Awaited<ReturnType<typeof live>>;

/** Final answers of all commands, by id. */
function finals(world: World): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { topic, body } of world.published) {
    if (!topic.endsWith('/res') || body['status'] === 'accepted') continue;
    const id = String(body['id']);
    const error = body['error'] as { code: string } | undefined;
    found.set(id, [...(found.get(id) ?? []), error?.code ?? String(body['status'])]);
  }
  return found;
}
/** What the log holds of commands; the lane has lines of its own. */
const lines = (world: World): unknown[][] =>
  world.logged.filter(([, sentence]) => String(sentence).includes('command'));
const linesOf = (world: World): number => lines(world).length;

describe('a command name of 60,000 characters', () => {
  it('is refused before anything else: no answer, one log line a minute', async () => {
    const world = await live();
    const before = { lines: linesOf(world), published: world.published.length };
    for (let i = 0; i < 1000; i++) world.deliver(`${FLEET}/cmd/${'a'.repeat(60_000)}`, { id: `n${i}` });
    world.command('a'.repeat(65), { id: 'b' });
    expect(world.published).toHaveLength(before.published);
    expect(linesOf(world)).toBe(before.lines + 1);
    expect(JSON.stringify(lines(world).at(-1)).length).toBeLessThan(200);
    world.clock.advance(66_000);
    expect(lines(world).at(-1)).toMatchObject(['warn', expect.anything(), { repeated: 1000 }]);
    world.command('a'.repeat(64), { id: 'c' });
    expect(finals(world).get('c')).toEqual(['unknown_command']);
  });
});

describe('malformed commands', () => {
  it('cost one log line a minute, however many come', async () => {
    const world = await live();
    const before = linesOf(world);
    for (let i = 0; i < 3000; i++) world.command('mute', i % 2 === 0 ? 'no json' : '{"id":5}');
    expect(linesOf(world)).toBe(before + 1);
    for (let i = 0; i < 80; i++) world.command('mute', { id: `m${i}`, args: 7 });
    expect(linesOf(world)).toBe(before + 2);
    world.clock.advance(66_000);
    expect(linesOf(world)).toBe(before + 4);
  });

  it('with arguments nested 100,000 deep are answered', async () => {
    const world = await live();
    const depth = 100_000;
    world.command('mute', `{"id":"deep","args":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`);
    expect(finals(world).get('deep')).toEqual(['malformed']);
  });
});

describe('a flood of commands', () => {
  it('is carried out up to its bound, and each gets one final answer', async () => {
    const world = await live();
    for (let i = 0; i < 10_000; i++) {
      world.command(i % 2 === 0 ? 'mute' : 'unmute', { id: `f${i}` });
      world.clock.advance(1);
    }
    const answers = finals(world);
    expect(answers.size).toBe(10_000);
    const done = [...answers.values()].map(([only, ...more]) => {
      expect(more).toEqual([]);
      return only;
    });
    const carriedOut = done.filter((code) => code === 'ok').length;
    expect(carriedOut).toBeGreaterThanOrEqual(199);
    expect(carriedOut).toBeLessThanOrEqual(201);
    expect(done.filter((code) => code === 'busy')).toHaveLength(10_000 - carriedOut);
    expect(linesOf(world)).toBeLessThan(60);
    world.clock.advance(10_000);
    world.command('status', { id: 'later' });
    expect(finals(world).get('later')).toEqual(['ok']);
  });
});

describe('commands to the fleet that wait for their moment', () => {
  it.each(['60', -1, 3601, null, Number.MAX_VALUE, true])(
    'with the spread %j are invalid, and not carried out at once',
    async (spread) => {
      const world = await live();
      world.deliver(`${FLEET}/cmd/mute`, { id: 'f', args: { spread_s: spread } });
      expect(world.answers('mute')[0]).toMatchObject({
        error: { code: 'invalid_args', message: expect.stringContaining('spread_s') },
      });
      expect(world.agent.lanes[0]?.state.orders.muted).toBe(false);
    },
  );

  it('are at most 100, the others being told so', async () => {
    const world = await live();
    for (let i = 0; i < 300; i++) {
      world.deliver(`${FLEET}/cmd/mute`, { id: `w${i}`, args: { spread_s: 3600 } });
      world.clock.advance(100);
    }
    expect(world.answers('mute').filter(({ status }) => status === 'accepted')).toHaveLength(100);
    expect([...finals(world).values()].flat()).toEqual(Array.from({ length: 200 }, () => 'busy'));
    world.clock.advance(1_800_000);
    expect([...finals(world).values()].flat().filter((code) => code === 'ok')).toHaveLength(100);
    world.deliver(`${FLEET}/cmd/mute`, { id: 'again', args: { spread_s: 3600 } });
    expect(world.answers('mute').at(-1)).toMatchObject({ id: 'again', status: 'accepted' });
  });

  it('take 1 MB at most', async () => {
    const world = await live();
    for (let i = 0; i < 50; i++) {
      const body = JSON.stringify({ id: `w${i}`, args: { spread_s: 3600 }, note: 'x'.repeat(100_000) });
      world.deliver(`${FLEET}/cmd/mute`, body);
    }
    expect(world.answers('mute').filter(({ status }) => status === 'accepted')).toHaveLength(10);
    expect([...finals(world).values()].flat()).toEqual(Array.from({ length: 40 }, () => 'busy'));
  });

  it('get their one final answer when the agent ends before', async () => {
    const world = await live();
    world.deliver(`${FLEET}/cmd/mute`, { id: 'w', args: { spread_s: 3600 } });
    const stopped = world.agent.stop();
    world.lastStream().listener.ended(1000, '');
    await world.clock.elapse(10_000);
    await stopped;
    expect(world.answers('mute').map(({ status }) => status)).toEqual(['accepted', 'error']);
    expect(finals(world).get('w')).toEqual(['stopping']);
    await world.clock.elapse(3_600_000);
    expect(finals(world).get('w')).toHaveLength(1);
  });

  it('do not know the argument where only one device is meant', async () => {
    const world = await live();
    world.deliver(`${BASE}/cmd/mute`, { id: 'f', args: { spread_s: 60 } });
    expect(finals(world).get('f')).toEqual(['invalid_args']);
  });
});

describe('messages that the bus gave up', () => {
  it('are counted in the state and logged once a minute', async () => {
    const world = await live();
    world.clock.advance(2000);
    const loss = {
      topic: `${BASE}/event/wake`,
      why: 'full',
      reason: 'newer messages took its place',
    } as const;
    for (let i = 1; i <= 5000; i++) {
      world.outbox.dropped = i;
      world.bus.listener.lost?.(loss);
    }
    world.clock.advance(1000);
    expect(world.sent('state').at(-1)?.body).toMatchObject({ outbox: { depth: 0, dropped: 5000 } });
    const told = () => world.logged.filter(([, sentence]) => String(sentence).includes('given up'));
    expect(told()).toEqual([['warn', expect.any(String), loss]]);
    world.clock.advance(66_000);
    expect(told().slice(1)).toEqual([['warn', expect.any(String), { ...loss, repeated: 4999 }]]);
  });

  it('have rooms of their own for answers and token requests', async () => {
    const world = await live();
    world.command('mute', { id: 'a' });
    const roomOf = (topic: string) => world.sent(topic)[0]?.options.room;
    expect(['token/req', 'cmd/mute/res', 'event/session_started'].map(roomOf)).toEqual([
      'tokens',
      'answers',
      undefined,
    ]);
  });
});
