import { describe, expect, it } from 'vitest';
import { accountOf, reportAccount } from '../../src/device/lane/runner/lane-account.ts';
import { stateSchema, statusSchema } from '../../src/protocol/mqtt/device.ts';
import { tokenRequestSchema } from '../../src/protocol/mqtt/token.ts';
import { closed, ready, refused, spoke, warned } from '../service-events.ts';
import { BASE, createFakeDeps, TOKEN, testConfig } from './fake-deps.ts';

const phaseOf = (deps: ReturnType<typeof createFakeDeps>): string | undefined => deps.agent.lanes[0]?.phase;

describe('from power to interpreting', () => {
  it('requests a token as in docs/mqtt.md once the broker is connected', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    expect(deps.sent('token/req')).toEqual([]);
    deps.brokerUp();
    const [request] = deps.sent('token/req');
    expect(tokenRequestSchema.parse(request?.body)).toMatchObject({
      lane: 'main',
      intent: 's2s',
      connection_type: 'ws',
      reason: 'start',
      attempt: 1,
      ts: '2026-01-15T09:00:00.000Z',
    });
    expect(request?.options).toMatchObject({ qos: 1, properties: { responseTopic: `${BASE}/token/res` } });
    expect(request?.options.retain ?? false).toBe(false);
  });

  it('opens the stream with the token and a new hash, sets the task, and streams once the task runs', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.grant();
    const stream = deps.lastStream();
    expect(stream.address).toMatch(/^wss:\/\/service\.example\/streaming-api\/hash\d+-abcdefgh\/v1$/);
    expect(stream.token).toBe(TOKEN);
    deps.speak();
    stream.listener.opened();
    expect(stream.calls[0]).toContain('"inputRateHz":16000');
    expect(stream.calls[0]).toContain('"targets":["es"]');
    deps.clock.advance(2800);
    expect(stream.calls.filter((call) => call === 'askForTask')).toHaveLength(2);
    expect(stream.audio).toEqual([]);
    deps.service(ready());
    expect(phaseOf(deps)).toBe('live');
    expect(stream.audio).toHaveLength(1);
    deps.speak();
    expect(stream.audio.map((pcm) => pcm.byteLength)).toEqual([10_240, 10_240]);
  });

  it('sends the captured sound unchanged, and counts it', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    for (let i = 0; i < 10; i++) deps.speak(1000 + i);
    const first = deps
      .lastStream()
      .audio.map((pcm) => new DataView(pcm.buffer, pcm.byteOffset).getInt16(0, true));
    expect(first).toEqual([1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009]);
    const lane = deps.agent.lanes[0];
    if (lane === undefined) throw new Error('no lane');
    expect(accountOf(lane, deps.clock.now())).toMatchObject({
      captured: 10,
      sent: 10,
      silenced: 0,
      held: 0,
      lost_ms: 0,
    });
    expect(lane.captureToWire.summary()).toEqual({ p50: 0, p99: 0, max: 0, count: 10 });
  });

  it('counts the running stream in stream_ms, and goes on after it has ended', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const [lane] = deps.agent.lanes;
    if (lane === undefined) throw new Error('no lane');
    const streamMs = (): number => reportAccount('main', accountOf(lane, deps.clock.now())).stream_ms;
    const before = streamMs();
    for (let i = 0; i < 10; i++) deps.speak();
    expect(streamMs() - before).toBe(3200);
    deps.lastStream().listener.said(closed('cut'));
    const ended = streamMs();
    deps.clock.advance(100);
    expect([ended - before, streamMs() - before]).toEqual([3200, 3200]);
  });

  it('plays translated audio and measures when it is heard', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const pcm = new Uint8Array(4800).fill(7);
    deps.service(spoke(pcm, { sentence: 'a', utterance: 'a', last: true }));
    expect(deps.played).toEqual([pcm]);
    expect(deps.agent.lanes[0]?.wireToSpeaker.summary()).toMatchObject({ p50: 20, count: 1 });
  });

  it('does not start a lane with `start: command` before the command `start`', async () => {
    const deps = createFakeDeps(testConfig({ start: 'command' }));
    await deps.agent.start();
    deps.brokerUp();
    expect(phaseOf(deps)).toBe('idle');
    expect(deps.openMicrophones).toBe(0);
    deps.command('start', { id: 'c1' });
    expect(phaseOf(deps)).toBe('acquiring');
  });

  it('reports a microphone that cannot be opened, and keeps running', async () => {
    const deps = createFakeDeps();
    deps.failCapture(new Error('the file in.wav does not exist'));
    await deps.goLive();
    expect(phaseOf(deps)).toBe('live');
    expect(deps.sent('event/audio_lost')[0]?.body).toMatchObject({ lane: 'main', device: 'capture' });
    expect(deps.sent('status').at(-1)?.body).toMatchObject({
      status: 'degraded',
      reasons: ['capture:lost'],
    });
  });
});

