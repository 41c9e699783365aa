import { describe, expect, it } from 'vitest';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { ready } from '../service-events.ts';
import { BASE, createFakeDeps, TOKEN, testConfig } from './fake-deps.ts';

const PATH = '/streaming-api/{random_hash}/v1';

async function asking(hosts: readonly string[]) {
  const deps = createFakeDeps(testConfig({}, { service: { hosts } }));
  await deps.agent.start();
  deps.brokerUp();
  return deps;
}

describe('service.hosts', () => {
  it.each([
    ['wss://evil.example', ['service.example']],
    ['wss://service.example.evil.example', ['service.example', '*.service.example']],
    ['wss://service.example@evil.example', ['service.example']],
    ['wss://service.example:8443', ['service.example']],
    ['ws://127.0.0.1:8080', ['service.example']],
    ['ws://service.example', ['service.example:80']],
    ['wss://{random_hash}.evil.example', ['*.service.example']],
  ])('keeps the lane from %s when it holds %j, and names the host', async (origin, hosts) => {
    const deps = await asking(hosts);
    deps.grant({}, origin + PATH);
    expect(deps.streams).toEqual([]);
    const refused = deps.sent('event/refused').at(-1)?.body;
    expect(refused).toMatchObject({ cause: 'grant_unusable' });
    if (!origin.startsWith('ws://service'))
      expect(refused?.['message']).toMatch(
        /leads to (evil|service|127|check)\S*, which is not among service\.hosts/,
      );
    expect(JSON.stringify([deps.published, deps.logged])).not.toContain(TOKEN);
    // The lane asks again, and a valid answer is accepted.
    deps.clock.advance(15_000);
    deps.grant(
      {},
      `wss://${hosts[0]?.startsWith('*') === true ? `a${hosts[0].slice(1)}` : 'service.example'}${PATH}`,
    );
    expect(deps.streams).toHaveLength(hosts[0] === 'service.example:80' ? 0 : 1);
  });

  it.each<[string, object]>([
    ['that leads to an unlisted host', {}],
    ['that denies', { ok: false, error: { code: 'no', title: 'no', detail: '', final: true } }],
  ])('connects to a listed host although a forged answer %s came first', async (_, denial) => {
    const deps = await asking(['service.example']);
    for (let forged = 0; forged < 10; forged++) {
      if ('ok' in denial) deps.deliver(`${BASE}/token/res`, { id: deps.lastRequest().id, ...denial });
      else deps.grant({}, `wss://evil.example${PATH}`);
    }
    expect(deps.streams).toEqual([]);
    expect(deps.sent('event/refused')).toHaveLength(1);
    deps.clock.advance(200);
    deps.grant({}, `wss://service.example${PATH}`);
    expect(deps.streams).toHaveLength(1);
    // Nothing that comes later replaces it.
    deps.grant({}, `wss://service.example${PATH}`);
    deps.clock.advance(60_000);
    expect(deps.streams).toHaveLength(1);
  });

  it('restricts the ws_url of a legacy session to the same hosts', async () => {
    const deps = await asking(['service.example']);
    const answer = (ws_url: string): void =>
      deps.deliver(`${BASE}/token/res`, {
        id: deps.lastRequest().id,
        ok: true,
        session: { id: 'legacy-session', publisher: TOKEN, ws_url },
      });
    answer('wss://evil.example/s');
    expect(deps.streams).toEqual([]);
    expect(deps.sent('event/refused').at(-1)?.body['message']).toContain('leads to evil.example');
    deps.clock.advance(15_000);
    answer('wss://service.example/s');
    expect(deps.streams).toHaveLength(1);
  });

  it.each([
    [[], 'wss://anywhere.example:8443', 'anywhere.example:8443'],
    [[], 'ws://localhost:8080', 'localhost:8080'],
    [['*.service.example'], 'wss://eu.service.example', 'eu.service.example'],
    [['127.0.0.1:8080'], 'ws://127.0.0.1:8080', '127.0.0.1:8080'],
  ])('that holds %j allows the lane to use %s, and the state shows the host', async (hosts, origin, host) => {
    const deps = await asking(hosts);
    deps.grant({}, origin + PATH);
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    expect(deps.sent('event/session_started').at(-1)?.body).toMatchObject({ stream_host: host });
    deps.clock.advance(1000);
    const state = stateSchema.parse(deps.sent('state').at(-1)?.body);
    expect(state.lanes[0]?.stream_host).toBe(host);
  });
});
