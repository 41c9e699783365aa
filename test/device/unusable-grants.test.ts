import { describe, expect, it } from 'vitest';
import { createFakeDeps, TOKEN } from './fake-deps.ts';

async function asking() {
  const deps = createFakeDeps();
  await deps.agent.start();
  deps.brokerUp();
  return deps;
}

const URL_OF = (host: string) => `wss://${host}/streaming-api/{random_hash}/v1`;

describe('an unusable grant', () => {
  it.each<[string, Record<string, unknown>, string | undefined, RegExp]>([
    [
      'a session of a second',
      { max_session_duration_seconds: 1 },
      undefined,
      /session in the backend's answer may last 1 s only \(max_session_duration_seconds\): give it 20 s or more/,
    ],
    [
      'a line break',
      {},
      `${URL_OF('service.example')}\r\nx-evil: 1`,
      /stream_url .* control character: remove/,
    ],
    ['a user and a password', {}, URL_OF('operator:hunter2@service.example'), /user name or a password/],
  ])(
    'because of %s is refused with the reason, and requested again after a wait',
    async (_, session, url, words) => {
      const deps = await asking();
      const { id } = deps.lastRequest();
      deps.grant(session, url);
      expect(deps.streams).toEqual([]);
      const refused = deps.sent('event/refused').at(-1)?.body;
      expect(refused).toMatchObject({ lane: 'main', cause: 'grant_unusable' });
      expect(refused?.['message']).toMatch(words);
      expect(JSON.stringify([deps.published, deps.logged])).not.toMatch(/hunter2|operator:/);
      expect(JSON.stringify([deps.published, deps.logged])).not.toContain(TOKEN);
      deps.clock.advance(900);
      expect(deps.lastRequest().id).toBe(id);
      deps.clock.advance(10_000);
      expect(deps.lastRequest().id).not.toBe(id);
      deps.grant();
      expect(deps.streams).toHaveLength(1);
    },
  );

  it('costs few tokens when it is repeated: 22 in a minute cost at most 8', async () => {
    const deps = await asking();
    const ids = new Set<string>();
    for (let second = 0; second < 60; second++) {
      const { id } = deps.lastRequest();
      if (!ids.has(id)) deps.grant({ max_session_duration_seconds: 1 });
      ids.add(id);
      deps.clock.advance(1000);
    }
    expect(ids.size).toBeLessThanOrEqual(8);
    expect(deps.streams).toEqual([]);
  });
});
