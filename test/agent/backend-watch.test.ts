import { describe, expect, it } from 'vitest';
import { tokenRequestSchema } from '../../src/protocol/mqtt/token.ts';
import { BASE, createFakeWorld, type FakeWorld, TOKEN, testConfig } from './fake-world.ts';

const lastStatus = (world: FakeWorld) => world.sent('status').at(-1)?.body;
const warnings = (world: FakeWorld, about: RegExp) =>
  world.logged.filter(([level, sentence]) => level === 'warn' && about.test(String(sentence)));
const probes = (world: FakeWorld) => world.sent('token/req').filter(({ body }) => 'probe' in body);
async function starting(lane: Record<string, unknown> = {}): Promise<FakeWorld> {
  const world = createFakeWorld(testConfig(lane));
  await world.agent.start();
  world.brokerUp();
  return world;
}

describe('a backend that gives no usable answer', () => {
  it('is told after twenty seconds, once, until it answers', async () => {
    const world = await starting();
    world.clock.advance(19_000);
    expect(lastStatus(world)).toMatchObject({ status: 'ready' });
    world.clock.advance(1100);
    expect(lastStatus(world)).toMatchObject({
      status: 'degraded',
      reasons: expect.arrayContaining(['no_backend']),
    });
    world.clock.advance(1_800_000);
    const events = world.sent('event/backend_silent');
    expect(events).toHaveLength(1);
    expect(events[0]?.body).toMatchObject({ lane: null, reason: 'no_answer', since: expect.any(String) });
    expect(events[0]?.body).not.toHaveProperty('field');
    expect(warnings(world, /no usable answer for 20 s/)).toHaveLength(1);
    world.grant();
    expect(world.sent('event/backend_back')[0]?.body).toMatchObject({
      lane: null,
      silent_ms: expect.any(Number),
    });
    expect(lastStatus(world)?.['reasons']).not.toContain('no_backend');
  });

  it('is told with the field that is wrong, not with what it holds; the log counts what repeats', async () => {
    const world = await starting();
    const answer = {
      id: world.lastRequest().id,
      ok: true,
      session: world.session({ token: 7, connect_by: 'soon' }),
    };
    for (let i = 0; i < 10; i++) {
      world.deliver(`${BASE}/token/res`, { ...answer, stream_url: 'wss://service.example/' });
      world.clock.advance(2500);
    }
    expect(world.sent('event/backend_silent')[0]?.body).toMatchObject({
      reason: 'malformed',
      field: 'session.token',
    });
    const lines = warnings(world, /malformed token answer/);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[2]).toEqual({ field: 'session.token' });
    expect(JSON.stringify([world.logged, world.sent('event/backend_silent')])).not.toContain('soon');
  });

  it.each([
    ['no JSON', 'what is this', '(not a JSON object)'],
    ['a denial without its code', { ok: false, error: { title: '', detail: '', final: true } }, 'error.code'],
    ['a grant without an address', { ok: true }, 'stream_url'],
  ])('names the field of %s', async (_, answer, field) => {
    const world = await starting();
    const id = world.lastRequest().id;
    const body = typeof answer === 'string' ? answer : { id, ...answer };
    if (field === 'stream_url') Object.assign(body, { session: world.session() });
    world.deliver(`${BASE}/token/res`, body);
    world.clock.advance(21_000);
    expect(world.sent('event/backend_silent')[0]?.body).toMatchObject({ reason: 'malformed', field });
  });

  it('is not one that denies', async () => {
    const world = await starting();
    world.deliver(`${BASE}/token/res`, {
      id: world.lastRequest().id,
      ok: false,
      error: { code: 'disabled', title: 'Disabled', detail: '', final: true },
    });
    world.clock.advance(200_000);
    expect(world.sent('event/backend_silent')).toHaveLength(0);
  });

  it('is not one that cannot be reached for want of a broker', async () => {
    const world = await starting();
    world.bus.listener.down('unreachable', 'the broker is gone');
    world.clock.advance(600_000);
    expect(world.sent('event/backend_silent')).toHaveLength(0);
  });
});

describe('a device that waits for a voice', () => {
  it('asks for the backend alone, and is degraded when that does not answer', async () => {
    const world = await starting({ start: 'voice' });
    expect(lastStatus(world)).toMatchObject({ status: 'ready' });
    world.clock.advance(61_000);
    const [first] = probes(world);
    expect(tokenRequestSchema.parse(first?.body)).toMatchObject({
      probe: 'backend',
      lane: 'main',
      attempt: 1,
    });
    expect(first?.options.properties?.expiryS).toBe(20);
    world.clock.advance(40_000);
    expect(lastStatus(world)).toMatchObject({ status: 'degraded', reasons: ['no_backend'] });
    expect(world.sent('event/backend_silent')).toHaveLength(1);
    for (let s = 0; s < 900 && probes(world).at(-1)?.body['probe'] !== 'backend'; s++)
      world.clock.advance(1000);
    const body = {
      id: world.lastRequest().id,
      ok: true,
      probe: { session: 'none' },
      stream_url: 'wss://x.example/',
    };
    world.deliver(`${BASE}/token/res`, body);
    expect(lastStatus(world)).toMatchObject({ status: 'ready', reasons: [] });
    expect(world.sent('event/backend_back')).toHaveLength(1);
    expect(world.streams).toHaveLength(0);
  });

  it('takes no session that an older backend grants to its question, and shows its token to nobody', async () => {
    const world = await starting({ start: 'voice' });
    while (probes(world).length === 0) world.clock.advance(1000);
    world.grant();
    world.clock.advance(6 * 3_600_000);
    expect(probes(world)).toHaveLength(1);
    expect(world.sent('event/backend_silent')).toHaveLength(0);
    expect(world.streams).toHaveLength(0);
    expect(JSON.stringify([world.logged, world.published])).not.toContain(TOKEN);
  });

  it('asks nothing more when it stops', async () => {
    const world = await starting({ start: 'voice' });
    world.command('stop', { id: 's' });
    world.clock.advance(3_600_000);
    expect(probes(world)).toHaveLength(0);
    expect(lastStatus(world)).toMatchObject({ status: 'idle', reasons: ['stopped'] });
  });
});
