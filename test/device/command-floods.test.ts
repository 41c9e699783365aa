/** The effect of very many or very large commands, sent by an attacker or by mistake. */
import { describe, expect, it } from 'vitest';
import { closed } from '../service-events.ts';
import { BASE, createFakeDeps } from './fake-deps.ts';

async function live() {
  const deps = createFakeDeps();
  await deps.goLive();
  return deps;
}
type Fake = Awaited<ReturnType<typeof live>>;

/** Final answers of all commands, by id. */
function finals(deps: Fake): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { topic, body } of deps.published) {
    if (!topic.endsWith('/res') || body['status'] === 'accepted') continue;
    const id = String(body['id']);
    const error = body['error'] as { code: string } | undefined;
    found.set(id, [...(found.get(id) ?? []), error?.code ?? String(body['status'])]);
  }
  return found;
}
/** Log lines about commands, without those of the lane. */
const lines = (deps: Fake): unknown[][] =>
  deps.logged.filter(([, sentence]) => String(sentence).includes('command'));
const linesOf = (deps: Fake): number => lines(deps).length;

describe('a command name of 60,000 characters', () => {
  it('is refused without an answer, with one log line a minute', async () => {
    const deps = await live();
    const before = { lines: linesOf(deps), published: deps.published.length };
    for (let i = 0; i < 1000; i++)
      deps.deliver(`dragoman/v1/museum/all/cmd/${'a'.repeat(60_000)}`, { id: `n${i}` });
    deps.command('a'.repeat(65), { id: 'b' });
    expect(deps.published).toHaveLength(before.published);
    expect(linesOf(deps)).toBe(before.lines + 1);
    expect(JSON.stringify(lines(deps).at(-1)).length).toBeLessThan(200);
    deps.clock.advance(66_000);
    expect(lines(deps).at(-1)).toMatchObject(['warn', expect.anything(), { repeated: 1000 }]);
    deps.command('a'.repeat(64), { id: 'c' });
    expect(finals(deps).get('c')).toEqual(['unknown_command']);
  });
});

describe('malformed commands', () => {
  it('cost one log line a minute, whatever their number', async () => {
    const deps = await live();
    const before = linesOf(deps);
    for (let i = 0; i < 3000; i++) deps.command('mute', i % 2 === 0 ? 'no json' : '{"id":5}');
    // One for those without an id, one for those that are not read.
    expect(linesOf(deps)).toBe(before + 2);
    deps.clock.advance(66_000);
    expect(linesOf(deps)).toBe(before + 4);
    for (let i = 0; i < 80; i++) deps.command('mute', { id: `m${i}`, args: 7 });
    expect(linesOf(deps)).toBe(before + 5);
    deps.clock.advance(66_000);
    expect(linesOf(deps)).toBe(before + 6);
  });

  it('are answered when their arguments are nested 100,000 deep', async () => {
    const deps = await live();
    const depth = 100_000;
    deps.command('mute', `{"id":"deep","args":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`);
    expect(finals(deps).get('deep')).toEqual(['malformed']);
  });
});

describe('a flood of commands', () => {
  it('is carried out up to its limit, refused up to the same limit, and then counted in one event', async () => {
    const deps = await live();
    const before = deps.published.length;
    for (let i = 0; i < 10_000; i++) {
      deps.command(i % 2 === 0 ? 'mute' : 'unmute', { id: `f${i}` });
      deps.clock.advance(1);
    }
    const answers = finals(deps);
    const done = [...answers.values()].map(([only, ...more]) => {
      expect(more).toEqual([]);
      return only;
    });
    const carriedOut = done.filter((code) => code === 'ok').length;
    expect(carriedOut).toBeGreaterThanOrEqual(199);
    expect(carriedOut).toBeLessThanOrEqual(201);
    const refused = done.filter((code) => code === 'busy').length;
    expect(refused).toBeGreaterThanOrEqual(197);
    expect(refused).toBeLessThanOrEqual(201);
    // It costs the broker little, too.
    expect(deps.published.length - before).toBeLessThan(1000);
    expect(linesOf(deps)).toBeLessThan(60);
    expect(deps.sent('event/commands_dropped')).toEqual([]);
    deps.clock.advance(60_000);
    const [told, ...more] = deps.sent('event/commands_dropped');
    expect(more).toEqual([]);
    expect(told?.body).toMatchObject({ lane: null, commands: 10_000 - carriedOut - refused });
    deps.command('status', { id: 'later' });
    expect(finals(deps).get('later')).toEqual(['ok']);
  });
});

describe('dropped commands', () => {
  it('are counted in an event when the agent ends within the minute', async () => {
    const deps = await live();
    for (let i = 0; i < 300; i++) deps.command('mute', { id: `f${i}` });
    const stopped = deps.agent.stop();
    deps.lastStream().listener.said(closed('closed'));
    await deps.clock.elapse(10_000);
    await stopped;
    expect(deps.sent('event/commands_dropped')).toMatchObject([{ body: { commands: 100 } }]);
  });
});

describe('messages that the queue dropped', () => {
  it('are counted in the state and logged once a minute', async () => {
    const deps = await live();
    deps.clock.advance(2000);
    const loss = {
      topic: `${BASE}/event/wake`,
      why: 'full',
      reason: 'newer messages took its place',
    } as const;
    for (let i = 1; i <= 5000; i++) {
      deps.outbox.dropped = i;
      deps.bus.listener.lost?.(loss);
    }
    deps.clock.advance(1000);
    expect(deps.sent('state').at(-1)?.body).toMatchObject({ outbox: { depth: 0, dropped: 5000 } });
    const told = () => deps.logged.filter(([, sentence]) => String(sentence).includes('dropped'));
    expect(told()).toEqual([['warn', expect.any(String), loss]]);
    deps.clock.advance(66_000);
    expect(told().slice(1)).toEqual([['warn', expect.any(String), { ...loss, repeated: 4999 }]]);
  });

  it('do not displace answers and token requests, which have queues of their own', async () => {
    const deps = await live();
    deps.command('mute', { id: 'a' });
    const roomOf = (topic: string) => deps.sent(topic)[0]?.options.share;
    expect(['token/req', 'cmd/mute/res', 'event/session_started'].map(roomOf)).toEqual([
      'tokens',
      'answers',
      undefined,
    ]);
  });
});