describe('presence', () => {
  it('publishes ready and a numbered will on each connection', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    const will = deps.bus.options.will?.(1);
    expect(will?.topic).toBe(`${BASE}/status`);
    expect(statusSchema.parse(JSON.parse(will?.payload ?? ''))).toMatchObject({
      status: 'lost',
      conn_seq: 1,
    });
    deps.brokerUp(1);
    deps.brokerUp(2);
    const statuses = deps.sent('status');
    expect(statuses.map(({ body }) => [body['status'], body['conn_seq']])).toEqual([
      ['ready', 1],
      ['ready', 2],
    ]);
    expect(statuses.every(({ options }) => options.retain === true)).toBe(true);
    for (const { body } of statuses) statusSchema.parse(body);
  });

  it('publishes its retained state at most once a second, and always publishes the last change', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const before = deps.sent('state').length;
    for (let i = 0; i < 20; i++) {
      deps.command(i % 2 === 0 ? 'mute' : 'unmute', { id: `m${i}` });
      deps.clock.advance(100);
    }
    deps.clock.advance(2000);
    const states = deps.sent('state').slice(before);
    expect(states.length).toBeGreaterThan(0);
    expect(states.length).toBeLessThanOrEqual(4);
    const last = stateSchema.parse(states.at(-1)?.body);
    expect(last.lanes[0]).toMatchObject({ id: 'main', phase: 'live', muted: false, capture: 'file:in.wav' });
    expect(states.at(-1)?.options.retain).toBe(true);
  });

  it('is degraded, with the reason, while a lane is parked, and ready again after', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.deliver(`${BASE}/token/res`, {
      id: deps.lastRequest().id,
      ok: false,
      error: { code: 'disabled', title: 'Disabled', detail: 'this device is disabled', final: true },
    });
    expect(deps.sent('status').at(-1)?.body).toMatchObject({
      status: 'degraded',
      reasons: ['parked:token_denied_final'],
    });
    expect(deps.sent('event/parked')).toHaveLength(1);
    const asked = deps.sent('token/req').length;
    for (let s = 0; s < 600 && deps.sent('token/req').length === asked; s++) await deps.clock.elapse(1000);
    deps.grant();
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ status: 'ready', reasons: [] });
  });
});

