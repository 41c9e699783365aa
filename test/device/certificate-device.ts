/** A device with a client certificate of a given age, and the owner's answers. */

import { createRequest } from '../../src/adapters/certificates/certificate-request.ts';
import { openDeviceCertificate } from '../../src/adapters/certificates/device-certificate.ts';
import {
  createTestAuthority,
  DAY_MS,
  type Issue,
  type TestAuthority,
} from '../adapters/certificates/authority.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

export const NAME = 'museum.kiosk-01';
/** Start of the virtual clock. */
export const NOW = Date.UTC(2026, 0, 15, 9);
const TWO_HOURS_MS = 7_200_000;
export const ca = createWhenUsed('museum');
/** Another authority with the same name. */
export const stranger = createWhenUsed('museum');
export const inTurn = () => new Promise((resolve) => setImmediate(resolve));
// Created once per process, because the files of the pure project share this module.
process.once('exit', () => {
  ca.close();
  stranger.close();
});

/** A device whose certificate begins and ends this many days from now. */
export function device(
  from: number,
  to: number,
  kept = createMemoryFile(),
  configured = configure(from, to),
) {
  const certificate = openDeviceCertificate({
    configured,
    name: NAME,
    file: kept.file,
    authorities: () => ca.certificate,
  });
  if (certificate === null) throw new Error('no certificate');
  const deps = createFakeDeps(testConfig({ start: 'command' }), { certificate });
  const requests = () => deps.sent('cert/req').map(({ body }) => body);
  const events = (kind: string) => deps.sent(`event/certificate_${kind}`).map(({ body }) => body);
  let sent = 0;
  /** Acts as `devices renew`; receives the device's messages. */
  const answer = async (change: Partial<Issue> = {}, pem: ((good: string) => string) | null = null) => {
    const [request] = requests().slice(-1);
    const life = { from: deps.clock.wall() ?? 0, to: (deps.clock.wall() ?? 0) + 300 * DAY_MS };
    const good = ca.issue(String(request?.['csr']), { ...life, ...change });
    return bring(String(request?.['id']), pem === null ? good : pem(good));
  };
  const bring = async (request: string, text: string) => {
    sent += 1;
    deps.command('certificate', { id: `c${sent}`, args: { request, certificate: text } });
    await inTurn();
    await inTurn();
    const last = deps
      .answers('certificate')
      .filter(({ status }) => status !== 'accepted')
      .at(-1);
    return { status: last?.['status'], ...(last?.['error'] as object), data: last?.['data'] };
  };
  /** A connection shows its certificate before the broker answers. */
  const connects = (connection: number) => {
    certificate.pair();
    deps.brokerUp(connection);
  };
  const start = async () => {
    await deps.agent.start();
    connects(1);
    await inTurn();
  };
  /** Advances the wall clock by days at once; only the last two hours run the timers. */
  const pass = async (days: number) => {
    deps.clock.setWall((deps.clock.wall() ?? 0) + days * DAY_MS - TWO_HOURS_MS);
    deps.clock.advance(TWO_HOURS_MS);
    await inTurn();
  };
  return { deps, certificate, kept, configured, requests, events, answer, bring, start, connects, pass };
}

function configure(from: number, to: number) {
  const { key, request } = createRequest(NAME);
  const life = { from: NOW + from * DAY_MS, to: NOW + to * DAY_MS };
  return { key, certificate: ca.issue(request, life) };
}

/** The renewal is due: a month is left. */
export const due = () => device(-100, 30);

/** Tests that are skipped without openssl must load without it. */
function createWhenUsed(name: string): TestAuthority {
  let made: TestAuthority | null = null;
  const authority = (): TestAuthority => {
    made ??= createTestAuthority(name);
    return made;
  };
  return {
    get certificate() {
      return authority().certificate;
    },
    get key() {
      return authority().key;
    },
    issue: (request, issue) => authority().issue(request, issue),
    below: (lower) => authority().below(lower),
    close: () => made?.close(),
  };
}
