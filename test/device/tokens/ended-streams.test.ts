import { describe, expect, it } from 'vitest';
import { createEndedStreams } from '../../../src/device/tokens/ended-streams.ts';
import { MOST_ENDED } from '../../../src/protocol/mqtt/token.ts';
import { ready } from '../../service-events.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from '../fake-deps.ts';

const HOUR_MS = 3_600_000;

const requests = (deps: FakeDeps) => deps.sent('token/req').map(({ body }) => body);
const endedIn = (body: Record<string, unknown> | undefined): string[] =>
  ((body?.['ended'] ?? []) as { session: string }[]).map(({ session }) => session);
const confirm = (deps: FakeDeps, recorded: readonly string[], id = deps.lastRequest().id): void =>
  deps.deliver(`${BASE}/token/res`, { ts: null, id, recorded });

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

/** The waiting request gets a session with this id; its stream is live, it ends, and the next request waits. */
function liveAndEnd(deps: FakeDeps, id: string): void {
  deps.grant({ id });
  deps.lastStream().listener.opened();
  deps.clock.advance(2800);
  deps.service(ready());
  deps.clock.advance(1000);
  order(deps, 'stop');
  deps.clock.advance(30_000);
  order(deps, 'start');
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

  it('is in the checks of a device that waits for a voice', async () => {
    const deps = createFakeDeps(testConfig({ standbyAfter: 5 }));
    await deps.goLive();
    // A quiet room.
    for (let chunk = 0; chunk < 30; chunk += 1) deps.speak(20);
    deps.clock.advance(900_000);
    const checks = requests(deps).filter((body) => body['probe'] === 'backend');
    expect(checks.length).toBeGreaterThan(0);
    for (const body of checks) expect(endedIn(body)).toEqual(['session-...']);
  });

  it.each([
    ['a grant', { ok: true }],
    ['a confirmation of another stream', { recorded: ['other...'] }],
    ['a confirmation with another id', { id: 'of-another-request', recorded: ['session-...'] }],
    ['a damaged confirmation', { recorded: 'session-...' }],
  ])('is not forgotten because of %s', async (_what, answer) => {
    const deps = await endedOnce();
    deps.deliver(`${BASE}/token/res`, {
      id: deps.lastRequest().id,
      session: deps.session(),
      stream_url: 'wss://service.example/',
      ...answer,
    });
    order(deps, 'stop');
    order(deps, 'start');
    expect(endedIn(requests(deps).at(-1))).toEqual(['session-...']);
  });

  it('is confirmed after the grant, or within it', async () => {
    const deps = await endedOnce();
    const { id } = deps.lastRequest();
    deps.grant({ id: 'second-session' });
    expect(deps.streams).toHaveLength(2);
    confirm(deps, ['session-...'], id);
    order(deps, 'stop');
    order(deps, 'start');
    expect(requests(deps).at(-1)).not.toHaveProperty('ended');
    liveAndEnd(deps, 'third-session');
    expect(endedIn(requests(deps).at(-1))).toEqual(['third-...']);
    deps.deliver(`${BASE}/token/res`, {
      id: deps.lastRequest().id,
      ok: true,
      session: deps.session(),
      stream_url: 'wss://service.example/',
      recorded: ['third-...'],
    });
    expect(deps.streams).toHaveLength(4);
    order(deps, 'stop');
    order(deps, 'start');
    expect(requests(deps).at(-1)).not.toHaveProperty('ended');
  });

  it('adds no message when the backend never confirms, and is gone after 66 hours', async () => {
    const deps = await endedOnce();
    order(deps, 'stop');
    const before = requests(deps).length;
    deps.clock.advance(65 * HOUR_MS);
    expect(requests(deps)).toHaveLength(before);
    order(deps, 'start');
    expect(endedIn(requests(deps).at(-1))).toEqual(['session-...']);
    order(deps, 'stop');
    deps.clock.advance(HOUR_MS);
    order(deps, 'start');
    expect(requests(deps).at(-1)).not.toHaveProperty('ended');
  });
});

describe('ended streams', () => {
  const ends = (detail: object) =>
    ({ lane: 'main', effects: [{ type: 'notify', kind: 'session_ended', detail }] }) as never;
  const end = (number: number) => ends({ session: `s${number}...`, cause: 'stopped', live_ms: 1000 });

  it('are reported eight at a time, oldest first; the newest 64 are kept', () => {
    const streams = createEndedStreams(createVirtualClock());
    for (let number = 0; number < 100; number += 1) streams.onStep(end(number));
    const seen: string[] = [];
    for (let request = 0; ; request += 1) {
      const sessions = (streams.reportIn(`r${request}`).ended ?? []).map(({ session }) => session);
      if (sessions.length === 0) break;
      expect(sessions).toHaveLength(MOST_ENDED);
      seen.push(...sessions);
      streams.receive({ id: `r${request}`, recorded: sessions });
    }
    expect(seen).toEqual(Array.from({ length: 64 }, (_, index) => `s${index + 36}...`));
  });

  it('are confirmed once by each request, of the last sixteen', () => {
    const streams = createEndedStreams(createVirtualClock());
    streams.onStep(end(1));
    for (let request = 0; request < 17; request += 1) streams.reportIn(`r${request}`);
    expect([streams.awaits('r0'), streams.awaits('r1'), streams.awaits('r16')]).toEqual([false, true, true]);
    expect(streams.receive({ id: 'r0', recorded: ['s1...'] })).toBe(true);
    expect(streams.reportIn('r16').ended).toHaveLength(1);
    streams.receive({ id: 'r16', recorded: ['s1...'] });
    expect([streams.awaits('r16'), streams.reportIn('r17')]).toEqual([false, {}]);
  });

  it('are left out when the backend could not read them', () => {
    const streams = createEndedStreams(createVirtualClock());
    streams.onStep(ends({ session: 'a\0b', cause: 'stopped', live_ms: 1000 }));
    streams.onStep(ends({ session: 's...', cause: 'stopped', live_ms: Number.NaN }));
    expect([streams.reportIn('r'), streams.awaits('r')]).toEqual([{}, false]);
  });
});
