import { describe, expect, it } from 'vitest';
import type { Ask } from '../../../src/backend/issuing/issue-event.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import type { SessionWithToken } from '../../../src/protocol/service/session.ts';
import { createIssuerWithBooks } from './memory-books.ts';

const makeIssuer = () =>
  createIssuerWithBooks(
    backendConfigSchema.parse({
      mqtt: { url: 'mqtts://broker.example' },
      service: { url: 'https://api.example', streamUrl: 'wss://stream.example/{random_hash}/stream' },
      allow: ['museum/*'],
    }),
  );

const makeAsk = (id: string, probe: Ask['request']['probe'], tenant = 'museum'): Ask => ({
  who: { tenant, device: 'kiosk' },
  request: {
    id,
    lane: 'main',
    intent: 's2s',
    connection_type: 'ws',
    reason: 'start',
    attempt: 1,
    ...(probe && { probe }),
  } as Ask['request'],
  reply: { topic: 'p/museum/kiosk/token/res' },
});

const session = {
  id: 'a',
  token: 'secret',
  intent: 's2s',
  connection_type: 'ws',
  single_use: true,
  status: 'pending',
  created_at: '2026-01-01T00:00:00Z',
  connect_by: '2026-01-01T00:01:00Z',
} as SessionWithToken;

describe('a trial request', () => {
  it('makes a session on the usual terms, and gets an answer without it', () => {
    const issuer = makeIssuer();
    const ask = makeAsk('p1', true);
    const [probe] = issuer.handle({ type: 'asked', ask, draw: 0 }, 0);
    expect(probe).toMatchObject({ type: 'probe', input: { client_reference_id: 'museum/kiosk/main' } });
    const effects = issuer.handle({ type: 'probed', job: 1, deleted: true, draw: 0 }, 10);
    expect(effects).toEqual([{ type: 'confirm', ask, probe: { session: 'deleted' } }]);
    expect(issuer.jobs).toBe(0);
  });

  it('reports a session that could not be deleted', () => {
    const issuer = makeIssuer();
    issuer.handle({ type: 'asked', ask: makeAsk('p1', true), draw: 0 }, 0);
    expect(issuer.handle({ type: 'probed', job: 1, deleted: false, draw: 0 }, 10)).toMatchObject([
      { type: 'confirm', probe: { session: 'expires' } },
    ]);
  });

  it('affects neither the session of the lane nor the one that is being made', () => {
    const issuer = makeIssuer();
    issuer.handle({ type: 'asked', ask: makeAsk('r1', false), draw: 0 }, 0);
    issuer.handle({ type: 'created', job: 1, session, draw: 0 }, 10);
    // The lane's session is unused: a normal request would end it.
    expect(issuer.handle({ type: 'asked', ask: makeAsk('p1', true), draw: 0 }, 20)).toMatchObject([
      { type: 'probe', job: 2 },
    ]);
    // A normal request runs beside the trial and does not replace it.
    expect(issuer.handle({ type: 'asked', ask: makeAsk('r2', false), draw: 0 }, 30)).toMatchObject([
      { type: 'end', job: 3, sessionId: 'a' },
    ]);
    expect(issuer.handle({ type: 'probed', job: 2, deleted: true, draw: 0 }, 40)).toMatchObject([
      { type: 'confirm', ask: { request: { id: 'p1' } } },
    ]);
  });

  it('is denied like a normal request', () => {
    const issuer = makeIssuer();
    expect(issuer.handle({ type: 'asked', ask: makeAsk('p1', true, 'other'), draw: 0 }, 0)).toMatchObject([
      { type: 'answer', answer: { ok: false, error: { code: 'device_not_allowed' } } },
    ]);
    issuer.handle({ type: 'asked', ask: makeAsk('p2', true), draw: 0 }, 0);
    const trouble = { kind: 'rejected', detail: 'no credit', retryAfterS: null } as const;
    expect(issuer.handle({ type: 'failed', job: 1, trouble, draw: 0 }, 10)).toMatchObject([
      { type: 'answer', id: 'p2', answer: { ok: false } },
    ]);
  });
});

describe('a check that the backend is there', () => {
  it('gets an answer at once, without the service', () => {
    const issuer = makeIssuer();
    const ask = makeAsk('p1', 'backend');
    expect(issuer.handle({ type: 'asked', ask, draw: 0 }, 0)).toEqual([
      { type: 'confirm', ask, probe: { session: 'none' } },
    ]);
    expect(issuer.jobs).toBe(0);
  });

  it("gets an answer by the owner's policy while the service is in trouble", () => {
    const issuer = makeIssuer();
    issuer.handle({ type: 'asked', ask: makeAsk('r1', false), draw: 0 }, 0);
    const trouble = { kind: 'unavailable', detail: null, retryAfterS: 60 } as const;
    issuer.handle({ type: 'failed', job: 1, trouble, draw: 0 }, 10);
    expect(issuer.handle({ type: 'asked', ask: makeAsk('p1', 'backend'), draw: 0 }, 20)).toMatchObject([
      { type: 'confirm' },
    ]);
    expect(issuer.handle({ type: 'asked', ask: makeAsk('p2', 'backend', 'zoo'), draw: 0 }, 20)).toMatchObject(
      [{ type: 'answer', answer: { ok: false, error: { code: 'device_not_allowed' } } }],
    );
  });

  it('does not count as a request of the device, and a flood of checks gets no answer', () => {
    const issuer = makeIssuer();
    const kinds = Array.from({ length: 1000 }, (_, i) =>
      issuer.handle({ type: 'asked', ask: makeAsk(`p${i}`, 'backend'), draw: 0 }, i),
    ).map(([effect]) => effect?.type);
    expect(kinds.filter((kind) => kind === 'confirm')).toHaveLength(6);
    expect(kinds.filter((kind) => kind === 'ignore')).toHaveLength(994);
    expect(issuer.handle({ type: 'asked', ask: makeAsk('r1', false), draw: 0 }, 1000)).toMatchObject([
      { type: 'create' },
    ]);
  });
});