describe('tokens', () => {
  it.each([
    ['retained', (deps: ReturnType<typeof createFakeDeps>) => ({ id: deps.lastRequest().id }), true],
    ['for another request', () => ({ id: 'somebody-elses' }), false],
  ])('ignores an answer that is %s', async (_, body, retain) => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    const answer = {
      ...body(deps),
      ok: true,
      session: deps.session(),
      stream_url: 'wss://service.example/',
    };
    deps.deliver(`${BASE}/token/res`, answer, { retain });
    expect(phaseOf(deps)).toBe('acquiring');
    expect(deps.streams).toEqual([]);
  });

  it.each([
    '',
    'no json',
    '{}',
    '{"id":"x","ok":true}',
    '[]',
    '{"id":"x","ok":true,"session":{},"stream_url":""}',
  ])('survives the malformed answer %j', async (payload) => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.deliver(`${BASE}/token/res`, payload);
    expect(phaseOf(deps)).toBe('acquiring');
    deps.grant();
    expect(deps.streams).toHaveLength(1);
  });

  it('keeps the first of two answers to one request, whatever the second one contains', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.grant();
    deps.grant({ token: 'another-token' });
    expect(deps.streams).toHaveLength(1);
    // The connection did not reach the service: the same token is used again.
    deps.lastStream().listener.unreached(false, 'connection refused');
    deps.clock.advance(2000);
    expect(deps.streams).toHaveLength(2);
    expect(deps.lastStream().token).toBe(TOKEN);
  });

  it('never sends a token over an open network', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.grant({}, 'ws://service.example/streaming-api/{random_hash}/v1');
    expect(deps.streams).toEqual([]);
    expect(phaseOf(deps)).toBe('waiting');
    expect(deps.sent('event/refused').at(-1)?.body).toMatchObject({
      cause: 'grant_unusable',
      message: expect.stringMatching(/stream_url.*neither wss/),
    });
  });

  it.each([
    ['stream_url', { stream_url: 'wss://service.example/{random_hash}/v1#main' }],
    ['ws_url', { session: { id: 'legacy', publisher: TOKEN, ws_url: 'wss://old.example/s#' } }],
  ])('refuses a %s with "#", reports it, and requests again', async (field, answer) => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    const { id } = deps.lastRequest();
    deps.deliver(`${BASE}/token/res`, { id, ok: true, session: deps.session(), ...answer });
    expect(deps.streams).toEqual([]);
    const refused = deps.sent('event/refused').at(-1)?.body;
    expect(refused).toMatchObject({ lane: 'main', cause: 'grant_unusable' });
    expect(refused?.['message']).toBe(
      `the ${field} in the backend's answer holds a "#", which no WebSocket address may: remove it`,
    );
    deps.clock.advance(1000);
    expect(deps.sent('state').at(-1)?.body).toMatchObject({
      lanes: [{ last_error: { code: 'grant_unusable' } }],
    });
    expect(JSON.stringify([deps.published, deps.logged])).not.toMatch(/service\.example|old\.example|SECRET/);
    deps.clock.advance(10_000);
    expect(deps.lastRequest().id).not.toBe(id);
    deps.grant();
    expect(deps.streams).toHaveLength(1);
  });

  it('accepts a legacy session: its own address, and the publisher as the token', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.deliver(`${BASE}/token/res`, {
      id: deps.lastRequest().id,
      ok: true,
      session: { id: 'legacy-session', publisher: TOKEN, ws_url: 'wss://old.example/stream?x=1' },
    });
    expect(deps.lastStream()).toMatchObject({ address: 'wss://old.example/stream?x=1', token: TOKEN });
  });

  it('publishes, logs and keeps no token and no whole session id', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    deps.speak();
    const quoted = `no ${TOKEN} of session-id-that-is-long`;
    deps.service(warned('warning', { code: 'W', text: quoted }));
    deps.lastStream().listener.said(closed('cut', { detail: quoted }));
    deps.clock.advance(5000);
    deps.grant();
    deps.lastStream().listener.said(refused('forbidden', { status: 403, detail: quoted }));
    deps.clock.advance(5000);
    const error = { code: 'busy', title: quoted, detail: quoted, final: false };
    deps.deliver(`${BASE}/token/res`, { id: deps.lastRequest().id, ok: false, error });
    deps.command('status', { id: 's1' });
    deps.clock.advance(5000);
    await endOf(deps);
    const everything = JSON.stringify([
      deps.published,
      deps.logged,
      deps.finale,
      deps.agent.lanes.map((lane) => lane.state),
    ]);
    expect(everything.split('no [redacted] of session-...').length).toBeGreaterThan(4);
    expect(everything).not.toContain(TOKEN);
    expect(everything).not.toContain('session-id-that-is-long');
  });
});

/** Stops the agent while time passes. */
async function endOf(deps: ReturnType<typeof createFakeDeps>): Promise<void> {
  const stopped = deps.agent.stop();
  await deps.clock.elapse(10_000);
  await stopped;
}

describe('stopping', () => {
  it('ends the session, publishes stopping and offline, and leaves nothing running', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const stopped = deps.agent.stop();
    expect(deps.lastStream().calls).toContain('end');
    deps.lastStream().listener.said(closed('closed'));
    await stopped;
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ status: 'stopping' });
    expect(deps.finale).toMatchObject({ topic: `${BASE}/status`, retain: true });
    expect(JSON.stringify(deps.finale)).toContain('offline');
    expect(deps.openMicrophones).toBe(0);
    expect(deps.clock.armed).toBe(0);
    expect(phaseOf(deps)).toBe('closed');
  });

  it('does not wait for a service that does not answer', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    await endOf(deps);
    expect(phaseOf(deps)).toBe('closed');
    expect(deps.clock.armed).toBe(0);
  });

  it('ends at once when it has no session, and stays stopped after a second stop', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    const first = deps.agent.stop();
    expect(deps.agent.stop()).toBe(first);
    await first;
    expect(phaseOf(deps)).toBe('closed');
  });
});
