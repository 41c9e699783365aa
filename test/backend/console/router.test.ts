import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { createRouter, type Handlers, type PublicHandlers } from '../../../src/backend/console/router.ts';
import type { Session, SignIn } from '../../../src/backend/console/sign-in.ts';

describe('the router', () => {
  it.each([
    ['signed in', { key: 'k', who: { name: 'vic', role: 'viewer', endsAt: 0 } } as Session, 1],
    ['signed out', null, 0],
  ])('keeps room for the connection of a person who is %s: %s', async (_what, session, times) => {
    const log = createLogger({ level: 'info', format: 'json', sink: { write: () => {} } });
    const handlers = { 'GET /api/me': async () => ({ json: {} }) } as unknown as Handlers;
    const signIn = { find: async () => session } as unknown as SignIn;
    const route = createRouter(signIn, {} as PublicHandlers, handlers, log);
    let known = 0;
    await route({
      method: 'GET',
      path: '/api/me',
      query: new URLSearchParams(),
      headers: {},
      address: '127.0.0.1',
      origin: 'http://localhost',
      isSecure: false,
      body: async () => '',
      know: () => {
        known += 1;
      },
    });
    expect(known).toBe(times);
  });
});
