import { afterAll, describe, expect, it } from 'vitest';
import { openDeviceCertificate } from '../../src/adapters/certificates/device-certificate.ts';
import { createRequest } from '../../src/adapters/certificates/request.ts';
import { COMMAND_DATA } from '../../src/protocol/mqtt/command-data.ts';
import { createTestAuthority, DAY_MS, type Issue } from '../adapters/certificates/authority.ts';
import { findOpenssl } from '../adapters/mqtt/fixture.ts';
import { BASE, createFakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

const NAME = 'museum.kiosk-01';
const HOUR_MS = 3_600_000;
/** Where the virtual clock begins. */
const NOW = Date.UTC(2026, 0, 15, 9);
const hasOpenssl = findOpenssl();
const ca = hasOpenssl ? createTestAuthority('museum') : null;
const stranger = hasOpenssl ? createTestAuthority('museum') : null;
const inTurn = () => new Promise((resolve) => setImmediate(resolve));
afterAll(() => {
  ca?.close();
  stranger?.close();
});
if (ca === null || stranger === null) throw new Error('openssl is not installed, and these tests need it');

/** A device whose certificate began and ends so many days from now. */
function device(from: number, to: number, kept = createMemoryFile(), configured = configure(from, to)) {
  const certificate = openDeviceCertificate({
    ...{ configured, name: NAME, file: kept.file, authorities: () => ca?.certificate ?? '' },
  });
  if (certificate === null) throw new Error('no certificate');
  const deps = createFakeDeps(testConfig({ start: 'command' }), { certificate });
  const requests = () => deps.sent('cert/req').map(({ body }) => body);
  const events = (kind: string) => deps.sent(`event/certificate_${kind}`).map(({ body }) => body);
  let sent = 0;
  /** As `devices renew` does; what the device says to it. */
  const answer = async (change: Partial<Issue> = {}, pem: ((good: string) => string) | null = null) => {
    const [request] = requests().slice(-1);
    const life = { from: deps.clock.wall() ?? 0, to: (deps.clock.wall() ?? 0) + 300 * DAY_MS };
    const good = ca?.issue(String(request?.['csr']), { ...life, ...change }) ?? '';
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
  const start = async () => {
    await deps.agent.start();
    deps.brokerUp();
    await inTurn();
  };
  /** Years on the wall in a moment: what goes by the minute is not waited for. */
  const pass = async (days: number) => {
    deps.clock.setWall((deps.clock.wall() ?? 0) + days * DAY_MS - 2 * HOUR_MS);
    deps.clock.advance(2 * HOUR_MS);
    await inTurn();
  };
  return { deps, certificate, kept, configured, requests, events, answer, bring, start, pass };
}

function configure(from: number, to: number) {
  const { key, request } = createRequest(NAME);
  const life = { from: NOW + from * DAY_MS, to: NOW + to * DAY_MS };
  return { key, certificate: ca?.issue(request, life) ?? '' };
}

/** Due, with a month to go. */
const due = () => device(-100, 30);

describe('the renewal of the client certificate', () => {
  it('is asked for when two thirds of its life are over, once, and kept at the broker', async () => {
    const { deps, requests, start, events, pass } = device(-60, 40);
    await start();
    expect(requests()).toEqual([]);
    // 66.7 to 71.7 days of 100; the draw of this device is a half.
    await pass(9);
    expect(requests()).toEqual([]);
    await pass(0.3);
    expect(requests()).toHaveLength(1);
    expect(deps.sent('cert/req')[0]?.options).toMatchObject({ qos: 1, retain: true });
    expect(requests()[0]).toMatchObject({ valid_to: '2026-02-24T09:00:00.000Z' });
    expect(JSON.stringify(requests())).not.toContain('PRIVATE');
    deps.clock.advance(3 * HOUR_MS);
    expect(requests()).toHaveLength(1);
    // In case the broker has forgotten it.
    deps.clock.advance(22 * HOUR_MS);
    expect(requests()).toHaveLength(2);
    expect(requests()[1]?.['csr']).toBe(requests()[0]?.['csr']);
    expect(events('problem')).toEqual([]);
  });

  it('takes the new one on trial, uses it with the next connection, and lets the old one go then', async () => {
    const { deps, certificate, configured, answer, events, requests, start, kept, pass } = due();
    await start();
    const answered = await answer();
    expect(answered).toMatchObject({ status: 'ok', data: { valid_to: '2026-11-11T09:00:00.000Z' } });
    expect(COMMAND_DATA.certificate.safeParse(answered.data).error).toBeUndefined();
    expect(deps.reconnects).toBe(0);
    expect(certificate.pair().certificate).not.toBe(configured.certificate);
    expect(certificate.present.validTo).toBe(NOW + 30 * DAY_MS);
    deps.clock.advance(1000);
    expect(deps.reconnects).toBe(1);
    expect(events('renewed')).toEqual([]);
    deps.brokerUp(2);
    await inTurn();
    expect(events('renewed')).toMatchObject([{ lane: null, valid_to: '2026-11-11T09:00:00.000Z' }]);
    expect(certificate.present.validTo).toBe(NOW + 300 * DAY_MS);
    expect(requests().at(-1)).toBeNull();
    // Kept over a restart, and asked for again when its own time has come.
    const next = device(0, 0, kept, configured);
    expect(next.certificate.pair()).toEqual(certificate.pair());
    await pass(199);
    expect(requests().filter((body) => body !== null)).toHaveLength(1);
    await pass(16);
    expect(requests().filter((body) => body !== null)).toHaveLength(2);
  });

  it('falls back where the broker refuses the new one, says so, and asks again after a day with another key', async () => {
    const { deps, certificate, configured, answer, events, requests, start } = due();
    await start();
    const first = requests().at(-1);
    await answer();
    deps.clock.advance(1000);
    deps.bus.listener.down('refused', 'the broker does not accept our certificate');
    expect(certificate.pair().certificate).toBe(configured.certificate);
    expect(deps.reconnects).toBe(2);
    expect(events('problem')).toEqual([]);
    deps.brokerUp(2);
    await inTurn();
    expect(events('problem')).toMatchObject([
      { message: 'the broker does not take the new client certificate; the present one stays' },
    ]);
    expect(events('renewed')).toEqual([]);
    expect(certificate.successor).toBeNull();
    deps.clock.advance(23 * HOUR_MS);
    await inTurn();
    expect(requests().filter((body) => body !== null)).toHaveLength(1);
    deps.clock.advance(2 * HOUR_MS);
    await inTurn();
    expect(requests().at(-1)?.['csr']).not.toBe(first?.['csr']);
    expect(await answer()).toMatchObject({ status: 'ok' });
  });

  it('goes on with the trial after a restart in the midst of it', async () => {
    const { configured, answer, start, kept } = due();
    await start();
    await answer();
    const again = device(0, 0, kept, configured);
    expect(again.certificate.pair().certificate).not.toBe(configured.certificate);
    await again.start();
    expect(again.events('renewed')).toHaveLength(1);
    expect(again.certificate.successor).toBeNull();
  });

  it('goes on asking under the same id and key after a restart', async () => {
    const { configured, requests, start, kept } = due();
    await start();
    const again = device(0, 0, kept, configured);
    await again.start();
    expect(again.requests()).toEqual([requests()[0]]);
    expect(await again.answer()).toMatchObject({ status: 'ok' });
  });

  it('forgets all of it where the configuration names another certificate', async () => {
    const { start, kept, answer } = due();
    await start();
    await answer();
    const other = device(-1, 300, kept);
    expect(other.certificate.pair()).toEqual(other.configured);
    await other.start();
    expect(other.requests()).toEqual([]);
  });

  it.each(['{', '{"format":2}', '[]', '{"format":1,"configured":"x"}'])(
    'begins anew where what was kept is damaged: %s',
    async (text) => {
      const kept = createMemoryFile();
      kept.fill(text);
      const { certificate, configured } = device(-100, 30, kept);
      expect(certificate.pair()).toEqual(configured);
    },
  );

  it('tells from 14 days before the end on, once, and in the status until it is renewed', async () => {
    const { deps, events, answer, start, pass } = due();
    await start();
    const reasons = () => deps.agent.publisher.status().reasons;
    await pass(15.9);
    expect(reasons()).not.toContain('certificate:2026-02-14');
    await pass(0.2);
    expect(reasons()).toContain('certificate:2026-02-14');
    expect(deps.agent.publisher.status().status).toBe('degraded');
    expect(events('problem')).toMatchObject([
      { message: 'the client certificate ends on 2026-02-14 and was not renewed' },
    ]);
    await pass(3);
    expect(events('problem')).toHaveLength(1);
    expect(await answer()).toMatchObject({ status: 'ok' });
    deps.clock.advance(1000);
    deps.brokerUp(2);
    expect(reasons()).not.toContain('certificate:2026-02-14');
  });

  it('waits for a clock that is set', async () => {
    const { deps, requests, start, bring, events } = due();
    deps.clock.setWall(null);
    await start();
    deps.clock.advance(DAY_MS);
    expect(requests()).toEqual([]);
    expect(events('problem')).toEqual([]);
    deps.clock.setWall(NOW);
    deps.clock.advance(HOUR_MS + 60_000);
    await inTurn();
    expect(requests()).toHaveLength(1);
    deps.clock.setWall(null);
    expect(await bring(String(requests()[0]?.['id']), 'x')).toMatchObject({ code: 'clock' });
  });

  it('is not asked for where the key cannot be kept, and not used where the certificate cannot', async () => {
    const full = due();
    full.kept.fail('the disk is full');
    await full.start();
    expect(full.requests()).toEqual([]);
    expect(full.events('problem')).toMatchObject([{ message: /the disk is full/ }]);
    full.kept.fail(null);
    full.deps.clock.advance(DAY_MS + HOUR_MS);
    await inTurn();
    expect(full.requests()).toHaveLength(1);
    full.kept.fail('the disk is full');
    expect(await full.answer()).toMatchObject({ status: 'error', code: 'not_kept', message: /disk is full/ });
    expect(full.certificate.pair()).toEqual(full.configured);
    full.kept.fail(null);
    expect(await full.answer()).toMatchObject({ status: 'ok' });
  });

  it('is asked for at once where the owner wants it, under one id until it is answered', async () => {
    const { deps, requests, answer, start } = device(-1, 300);
    await start();
    expect(requests()).toEqual([]);
    for (const id of ['now', 'again']) {
      deps.command('certificate', { id, args: {} });
      await inTurn();
      await inTurn();
    }
    expect(deps.answers('certificate').at(-1)).toMatchObject({
      ...{ id: 'again', status: 'ok', data: { valid_to: '2026-11-11T09:00:00.000Z' } },
    });
    expect(new Set(requests().map((body) => body?.['id']))).toHaveLength(1);
    expect(await answer()).toMatchObject({ status: 'ok' });
    deps.command('certificate', { id: 'while-tried', args: {} });
    await inTurn();
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'busy' } });
    deps.command('certificate', { id: 'half', args: { request: 'x' } });
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'invalid_args' } });
  });

  it('is no command for devices with a password', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.command('certificate', { id: 'a', args: { request: 'r', certificate: 'c' } });
    expect(deps.answers('certificate')).toMatchObject([{ error: { code: 'unsupported' } }]);
  });
});

