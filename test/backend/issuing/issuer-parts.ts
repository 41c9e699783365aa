/** Configuration, requests and sessions for tests of the issuer. */
import type { Ask } from '../../../src/backend/issuing/issue-event.ts';
import type { Trouble } from '../../../src/backend/service/service-trouble.ts';
import { type BackendConfig, backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import type { SessionWithToken } from '../../../src/protocol/service/session.ts';

export function makeConfig(more: object = {}): BackendConfig {
  return backendConfigSchema.parse({
    mqtt: { url: 'mqtts://broker.example' },
    service: { url: 'https://api.example', streamUrl: 'wss://stream.example/{random_hash}/stream' },
    allow: ['museum/*'],
    ...more,
  });
}

export function makeAsk(id: string, more: Partial<Ask['request']> = {}, device = 'kiosk'): Ask {
  const request = {
    lane: 'main',
    intent: 's2s',
    connection_type: 'ws',
    reason: 'start',
    attempt: 1,
  } as const;
  return {
    who: { tenant: 'museum', device },
    request: { id, ...request, ...more },
    reply: { topic: `p/museum/${device}/token/res` },
  };
}

export function makeSession(id: string): SessionWithToken {
  return {
    id,
    token: `token-of-${id}`,
    intent: 's2s',
    connection_type: 'ws',
    single_use: true,
    status: 'pending',
    created_at: '2026-01-01T00:00:00Z',
    connect_by: '2026-01-01T00:01:00Z',
  };
}

export const trouble = (kind: Trouble['kind'], retryAfterS: number | null = null): Trouble => ({
  kind,
  detail: null,
  retryAfterS,
});
