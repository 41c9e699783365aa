import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../../src/agent/deps.ts';
import type { DeviceCertificate } from '../../../src/ports/certificate.ts';
import { expectNoSecret, expectStreaming, expectTold, explode, reject, throwing } from './tools.ts';

const inTurn = () => new Promise((resolve) => setImmediate(resolve));
const BASE = 'dragoman/v1/museum/kiosk-01';
const DAY_MS = 86_400_000;
const HOWS = [
  ['throws', explode],
  ['rejects', reject],
] as const;

describe('signatures that cannot be checked', () => {
  it.each(HOWS)('%s: the command is refused with an answer, and others are read', async (_how, open) => {
    const deps = throwing((given) => ({ ...given, signatures: { open } }));
    await deps.agent.start();
    deps.brokerUp();
    for (let at = 0; at < 40; at++) {
      deps.deliver(`${BASE}/cmd/reboot`, { id: `c${at}`, jws: 'a.b.c' });
      await inTurn();
    }
    expect(deps.answers('reboot').at(-1)).toMatchObject({ id: 'c39', error: { code: 'signature' } });
    expect(deps.defects).toContain('signatures.open');
    expectTold(deps);
    deps.command('status', { id: 's' });
    expect(deps.answers('status').at(-1)).toMatchObject({ id: 's', status: 'ok' });
    expectNoSecret(deps);
  });

  it('refuse what is desired, and the answer to a request for a token', async () => {
    const deps = throwing((given) => ({ ...given, signatures: { open: reject } }));
    await deps.agent.start();
    deps.brokerUp();
    const id = String(deps.sent('token/req').at(-1)?.body['id']);
    deps.deliver(`${BASE}/desired`, { jws: 'a.b.c' });
    deps.deliver(`${BASE}/token/res`, { id, jws: 'a.b.c' });
    await inTurn();
    expect(deps.defects).toContain('signatures.open');
    expectTold(deps);
    expect(deps.streams).toHaveLength(0);
  });
});

describe('a client certificate that throws', () => {
  const INFO = { subject: 'CN=kiosk-01', validFrom: 0, validTo: 0 };
  const certificate = (change: Partial<DeviceCertificate>): DeviceCertificate => ({
    present: INFO,
    successor: null,
    request: null,
    isShown: true,
    use: explode,
    draft: async () => null,
    offer: reject,
    adopt: reject,
    drop: reject,
    ...change,
  });

  it.each(HOWS)(
    '%s as its successor is drafted: the owner is told, and it is tried again',
    async (_how, draft) => {
      let tries = 0;
      const counted = () => {
        tries += 1;
        return draft();
      };
      const deps = throwing((given) => ({ ...given, certificate: certificate({ draft: counted }) }));
      await deps.goLive();
      await inTurn();
      expect(deps.defects).toContain('certificate.draft');
      expectTold(deps);
      expect(deps.sent('event/certificate_problem').at(-1)?.body['message']).toContain(
        'a defect of the program',
      );
      expectStreaming(deps);
      // As soon as it is tried again, all is known.
      for (let hour = 0; hour < 48 && tries < 2; hour++) {
        deps.clock.setWall((deps.clock.wall() ?? 0) + DAY_MS);
        for (let minute = 0; minute < 60 && tries < 2; minute += 5) {
          deps.clock.advance(300_000);
          await inTurn();
        }
      }
      expect(tries).toBeGreaterThan(1);
    },
  );

  it('as its successor is offered fails the command, and the next one is taken', async () => {
    const request = { id: 'r', csr: 'csr' };
    const deps = throwing((given) => ({ ...given, certificate: certificate({ request }) }));
    await deps.goLive();
    for (const id of ['c1', 'c2']) {
      deps.command('certificate', { id, args: { request: 'r', certificate: 'pem' } });
      await inTurn();
      await inTurn();
      expect(deps.answers('certificate').at(-1)).toMatchObject({ id, error: { code: 'not_kept' } });
    }
    expectStreaming(deps);
  });
});

describe('the machine', () => {
  it('that cannot tell how it is costs the figures, not the message', async () => {
    const deps = throwing((given) => ({ ...given, vitals: explode }));
    await deps.goLive();
    for (let s = 0; s < 70; s++) deps.clock.advance(1000);
    expect(deps.sent('health').at(-1)?.body).toMatchObject({ rss_bytes: null, cpu_seconds: null });
    expect(deps.defects).toContain('vitals');
    expectTold(deps);
  });

  it.each(['restart', 'reboot'])('that throws at %s fails the command with an answer', async (name) => {
    const host = new Proxy({}, { get: () => explode }) as NonNullable<AgentDeps['host']>;
    const deps = throwing((given) => ({ ...given, host }));
    await deps.goLive();
    deps.command(name, { id: 'h' });
    await inTurn();
    expect(deps.answers(name).at(-1)).toMatchObject({ id: 'h', status: 'error' });
    expect(JSON.stringify(deps.answers(name))).toContain('a defect of the program');
    expectTold(deps);
    expectNoSecret(deps);
  });
});

describe('the brokers', () => {
  it.each(HOWS)(
    '%s as the last one is kept: it is logged, and the connection goes on',
    async (_how, settle) => {
      const brokers: NonNullable<AgentDeps['brokers']> = {
        configured: 'mqtts://new.example:8883',
        previous: null,
        unreadable: [],
        use: explode,
        change: explode,
        settle,
      };
      const deps = throwing((given) => ({ ...given, brokers }));
      await deps.goLive();
      await inTurn();
      expect(deps.defects).toContain('brokers.settle');
      expectTold(deps);
      expectStreaming(deps);
    },
  );
});
