import { describe, expect, it } from 'vitest';
import { tokenRequestSchema } from '../../src/protocol/mqtt/token.ts';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';

const lastStatus = (deps: FakeDeps) => deps.sent('status').at(-1)?.body;
const warnings = (deps: FakeDeps, about: RegExp) =>
  deps.logged.filter(([level, sentence]) => level === 'warn' && about.test(String(sentence)));
const probes = (deps: FakeDeps) => deps.sent('token/req').filter(({ body }) => 'probe' in body);
async function starting(lane: Record<string, unknown> = {}): Promise<FakeDeps> {
  const deps = createFakeDeps(testConfig(lane));
  await deps.agent.start();
  deps.brokerUp();
  return deps;
}

describe('a backend without a usable answer', () => {
  it('is reported once after twenty seconds, until it answers', async () => {
    const deps = await starting();
    deps.clock.advance(19_000);
    expect(lastStatus(deps)).toMatchObject({ status: 'ready' });
    deps.clock.advance(1100);
    expect(lastStatus(deps)).toMatchObject({
      status: 'degraded',
      reasons: expect.arrayContaining(['no_backend']),
    });
    deps.clock.advance(1_800_000);
    const events = deps.sent('event/backend_silent');
    expect(events).toHaveLength(1);
    expect(events[0]?.body).toMatchObject({ lane: null, reason: 'no_answer', since: expect.any(String) });
    expect(events[0]?.body).not.toHaveProperty('field');
    expect(warnings(deps, /no usable answer for 20 s/)).toHaveLength(1);
    deps.grant();
    expect(deps.sent('event/backend_back')[0]?.body).toMatchObject({
      lane: null,
      silent_ms: expect.any(Number),
    });
    expect(lastStatus(deps)?.['reasons']).not.toContain('no_backend');
  });

  it('is reported with the name of the wrong field, not its value; the log counts repetitions', async () => {
    const deps = await starting();
    const answer = {
      id: deps.lastRequest().id,
      ok: true,
      session: deps.session({ token: 7, connect_by: 'soon' }),
    };
    for (let i = 0; i < 10; i++) {
      deps.deliver(`${BASE}/token/res`, { ...answer, stream_url: 'wss://service.example/' });
      deps.clock.advance(2500);
    }
    expect(deps.sent('event/backend_silent')[0]?.body).toMatchObject({
      reason: 'malformed',
      field: 'session.token',
    });
    const lines = warnings(deps, /malformed token answer/);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[2]).toEqual({ field: 'session.token' });
    expect(JSON.stringify([deps.logged, deps.sent('event/backend_silent')])).not.toContain('soon');
  });

  it('is reported separately from a broker that refuses token requests', async () => {
    const deps = await starting();
    const tell = deps.withholdAcknowledgements();
    const refuse = (): void => {
      deps.bus.listener.lost?.({ topic: `${BASE}/token/req`, why: 'refused', reason: 'Not authorized' });
      tell(false);
    };
    refuse();
    expect(lastStatus(deps)).toMatchObject({ status: 'degraded', reasons: ['not_published:token/req'] });
    for (let i = 0; i < 4; i++) {
      deps.clock.advance(5500);
      refuse();
    }
    expect(deps.sent('event/backend_silent')[0]?.body).toMatchObject({ reason: 'not_allowed' });
    expect(lastStatus(deps)?.['reasons']).toContain('not_published:token/req');
    const told = deps.logged.filter(([, sentence]) => String(sentence).includes('refuses token requests'));
    expect(told).toEqual([['error', 'the broker refuses token requests', { topic: `${BASE}/token/req` }]]);
    // Another topic is another fault.
    deps.bus.listener.lost?.({ topic: `${BASE}/health`, why: 'refused', reason: 'Not authorized' });
    deps.clock.advance(30_000);
    tell(true);
    expect(lastStatus(deps)?.['reasons']).not.toContain('not_published:token/req');
    deps.grant();
    expect(lastStatus(deps)?.['reasons']).not.toContain('no_backend');
  });
});

describe('a device that waits for a voice', () => {
  it('probes only the backend, and is degraded when the backend does not answer', async () => {
    const deps = await starting({ start: 'voice' });
    expect(lastStatus(deps)).toMatchObject({ status: 'ready' });
    deps.clock.advance(61_000);
    const [first] = probes(deps);
    expect(tokenRequestSchema.parse(first?.body)).toMatchObject({
      probe: 'backend',
      lane: 'main',
      attempt: 1,
    });
    expect(first?.options.properties?.expiryS).toBe(20);
    deps.clock.advance(40_000);
    expect(lastStatus(deps)).toMatchObject({ status: 'degraded', reasons: ['no_backend'] });
    expect(deps.sent('event/backend_silent')).toHaveLength(1);
    for (let s = 0; s < 900 && probes(deps).at(-1)?.body['probe'] !== 'backend'; s++)
      deps.clock.advance(1000);
    const body = {
      id: deps.lastRequest().id,
      ok: true,
      probe: { session: 'none' },
      stream_url: 'wss://x.example/',
    };
    deps.deliver(`${BASE}/token/res`, body);
    expect(lastStatus(deps)).toMatchObject({ status: 'ready', reasons: [] });
    expect(deps.sent('event/backend_back')).toHaveLength(1);
    expect(deps.streams).toHaveLength(0);
    // The same answer once more is not a sign of life.
    for (let s = 0; s < 900 && deps.sent('event/backend_silent').length < 2; s++) {
      deps.clock.advance(1000);
      deps.deliver(`${BASE}/token/res`, body);
    }
    expect(lastStatus(deps)).toMatchObject({ status: 'degraded', reasons: ['no_backend'] });
  });

  it('sends no more probes after a stop', async () => {
    const deps = await starting({ start: 'voice' });
    deps.command('stop', { id: 's' });
    deps.clock.advance(3_600_000);
    expect(probes(deps)).toHaveLength(0);
    expect(lastStatus(deps)).toMatchObject({ status: 'idle', reasons: ['stopped'] });
  });
});
