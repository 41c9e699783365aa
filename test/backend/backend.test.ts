import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { until } from '../until.ts';
import { API_KEY, errorOf, fixtureOfEachTest, STREAM_URL, sessionOf } from './backend-on-loopback.ts';
import { answerJson, type FakeService, sessionOf as fakeSession, startFakeService } from './fake-service.ts';

let fakeService: FakeService | null = null;
afterEach(async () => {
  await fakeService?.close();
  fakeService = null;
});
// What is registered later is closed earlier.
const { start, sessionsAtService } = fixtureOfEachTest();

describe('backend', () => {
  it('exchanges a request for a session: made at the service, labelled, answered with the address', async () => {
    const fixture = await start({ config: { session: { maxSessionDurationSeconds: 600 } } });
    const answer = await fixture.ask('kiosk', 'r1');
    const session = sessionOf(answer);
    expect(answer).toMatchObject({ id: 'r1', ok: true, stream_url: STREAM_URL });
    expect(session).toMatchObject({
      intent: 's2s',
      connection_type: 'ws',
      single_use: true,
      client_reference_id: 'museum/kiosk/main',
      status: 'pending',
      max_session_duration_seconds: 600,
    });
    const [made] = sessionsAtService();
    expect(made?.id).toBe(session.id);
    const windowMs = Date.parse(String(session['connect_by'])) - Date.parse(String(session['created_at']));
    expect(windowMs).toBe(60_000);
    expect(Date.parse(String((answer as { ts?: string }).ts))).toBeGreaterThan(Date.UTC(2024, 0));
    const [published] = fixture.witness.messages.filter(({ topic }) => topic.endsWith('/token/res'));
    expect(published?.retain).toBe(false);
  });

  it('hands out tokens that open a stream', async () => {
    const fixture = await start();
    const { token } = sessionOf(await fixture.ask('kiosk', 'r1'));
    const url = `${fixture.emulator?.wsUrl}/streaming-api/any/v1/speech-to-speech/stream?token=${token}`;
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const running = () => sessionsAtService().map((session) => session.activeStreams);
    await until(() => running()[0] === 1, 'the stream');
    // The lane asks for its next one while the first is in use: that one stays.
    await fixture.ask('kiosk', 'r2', { reason: 'rollover' });
    expect(running()).toEqual([1, 0]);
    socket.close();
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('answers the same request with the same session, and makes one only', async () => {
    const fixture = await start();
    const first = sessionOf(await fixture.ask('kiosk', 'r1'));
    const second = sessionOf(await fixture.ask('kiosk', 'r1', { attempt: 2 }));
    expect(second.token).toBe(first.token);
    expect(sessionsAtService()).toHaveLength(1);
  });

  it('leaves one unused session per lane: the older one is revoked', async () => {
    const fixture = await start();
    const first = sessionOf(await fixture.ask('kiosk', 'r1'));
    const second = sessionOf(await fixture.ask('kiosk', 'r2'));
    sessionOf(await fixture.ask('kiosk', 'r3', { lane: 'desk' }));
    expect(second.token).not.toBe(first.token);
    const client = await fetch(`${fixture.emulator?.url}/session-storage/v2/sessions/${first.id}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    expect(await client.json()).toMatchObject({ data: { status: 'revoked' } });
  });

  it('finds the unused session of a backend that has gone, when the device says that it asks again', async () => {
    const fixture = await start();
    const response = await fetch(`${fixture.emulator?.url}/session-storage/v2/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ intent: 's2s', client_reference_id: 'museum/kiosk/main' }),
    });
    const lost = ((await response.json()) as { data: { id: string } }).data.id;
    await fixture.ask('kiosk', 'r9', { attempt: 2 });
    const check = await fetch(`${fixture.emulator?.url}/session-storage/v2/sessions/${lost}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    expect(await check.json()).toMatchObject({ data: { status: 'revoked' } });
  });

  it('makes sessions although the service does not know how to list them', async () => {
    const fixture = await start();
    fixture.emulator?.fault({ kind: 'http', route: 'sessions', status: 404 });
    sessionOf(await fixture.ask('kiosk', 'r1', { attempt: 2 }));
    fixture.emulator?.fault({ kind: 'http', route: 'sessions', status: 503 });
    expect(errorOf(await fixture.ask('other', 'r1', { attempt: 2 }))).toMatchObject({
      code: 'service_unavailable',
    });
    expect(sessionsAtService()).toHaveLength(1);
  });

  it('denies devices that the owner has not allowed, or has disabled', async () => {
    const fixture = await start({
      config: { allow: ['museum/kiosk'], devices: { 'museum/kiosk': { disabled: true } } },
    });
    expect(errorOf(await fixture.ask('kiosk', 'r1'))).toMatchObject({ code: 'device_disabled', final: true });
    expect(errorOf(await fixture.ask('stranger', 'r1'))).toMatchObject({
      code: 'device_not_allowed',
      final: true,
    });
    expect(sessionsAtService()).toHaveLength(0);
  });

  it('tells a device how long to wait when the service is limited, and asks it no sooner', async () => {
    const fixture = await start();
    fixture.emulator?.fault({ kind: 'http', status: 429, retry_after_s: 30 });
    const denied = errorOf(await fixture.ask('kiosk', 'r1'));
    expect(denied).toMatchObject({ code: 'service_rate_limited', final: false });
    expect(denied.retry_after_s).toBeGreaterThanOrEqual(30);
    expect(errorOf(await fixture.ask('other', 'r1'))).toMatchObject({ code: 'service_rate_limited' });
    expect(sessionsAtService()).toHaveLength(0);
  });

  it.each([
    ['insufficient_balance', true, { kind: 'balance_out' }],
    ['account_blocked', true, { kind: 'block_account' }],
    ['service_unavailable', false, { kind: 'http', status: 503 }],
    ['service_unreachable', false, { kind: 'http', answer: 'reset' }],
    ['service_malformed', false, { kind: 'http', answer: 'garbage' }],
  ])('says %s when that is the trouble', async (code, final, fault) => {
    const fixture = await start();
    fixture.emulator?.fault(fault);
    expect(errorOf(await fixture.ask('kiosk', 'r1'))).toMatchObject({ code, final });
  });

  it('says that it is misconfigured, without a word of the key, when the service rejects the key', async () => {
    const fixture = await start({ apiKey: 'some-old-key' });
    const answer = await fixture.ask('kiosk', 'r1');
    expect(errorOf(answer)).toMatchObject({ code: 'backend_unauthorized', final: true });
    expect(JSON.stringify(answer)).not.toContain('some-old-key');
  });

  it('is back after the broker was away', async () => {
    const fixture = await start();
    fixture.broker?.pause();
    await until(() => !fixture.backend.connected, 'the drop');
    fixture.broker?.resume();
    await until(() => fixture.backend.connected && fixture.bus.connected, 'the return');
    await until(() => fixture.witness.ups.length === 2, 'the witness');
    sessionOf(await fixture.ask('kiosk', 'r1'));
  });

  it('answers what is under way before it closes', async () => {
    fakeService = await startFakeService((_, response) => {
      setTimeout(() => answerJson(response, 201, { ok: true, data: fakeSession() }), 400);
    });
    const fixture = await start({ serviceUrl: fakeService.url });
    fixture.send('kiosk', fixture.request('r1'));
    await until(() => fakeService?.seen.length === 1, 'the creation');
    await fixture.backend.close();
    await until(() => fixture.answersTo('kiosk').length === 1, 'the answer');
    expect(fixture.answersTo('kiosk')[0]).toMatchObject({ id: 'r1', ok: true });
  });

  it('adds the limit that the service does not show, and passes on nothing but the fields of 2.1', async () => {
    fakeService = await startFakeService((_, response) =>
      answerJson(response, 201, { ok: true, data: fakeSession({ internal_note: 'not for devices' }) }),
    );
    const fixture = await start({
      serviceUrl: fakeService.url,
      config: { session: { maxSessionDurationSeconds: 900 } },
    });
    const session = sessionOf(await fixture.ask('kiosk', 'r1'));
    expect(session).toMatchObject({ max_session_duration_seconds: 900 });
    expect(session).not.toHaveProperty('internal_note');
  });
});