describe('a hostile answer', () => {
  const other = createRequest(NAME);
  const life = { from: NOW, to: NOW + 300 * DAY_MS };
  const below = ca.below('between');
  const AUTHORITY = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'];

  it.each<[string, Partial<Issue>, ((good: string) => string) | null, RegExp]>([
    ['for another device', { subject: '/CN=museum.kiosk-02' }, null, /is for "CN=museum.kiosk-02"/],
    ['for another key', {}, () => ca.issue(other.request, life), /another key/],
    ['that has ended', { from: NOW - 9 * DAY_MS, to: NOW - 1 }, null, /has ended/],
    ['that begins tomorrow', { from: NOW + DAY_MS }, null, /begins only/],
    ['that ends within a day', { to: NOW + DAY_MS / 2 }, null, /within a day/],
    ['for servers', { extensions: ['extendedKeyUsage=serverAuth'] }, null, /clients/],
    ['that makes it an authority', { extensions: AUTHORITY }, null, /authority/],
    ['that is no certificate', {}, () => 'hello', /cannot be read/],
    ['that is cut off', {}, (good) => good.slice(0, 300), /cannot be read/],
    ['that is damaged', {}, (good) => good.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA'), /cannot be read/],
    ['with five more behind it', {}, (good) => good.repeat(6), /cannot be read/],
    ['with the private key of the authority', {}, () => ca.key, /cannot be read/],
  ])('%s is refused, and the request stays open', async (_, change, pem, message) => {
    const { answer, start, certificate, configured, deps, kept } = due();
    await start();
    expect(await answer(change, pem)).toMatchObject({ status: 'error', code: 'wrong_certificate', message });
    deps.clock.advance(2000);
    expect(deps.reconnects).toBe(0);
    expect(certificate.pair()).toEqual(configured);
    expect(kept.text).not.toContain('BEGIN CERTIFICATE-');
    expect(await answer()).toMatchObject({ status: 'ok' });
  });

  it('of an authority that is not known is refused, also of one by the same name', async () => {
    const { bring, requests, start } = due();
    await start();
    const [asked] = requests();
    const id = String(asked?.['id']);
    const strange = stranger.issue(String(asked?.['csr']), life);
    const message = /not issued by an authority of mqtt.caFile/;
    expect(await bring(id, strange)).toMatchObject({ message });
    // Its own authority behind it proves nothing.
    expect(await bring(id, `${strange}${stranger.certificate}`)).toMatchObject({ message });
    // A device is no authority, whatever it signs.
    const device = createRequest(NAME);
    const leaf = ca.issue(device.request, life);
    expect(await bring(id, `${strange}${leaf}`)).toMatchObject({ message });
    // One between is good, if it comes along.
    const lower = below.issue(String(asked?.['csr']), life);
    expect(await bring(id, lower)).toMatchObject({ message });
    expect(await bring(id, `${lower}${below.certificate}`)).toMatchObject({ status: 'ok' });
  });

  it('without a request, or to an older one, or a second time, is refused', async () => {
    const quiet = device(-1, 300);
    await quiet.start();
    const pem = ca.issue(other.request, life);
    expect(await quiet.bring('x', pem)).toMatchObject({ code: 'not_asked' });
    const { answer, bring, requests, start, deps } = due();
    await start();
    const id = String(requests()[0]?.['id']);
    expect(await bring(`${id}x`, pem)).toMatchObject({ code: 'not_asked' });
    expect(await answer()).toMatchObject({ status: 'ok' });
    expect(await bring(id, pem)).toMatchObject({ code: 'not_asked' });
    deps.clock.advance(1000);
    deps.brokerUp(2);
    expect(await bring(id, pem)).toMatchObject({ code: 'not_asked' });
  });

  it('on the topics of the fleet or retained, too large or with more in it, is refused', async () => {
    const { deps, requests, start, bring } = due();
    await start();
    const request = String(requests()[0]?.['id']);
    expect(await bring(request, 'A'.repeat(20_000))).toMatchObject({ code: 'invalid_args' });
    const body = { id: 'r1', args: { request, certificate: 'x' } };
    deps.command('certificate', body, { retain: true });
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'retained' } });
    deps.command('certificate', { id: 'r2', args: { ...body.args, key: 'mine' } });
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'invalid_args' } });
    deps.deliver('dragoman/v1/museum/all/cmd/certificate', { ...body, id: 'r3' });
    await inTurn();
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'wrong_certificate' } });
    expect(BASE).toContain('kiosk-01');
  });

  it('by a clock that is years ahead or behind is refused, and taken when the clock is right', async () => {
    const { deps, start, requests, bring } = due();
    await start();
    const id = String(requests()[0]?.['id']);
    const pem = ca.issue(String(requests()[0]?.['csr']), life);
    deps.clock.setWall(NOW + 3650 * DAY_MS);
    expect(await bring(id, pem)).toMatchObject({ message: /has ended .* by this device's clock/ });
    deps.clock.setWall(NOW - 365 * DAY_MS);
    expect(await bring(id, pem)).toMatchObject({ code: 'wrong_certificate' });
    deps.clock.setWall(NOW);
    expect(await bring(id, pem)).toMatchObject({ status: 'ok' });
  });
});
