import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { until } from '../../until.ts';
import { API_KEY, errorOf, fixtureOfEachTest, STREAM_URL, sessionOf } from '../backend-on-loopback.ts';
import { answerJson, type FakeService, sessionOf as fakeSession, startFakeService } from '../fake-service.ts';

let fakeService: FakeService | null = null;
afterEach(async () => {
  await fakeService?.close();
  fakeService = null;
});
// Hooks run in reverse order: later registrations close first.
const { start, sessionsAtService } = fixtureOfEachTest();

describe('backend', () => {
  it('creates a labelled session at the service and answers with its address', async () => {
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
    // The lane asks for its next session while it uses the first one; the first one stays.
    await fixture.ask('kiosk', 'r2', { reason: 'rollover' });
    expect(running()).toEqual([1, 0]);
    socket.close();
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('answers a repeated request with the same session', async () => {
    const fixture = await start();
    const first = sessionOf(await fixture.ask('kiosk', 'r1'));
    const second = sessionOf(await fixture.ask('kiosk', 'r1', { attempt: 2 }));
    expect(second.token).toBe(first.token);
    expect(sessionsAtService()).toHaveLength(1);
  });

  it('revokes the older unused session when a lane gets another', async () => {
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

  it('revokes the unused session of a stopped backend when the device repeats its request', async () => {
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

  it('makes sessions when the service cannot list them', async () => {
    const fixture = await start();
    fixture.emulator?.fault({ kind: 'http', route: 'sessions', status: 404 });
    sessionOf(await fixture.ask('kiosk', 'r1', { attempt: 2 }));
    fixture.emulator?.fault({ kind: 'http', route: 'sessions', status: 503 });
    expect(errorOf(await fixture.ask('other', 'r1', { attempt: 2 }))).toMatchObject({
      code: 'service_unavailable',
    });
    expect(sessionsAtService()).toHaveLength(1);
  });

  it('denies devices that are not allowed or are disabled', async () => {
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

  it('passes on the wait of a rate-limited service, and sends it no earlier request', async () => {
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
  ])('denies with %s when the service has this trouble', async (code, final, fault) => {
    const fixture = await start();
    fixture.emulator?.fault(fault);
    expect(errorOf(await fixture.ask('kiosk', 'r1'))).toMatchObject({ code, final });
  });

  it('reports a misconfigured backend, without the key, when the service rejects the key', async () => {
    const fixture = await start({ apiKey: 'some-old-key' });
    const answer = await fixture.ask('kiosk', 'r1');
    expect(errorOf(answer)).toMatchObject({ code: 'backend_unauthorized', final: true });
    expect(JSON.stringify(answer)).not.toContain('some-old-key');
  });

  it('serves again after the broker returns', async () => {
    const fixture = await start();
    fixture.broker?.pause();
    await until(() => !fixture.backend.connected, 'the drop');
    fixture.broker?.resume();
    await until(() => fixture.backend.connected && fixture.bus.connected, 'the return');
    await until(() => fixture.witness.ups.length === 2, 'the witness');
    sessionOf(await fixture.ask('kiosk', 'r1'));
  });

  it('answers pending requests before it closes', async () => {
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

  it('adds the duration limit when the service leaves it out, and passes on only the fields of 2.1', async () => {
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
