import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/protocol/mqtt/commands/registry.ts';
import { DAY_MS } from '../adapters/certificates/authority.ts';
import { findOpenssl } from '../adapters/mqtt/mosquitto.ts';
import { needs } from '../needs.ts';
import { ofNextRelease } from '../next-release.ts';
import { device, due, inTurn, NOW } from './certificate-device.ts';
import { createFakeDeps } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

/** `toMatchObject` treats a bare pattern as an object without fields, which matches everything. */
const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

const HOUR_MS = 3_600_000;

describe('the renewal of the client certificate', needs(!findOpenssl() && 'needs openssl'), () => {
  it('is requested once, after two thirds of the lifetime, and retained at the broker', async () => {
    const { deps, requests, start, events, pass } = device(-60, 40);
    await start();
    expect(requests()).toEqual([]);
    // 66.7 to 71.7 days of 100; this device draws the middle.
    await pass(9);
    expect(requests()).toEqual([]);
    await pass(0.3);
    expect(requests()).toHaveLength(1);
    expect(deps.sent('cert/req')[0]?.options).toMatchObject({ qos: 1, retain: true });
    expect(requests()[0]).toMatchObject({ valid_to: '2026-02-24T09:00:00.000Z' });
    expect(JSON.stringify(requests())).not.toContain('PRIVATE');
    expect(events('problem')).toEqual([]);
  });

  it('is requested again a day after a draft that throws, and the daemon goes on', async () => {
    const { deps, certificate, requests, start, events, pass } = device(-60, 40);
    const { draft } = certificate;
    certificate.draft = () => Promise.reject(new Error('no random numbers'));
    await start();
    await pass(9.3);
    expect(requests()).toEqual([]);
    expect(events('problem')).toMatchObject([{ message: 'cannot request a new one: no random numbers' }]);
    certificate.draft = draft;
    deps.clock.advance(23 * HOUR_MS);
    await inTurn();
    expect(requests()).toEqual([]);
    deps.clock.advance(2 * HOUR_MS);
    await inTurn();
    expect(requests()).toHaveLength(1);
  });

  it('tries the new one with the next connection, and then deletes the old one', async () => {
    const { deps, certificate, configured, answer, events, requests, start, kept, pass, connects } = due();
    await start();
    const answered = await answer();
    expect(answered).toMatchObject({ status: 'ok', data: { valid_to: '2026-11-11T09:00:00.000Z' } });
    expect(COMMANDS.certificate.data.safeParse(answered.data).error).toBeUndefined();
    expect(deps.reconnects).toBe(0);
    expect(certificate.pair().certificate).not.toBe(configured.certificate);
    expect(certificate.present.validTo).toBe(NOW + 30 * DAY_MS);
    deps.clock.advance(1000);
    expect(deps.reconnects).toBe(1);
    expect(events('renewed')).toEqual([]);
    connects(2);
    await inTurn();
    expect(events('renewed')).toMatchObject([{ lane: null, valid_to: '2026-11-11T09:00:00.000Z' }]);
    expect(certificate.present.validTo).toBe(NOW + 300 * DAY_MS);
    expect(requests().at(-1)).toBeNull();
    // The new one is kept over a restart, and renewed in its own time.
    const next = device(0, 0, kept, configured);
    expect(next.certificate.pair()).toEqual(certificate.pair());
    await pass(199);
    expect(requests().filter((body) => body !== null)).toHaveLength(1);
    await pass(16);
    expect(requests().filter((body) => body !== null)).toHaveLength(2);
  });

  it('falls back when the broker refuses the new one, reports it, and requests again after a day with another key', async () => {
    const { deps, certificate, configured, answer, events, requests, start, connects } = due();
    await start();
    const first = requests().at(-1);
    await answer();
    deps.clock.advance(1000);
    certificate.pair();
    deps.bus.listener.down('refused', 'the broker does not accept our certificate');
    expect(certificate.pair().certificate).toBe(configured.certificate);
    expect(deps.reconnects).toBe(2);
    expect(events('problem')).toEqual([]);
    connects(2);
    await inTurn();
    expect(events('problem')).toMatchObject([
      { message: 'the broker does not accept the new client certificate; the present one stays' },
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

  it('is not judged by a connection with another login', async () => {
    const { deps, certificate, answer, events, start, connects } = due();
    await start();
    await answer();
    certificate.hide();
    deps.brokerUp(2);
    deps.bus.listener.down('refused', 'not authorized');
    expect(events('renewed')).toEqual([]);
    connects(3);
    expect(events('renewed')).toHaveLength(1);
  });

  it('is not adopted by a connection that began while it was saved, and showed the present one', async () => {
    const { deps, certificate, answer, events, start, connects } = due();
    await start();
    const { offer } = certificate;
    let save = (): void => {};
    certificate.offer = async (...given) => {
      const offered = await offer(...given);
      await new Promise<void>((resolve) => {
        save = resolve;
      });
      return offered;
    };
    void answer();
    await inTurn();
    deps.bus.listener.down('unreachable', 'no answer');
    certificate.pair();
    save();
    await inTurn();
    deps.brokerUp(2);
    expect(events('renewed')).toEqual([]);
    expect(certificate.successor).not.toBeNull();
    deps.clock.advance(1000);
    expect(deps.reconnects).toBe(1);
    connects(3);
    expect(events('renewed')).toHaveLength(1);
  });

  it('continues the trial when the disk delivers the file late', async () => {
    const { configured, answer, start, kept } = due();
    await start();
    await answer();
    kept.delay();
    const again = device(0, 0, kept, configured);
    await again.start();
    kept.bring();
    again.connects(2);
    expect(again.events('renewed')).toHaveLength(1);
  });

  it('continues the trial after a restart', async () => {
    const { configured, answer, start, kept } = due();
    await start();
    await answer();
    const again = device(0, 0, kept, configured);
    expect(again.certificate.pair().certificate).not.toBe(configured.certificate);
    await again.start();
    expect(again.events('renewed')).toHaveLength(1);
    expect(again.certificate.successor).toBeNull();
  });

  it('continues the request under the same id and key after a restart', async () => {
    const { configured, requests, start, kept } = due();
    await start();
    const again = device(0, 0, kept, configured);
    await again.start();
    expect(again.requests()).toEqual([requests()[0]]);
    expect(await again.answer()).toMatchObject({ status: 'ok' });
  });

  it('starts again when the configuration names another certificate', async () => {
    const { start, kept, answer } = due();
    await start();
    await answer();
    const other = device(-1, 300, kept);
    expect(other.certificate.pair()).toEqual(other.configured);
    await other.start();
    expect(other.requests()).toEqual([]);
  });

  it.each(['{', '{"format":2}', '[]', '{"format":1,"configured":"x"}'])(
    'starts again when the kept file is damaged: %s',
    async (text) => {
      const kept = createMemoryFile();
      kept.fill(text);
      const { certificate, configured } = device(-100, 30, kept);
      expect(certificate.pair()).toEqual(configured);
      expect(certificate.unread).toBe('it is damaged');
      // It may be of a later version, and hold a key that exists nowhere else.
      expect(kept.aside).toBe(text);
      expect(device(-100, 30).certificate.unread).toBeNull();
    },
  );

  it('is kept when a later release has written the file, and the device has returned to this one', async () => {
    const { start, kept, answer, certificate, configured } = due();
    await start();
    await answer();
    kept.fill(ofNextRelease(kept.text ?? ''));
    const again = device(0, 0, kept, configured);
    expect(again.certificate.unread).toBeNull();
    expect(again.certificate.pair()).toEqual(certificate.pair());
    await again.start();
    expect(again.events('renewed')).toHaveLength(1);
  });

  it('continues without a file that the disk delivers late, and uses it when it arrives', async () => {
    const { start, kept, answer, certificate, configured } = due();
    await start();
    await answer();
    const renewed = certificate.pair();
    kept.delay();
    const next = device(-100, 30, kept, configured);
    expect(next.certificate.unread).toBe('the disk takes too long');
    expect(next.certificate.pair()).toEqual(next.configured);
    expect(await next.certificate.draft('one')).toContain('has not been read yet');
    kept.bring();
    expect(next.certificate.unread).toBeNull();
    expect(next.certificate.pair()).toEqual(renewed);
  });

  it('is missed: warns once 14 days before the end, and in the status until the renewal', async () => {
    const { deps, events, answer, start, pass, connects } = due();
    await start();
    const reasons = () => deps.agent.publisher.status().reasons;
    await pass(15.9);
    expect(reasons()).not.toContain('certificate:2026-02-14');
    await pass(0.2);
    expect(reasons()).toContain('certificate:2026-02-14');
    expect(deps.agent.publisher.status().status).toBe('degraded');
    expect(events('problem')).toMatchObject([
      { message: 'the client certificate expires on 2026-02-14 and was not renewed' },
    ]);
    expect(await answer()).toMatchObject({ status: 'ok' });
    connects(2);
    expect(reasons()).not.toContain('certificate:2026-02-14');
  });

  it('is not requested when the key cannot be saved; a certificate that cannot be saved is not used', async () => {
    const full = due();
    full.kept.fail('the disk is full');
    await full.start();
    expect(full.requests()).toEqual([]);
    expect(full.events('problem')).toMatchObject([{ message: matching(/the disk is full/) }]);
    full.kept.fail(null);
    full.deps.clock.advance(DAY_MS + HOUR_MS);
    await inTurn();
    expect(full.requests()).toHaveLength(1);
    full.kept.fail('the disk is full');
    expect(await full.answer()).toMatchObject({
      status: 'error',
      code: 'not_kept',
      message: matching(/disk is full/),
    });
    expect(full.certificate.pair()).toEqual(full.configured);
    full.kept.fail(null);
    expect(await full.answer()).toMatchObject({ status: 'ok' });
  });

  it('is requested at once by command, under one id until the answer', async () => {
    const { deps, requests, answer, start } = device(-1, 300);
    await start();
    expect(requests()).toEqual([]);
    for (const id of ['now', 'again']) {
      deps.command('certificate', { id, args: {} });
      await inTurn();
      await inTurn();
    }
    expect(deps.answers('certificate').at(-1)).toMatchObject({
      id: 'again',
      status: 'ok',
      data: { valid_to: '2026-11-11T09:00:00.000Z' },
    });
    expect(new Set(requests().map((body) => body?.['id']))).toHaveLength(1);
    expect(await answer()).toMatchObject({ status: 'ok' });
    deps.command('certificate', { id: 'while-tried', args: {} });
    await inTurn();
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'busy' } });
    deps.command('certificate', { id: 'half', args: { request: 'x' } });
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'invalid_args' } });
  });

  it('is refused as a command on devices with a password', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.command('certificate', { id: 'a', args: { request: 'r', certificate: 'c' } });
    expect(deps.answers('certificate')).toMatchObject([{ error: { code: 'unsupported' } }]);
  });
});
