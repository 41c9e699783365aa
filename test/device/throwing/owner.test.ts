import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../../src/device/deps/deps.ts';
import type { DeviceCertificate } from '../../../src/ports/certificate.ts';
import { expectNoSecret, expectStreaming, explode, reject, throwing } from './tools.ts';

const STORE: DeviceCertificate = {
  present: { subject: 'CN=kiosk-01', validFrom: 0, validTo: 0 },
  successor: null,
  shown: 'present',
  request: { id: 'r', csr: 'csr' },
  use() {},
  draft: async () => null,
  offer: async () => ({ ok: true }),
  adopt: async () => null,
  drop: async () => null,
};
const inTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('the handler of a command that throws', () => {
  it.each(['restart', 'reboot'])('answers %s with an error, and the agent continues', async (name) => {
    const host = new Proxy({}, { get: () => explode }) as NonNullable<AgentDeps['host']>;
    const deps = throwing((given) => ({ ...given, host }));
    await deps.goLive();
    deps.command(name, { id: 'h' });
    await inTurn();
    expect(deps.answers(name).at(-1)).toMatchObject({
      id: 'h',
      status: 'error',
      error: { code: 'internal' },
    });
    expectNoSecret(deps);
    expectStreaming(deps);
  });

  it('answers each certificate with an error: the next one is judged too', async () => {
    const certificate = { ...STORE, offer: reject };
    const deps = throwing((given) => ({ ...given, certificate }));
    await deps.goLive();
    for (const id of ['c1', 'c2']) {
      deps.command('certificate', { id, args: { request: 'r', certificate: 'pem' } });
      await inTurn();
      await inTurn();
      expect(deps.answers('certificate').at(-1)).toMatchObject({ id, error: { code: 'internal' } });
    }
    expectStreaming(deps);
  });

  it('answers a certificate with an error when the store throws', async () => {
    const certificate = { ...STORE, request: null };
    Object.defineProperty(certificate, 'request', { get: explode });
    const deps = throwing((given) => ({ ...given, certificate }));
    await deps.goLive();
    for (const args of [{}, { request: 'r', certificate: 'pem' }]) {
      deps.command('certificate', { id: `c${Object.keys(args).length}`, args });
      await inTurn();
      expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'internal' } });
    }
    expectStreaming(deps);
  });
});
