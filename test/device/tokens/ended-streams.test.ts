import { describe, expect, it } from 'vitest';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from '../fake-deps.ts';

const requests = (deps: FakeDeps) => deps.sent('token/req').map(({ body }) => body);
const endedIn = (body: Record<string, unknown> | undefined): string[] =>
  ((body?.['ended'] ?? []) as { session: string }[]).map(({ session }) => session);
const confirm = (deps: FakeDeps, recorded: readonly string[]): void =>
  deps.deliver(`${BASE}/token/res`, { ts: null, id: deps.lastRequest().id, recorded });

let commands = 0;
const order = (deps: FakeDeps, name: string): void => {
  commands += 1;
  deps.command(name, { id: `c${commands}` });
};

/** A live lane: its stream ends, and the next request is waiting for its answer. */
async function endedOnce(): Promise<FakeDeps> {
  const deps = createFakeDeps(testConfig());
  await deps.goLive();
  deps.clock.advance(60_000);
  order(deps, 'stop');
  order(deps, 'start');
  return deps;
}

describe('an ended stream', () => {
  it('is in the next request for a token, with the numbers of its event', async () => {
    const deps = await endedOnce();
    const { lane, session, live_ms } = deps.sent('event/session_ended')[0]?.body ?? {};
    expect(requests(deps)[0]).not.toHaveProperty('ended');
    expect(requests(deps).at(-1)).toMatchObject({ ended: [{ lane, session, live_ms }] });
    const [stream] = (requests(deps).at(-1)?.['ended'] ?? []) as object[];
    expect(Object.keys(stream ?? {})).toEqual(['lane', 'session', 'live_ms']);
  });

  it('is in each request until the backend has confirmed it, over connections too', async () => {
    const deps = await endedOnce();
    deps.clock.advance(6000);
    deps.bus.listener.down('unreachable', 'the broker is gone');
    deps.clock.advance(60_000);
    deps.brokerUp(2);
    deps.clock.advance(6000);
    const later = requests(deps).slice(1);
    expect(later.length).toBeGreaterThan(2);
    for (const body of later) expect(endedIn(body)).toEqual(['session-...']);
    confirm(deps, ['session-...']);
    const before = requests(deps).length;
    deps.clock.advance(60_000);
    expect(requests(deps).length).toBeGreaterThan(before);
    for (const body of requests(deps).slice(before)) expect(body).not.toHaveProperty('ended');
    // A confirmation is not an answer: the lane still waits for its token.
    expect(deps.sent('event/backend_silent')).toHaveLength(1);
    expect(deps.logged.filter(([level]) => level === 'warn').join()).not.toContain('malformed');
  });
});
