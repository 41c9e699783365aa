/** A session id can look like a token: only the backend and the service may see it whole. */
import { describe, expect, it } from 'vitest';
import { closed, ready, refused, rejected, warned } from '../service-events.ts';
import { BASE, createFakeDeps, type FakeDeps } from './fake-deps.ts';

const SESSION = 'session-id-that-is-long';
const SHOWN = 'session-...';
/** Shortened forms of the id. */
const SEEN = /SEEN session-\.\.\.|session-\.\.\.\.example/;
/** As the service or the backend may quote the id; a shortened text is cut within the second id. */
const WORDS = `SEEN ${SESSION}${'.'.repeat(160)}, or ${SESSION.toUpperCase()} and ${SESSION}`;

/** Everything that leaves the device or is stored, except messages to the service. */
function sinks(deps: FakeDeps): string {
  const states = deps.agent.lanes.map(({ state }) => state);
  return JSON.stringify([deps.published, deps.logged, deps.finale, states]);
}

/** After any events: publishes pending counts, and requests the status. */
async function settle(deps: FakeDeps): Promise<void> {
  deps.command('status', { id: 's1' });
  for (let s = 0; s < 70; s++) await deps.clock.elapse(1000);
  deps.command('status', { id: 's2' });
  await deps.clock.elapse(1000);
}

async function live(): Promise<FakeDeps> {
  const deps = createFakeDeps();
  await deps.goLive();
  return deps;
}

const DOORS: Readonly<Record<string, (deps: FakeDeps) => void | Promise<void>>> = {
  'a warning': (deps) => deps.service(warned('warning', { code: 'W', text: WORDS })),
  'the code of a warning': (deps) => deps.service(warned('warning', { code: SESSION, text: WORDS })),
  'an error': (deps) => deps.service(warned('error', { code: 'E', text: WORDS })),
  'an error that ends the session': (deps) =>
    deps.service(refused('insufficient_balance', { detail: WORDS })),
  'a task that is refused': async (deps) => {
    deps.lastStream().listener.said(closed());
    await deps.clock.elapse(3000);
    deps.grant();
    deps.lastStream().listener.opened();
    deps.service(rejected(WORDS));
  },
  'a text that is refused': async (deps) => {
    await deps.clock.elapse(5000);
    deps.command('say', { id: 'say1', args: { text: 'Cerramos', language: 'es' } });
    await deps.clock.elapse(500);
    deps.service(warned('error', { code: 'E', text: WORDS }));
  },
  'the reason of a close': (deps) =>
    deps.lastStream().listener.said(closed('cut', { detail: `4000, ${WORDS}` })),
  'an end on this side': (deps) => deps.lastStream().listener.broke('service', WORDS),
  'a message of an unknown kind': (deps) => deps.lastStream().listener.oddity(WORDS),
  'a message that cannot be read': (deps) => deps.lastStream().listener.unreadable('speech', WORDS),
  'a refusal at the upgrade': async (deps) => {
    deps.lastStream().listener.said(closed());
    await deps.clock.elapse(3000);
    deps.grant();
    deps.lastStream().listener.said(refused('forbidden', { status: 403, detail: WORDS }));
  },
  'a connection that fails': async (deps) => {
    deps.lastStream().listener.said(closed());
    await deps.clock.elapse(3000);
    deps.grant();
    deps.lastStream().listener.unreached(true, WORDS);
  },
  'a denial': async (deps) => {
    deps.lastStream().listener.said(closed());
    await deps.clock.elapse(3000);
    const error = { code: `busy-${SESSION}`, title: WORDS, detail: WORDS, final: false };
    deps.deliver(`${BASE}/token/res`, { id: deps.lastRequest().id, ok: false, error });
  },
  'the address of a stream': async (deps) => {
    deps.lastStream().listener.said(closed());
    await deps.clock.elapse(3000);
    deps.grant({}, `wss://${SESSION}.example/s`);
    deps.lastStream().listener.opened();
    await deps.clock.elapse(2800);
    deps.service(ready());
  },
  'a denial of the trial of a diagnosis': async (deps) => {
    deps.command('diagnose', { id: 'd1', args: { only: ['backend', 'stream'] } });
    await deps.clock.elapse(0);
    const [trial] = deps.sent('token/req').filter(({ body }) => body['probe'] === true);
    const error = { code: `busy-${SESSION}`, title: 'Busy', detail: WORDS, final: false };
    deps.deliver(`${BASE}/token/res`, { id: trial?.body['id'], ok: false, error });
  },
};

describe('the id of a session', () => {
  it.each(Object.entries(DOORS))('is shortened everywhere when it is quoted in %s', async (_, say) => {
    const deps = await live();
    await say(deps);
    await settle(deps);
    const shown = sinks(deps);
    expect(shown.toLowerCase()).not.toContain(SESSION);
    // A text that is cut contains no more of the id.
    expect(shown.toLowerCase()).not.toContain(SESSION.slice(0, 9));
    expect(shown).toMatch(SEEN);
  });

  it('is still shortened on its own stream after its end, however many sessions followed', async () => {
    const deps = await live();
    const old = deps.lastStream();
    old.listener.said(closed());
    for (let i = 0; i < 100; i++) {
      await deps.clock.elapse(130_000);
      deps.grant({ id: `another-session-of-many-${i}` });
      deps.lastStream().listener.said(closed());
    }
    await deps.clock.elapse(130_000);
    deps.grant({ id: SESSION });
    deps.lastStream().listener.opened();
    deps
      .lastStream()
      .listener.said(closed('cut', { detail: `4000, no ${SESSION}, nor another-session-of-many-99` }));
    await settle(deps);
    expect(sinks(deps)).not.toContain(SESSION);
    expect(sinks(deps)).not.toContain('another-session');
    expect(sinks(deps)).toContain('no session-..., nor another-...');
  });

  it('leaves the rest of the text unchanged', async () => {
    const deps = await live();
    deps.service(warned('warning', { code: 'SLOW', text: `${SESSION} is slow` }));
    expect(deps.agent.lanes[0]?.state.warning).toMatchObject({
      code: 'service_slow',
      message: expect.stringContaining(`${SHOWN} is slow`),
    });
  });
});
