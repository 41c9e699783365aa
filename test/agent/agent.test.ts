import { describe, expect, it } from 'vitest';
import { accountOf } from '../../src/agent/account.ts';
import { stateSchema, statusSchema } from '../../src/protocol/mqtt/device.ts';
import { tokenRequestSchema } from '../../src/protocol/mqtt/token.ts';
import { BASE, createFakeWorld, TOKEN, testConfig } from './fake-world.ts';

const phaseOf = (world: ReturnType<typeof createFakeWorld>): string | undefined =>
  world.agent.lanes[0]?.state.phase;

describe('from power to interpreting', () => {
  it('asks for a token once the broker is there, as docs/mqtt.md has it', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    expect(world.sent('token/req')).toEqual([]);
    world.brokerUp();
    const [request] = world.sent('token/req');
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

  it('opens the stream with the token and a fresh hash, sets the task, and streams once it runs', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.grant();
    const stream = world.lastStream();
    expect(stream.url).toMatch(/^wss:\/\/service\.example\/streaming-api\/hash\d+-abcdefgh\/v1\?token=/);
    expect(new URL(stream.url).searchParams.get('token')).toBe(TOKEN);
    world.speak();
    stream.listener.opened();
    expect(stream.calls[0]).toContain('"sample_rate":16000');
    expect(stream.calls[0]).toContain('"target_language":"es"');
    world.clock.advance(2800);
    expect(stream.calls.filter((call) => call === 'getTask')).toHaveLength(2);
    expect(stream.audio).toEqual([]);
    world.service({ message_type: 'current_task', data: {} });
    expect(phaseOf(world)).toBe('live');
    expect(stream.audio).toHaveLength(1);
    world.speak();
    expect(stream.audio.map((pcm) => pcm.byteLength)).toEqual([10_240, 10_240]);
  });

  it('sends what was captured, byte for byte, and accounts for it', async () => {
    const world = createFakeWorld();
    await world.goLive();
    for (let i = 0; i < 10; i++) world.speak(1000 + i);
    const first = world
      .lastStream()
      .audio.map((pcm) => new DataView(pcm.buffer, pcm.byteOffset).getInt16(0, true));
    expect(first).toEqual([1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009]);
    const lane = world.agent.lanes[0];
    if (lane === undefined) throw new Error('no lane');
    expect(accountOf(lane)).toMatchObject({ captured: 10, sent: 10, silenced: 0, held: 0, lost_ms: 0 });
    expect(lane.captureToWire.summary()).toEqual({ p50: 0, p99: 0, max: 0, count: 10 });
  });

  it('plays translated audio and measures when it is heard', async () => {
    const world = createFakeWorld();
    await world.goLive();
    const pcm = new Uint8Array(4800).fill(7);
    world.service({
      message_type: 'output_audio',
      pcm,
      sentence: 'a',
      language: null,
      utterance: 'a',
      last: true,
    });
    expect(world.played).toEqual([pcm]);
    expect(world.agent.lanes[0]?.wireToSpeaker.summary()).toMatchObject({ p50: 20, count: 1 });
  });

  it('does not start a lane that starts by command until it is told to', async () => {
    const world = createFakeWorld(testConfig({ start: 'command' }));
    await world.agent.start();
    world.brokerUp();
    expect(phaseOf(world)).toBe('idle');
    expect(world.openMicrophones).toBe(0);
    world.command('start', { id: 'c1' });
    expect(phaseOf(world)).toBe('acquiring');
  });

  it('reports a microphone that cannot be opened, and goes on', async () => {
    const world = createFakeWorld();
    world.failCapture(new Error('the file in.wav does not exist'));
    await world.goLive();
    expect(phaseOf(world)).toBe('live');
    expect(world.sent('event/audio_lost')[0]?.body).toMatchObject({ lane: 'main', device: 'capture' });
    expect(world.sent('status').at(-1)?.body).toMatchObject({
      status: 'degraded',
      reasons: ['capture:lost'],
    });
  });
});

describe('presence', () => {
  it('says ready on each connection and leaves a will that names it', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    const will = world.bus.options.will?.(1);
    expect(will?.topic).toBe(`${BASE}/status`);
    expect(statusSchema.parse(JSON.parse(will?.payload ?? ''))).toMatchObject({
      status: 'lost',
      conn_seq: 1,
    });
    world.brokerUp(1);
    world.brokerUp(2);
    const statuses = world.sent('status');
    expect(statuses.map(({ body }) => [body['status'], body['conn_seq']])).toEqual([
      ['ready', 1],
      ['ready', 2],
    ]);
    expect(statuses.every(({ options }) => options.retain === true)).toBe(true);
    for (const { body } of statuses) statusSchema.parse(body);
  });

  it('publishes its state retained, never more often than once a second, and never misses the last change', async () => {
    const world = createFakeWorld();
    await world.goLive();
    const before = world.sent('state').length;
    for (let i = 0; i < 20; i++) {
      world.command(i % 2 === 0 ? 'mute' : 'unmute', { id: `m${i}` });
      world.clock.advance(100);
    }
    world.clock.advance(2000);
    const states = world.sent('state').slice(before);
    expect(states.length).toBeGreaterThan(0);
    expect(states.length).toBeLessThanOrEqual(4);
    const last = stateSchema.parse(states.at(-1)?.body);
    expect(last.lanes[0]).toMatchObject({ id: 'main', phase: 'live', muted: false, capture: 'file:in.wav' });
    expect(states.at(-1)?.options.retain).toBe(true);
  });

  it('is degraded, with the reason, while a lane is parked, and ready again after', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.deliver(`${BASE}/token/res`, {
      id: world.lastRequest().id,
      ok: false,
      error: { code: 'disabled', title: 'Disabled', detail: 'this device is disabled', final: true },
    });
    expect(world.sent('status').at(-1)?.body).toMatchObject({
      status: 'degraded',
      reasons: ['parked:token_denied_final'],
    });
    expect(world.sent('event/parked')).toHaveLength(1);
    const asked = world.sent('token/req').length;
    for (let s = 0; s < 600 && world.sent('token/req').length === asked; s++) world.clock.advance(1000);
    world.grant();
    world.lastStream().listener.opened();
    world.clock.advance(2800);
    world.service({ message_type: 'current_task', data: {} });
    expect(world.sent('status').at(-1)?.body).toMatchObject({ status: 'ready', reasons: [] });
  });
});

describe('tokens', () => {
  it.each([
    ['retained', (world: ReturnType<typeof createFakeWorld>) => ({ id: world.lastRequest().id }), true],
    ['for another request', () => ({ id: 'somebody-elses' }), false],
  ])('ignores an answer that is %s', async (_, body, retain) => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    const answer = {
      ...body(world),
      ok: true,
      session: world.session(),
      stream_url: 'wss://service.example/',
    };
    world.deliver(`${BASE}/token/res`, answer, { retain });
    expect(phaseOf(world)).toBe('acquiring');
    expect(world.streams).toEqual([]);
  });

  it.each([
    '',
    'no json',
    '{}',
    '{"id":"x","ok":true}',
    '[]',
    '{"id":"x","ok":true,"session":{},"stream_url":""}',
  ])('survives the malformed answer %j', async (payload) => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.deliver(`${BASE}/token/res`, payload);
    expect(phaseOf(world)).toBe('acquiring');
    world.grant();
    expect(world.streams).toHaveLength(1);
  });

  it('keeps the first of two answers to one request, whatever the second one holds', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.grant();
    world.grant({ token: 'another-token' });
    expect(world.streams).toHaveLength(1);
    // The connection never reached the service: the same token is used again.
    world.lastStream().listener.unreached(false, 'nobody listens');
    world.clock.advance(2000);
    expect(world.streams).toHaveLength(2);
    expect(new URL(world.lastStream().url).searchParams.get('token')).toBe(TOKEN);
  });

  it('never sends a token over an open network', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.grant({}, 'ws://service.example/streaming-api/{random_hash}/v1');
    expect(world.streams).toEqual([]);
    expect(phaseOf(world)).toBe('waiting');
    expect(world.sent('event/refused').at(-1)?.body).toMatchObject({
      cause: 'grant_unusable',
      message: expect.stringMatching(/stream_url.*neither wss/),
    });
  });

  it.each([
    ['stream_url', { stream_url: 'wss://service.example/{random_hash}/v1#main' }],
    ['ws_url', { session: { id: 'legacy', publisher: TOKEN, ws_url: 'wss://old.example/s#' } }],
  ])('refuses a %s with "#", says so, and asks again', async (field, answer) => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    const { id } = world.lastRequest();
    world.deliver(`${BASE}/token/res`, { id, ok: true, session: world.session(), ...answer });
    expect(world.streams).toEqual([]);
    const refused = world.sent('event/refused').at(-1)?.body;
    expect(refused).toMatchObject({ lane: 'main', cause: 'grant_unusable' });
    expect(refused?.['message']).toBe(
      `the ${field} in the backend's answer holds a "#", which no WebSocket address may: remove it`,
    );
    world.clock.advance(1000);
    expect(world.sent('state').at(-1)?.body).toMatchObject({
      lanes: [{ last_error: { code: 'grant_unusable' } }],
    });
    expect(JSON.stringify([world.published, world.logged])).not.toMatch(
      /service\.example|old\.example|SECRET/,
    );
    world.clock.advance(10_000);
    expect(world.lastRequest().id).not.toBe(id);
    world.grant();
    expect(world.streams).toHaveLength(1);
  });

  it('takes a legacy session: its own address, the publisher as the token', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    world.brokerUp();
    world.deliver(`${BASE}/token/res`, {
      id: world.lastRequest().id,
      ok: true,
      session: { id: 'legacy-session', publisher: TOKEN, ws_url: 'wss://old.example/stream?x=1' },
    });
    const url = new URL(world.lastStream().url);
    expect([url.host, url.searchParams.get('x'), url.searchParams.get('token')]).toEqual([
      'old.example',
      '1',
      TOKEN,
    ]);
  });

  it('never shows a token in anything that it publishes, logs or keeps in a lane', async () => {
    const world = createFakeWorld();
    await world.goLive();
    world.speak();
    world.lastStream().listener.ended(1006, '');
    world.clock.advance(5000);
    world.grant();
    world
      .lastStream()
      .listener.refused({ status: 403, errorCode: null, texts: [], detail: null, retryAfterMs: null });
    world.command('status', { id: 's1' });
    world.clock.advance(5000);
    await endOf(world);
    const everything = JSON.stringify([
      world.published,
      world.logged,
      world.finale,
      world.agent.lanes.map((lane) => lane.state),
    ]);
    expect(everything).not.toContain(TOKEN);
    expect(everything).not.toContain('session-id-that-is-long');
  });
});

/** Stops the agent, with time passing. */
async function endOf(world: ReturnType<typeof createFakeWorld>): Promise<void> {
  const stopped = world.agent.stop();
  await world.clock.elapse(10_000);
  await stopped;
}

describe('stopping', () => {
  it('ends the session, says stopping and then offline, and leaves nothing running', async () => {
    const world = createFakeWorld();
    await world.goLive();
    const stopped = world.agent.stop();
    expect(world.lastStream().calls).toContain('endTask');
    world.lastStream().listener.ended(1000, '');
    await stopped;
    expect(world.sent('status').at(-1)?.body).toMatchObject({ status: 'stopping' });
    expect(world.finale).toMatchObject({ topic: `${BASE}/status`, retain: true });
    expect(JSON.stringify(world.finale)).toContain('offline');
    expect(world.openMicrophones).toBe(0);
    expect(world.clock.armed).toBe(0);
    expect(phaseOf(world)).toBe('closed');
  });

  it('does not wait for a service that never answers', async () => {
    const world = createFakeWorld();
    await world.goLive();
    await endOf(world);
    expect(phaseOf(world)).toBe('closed');
    expect(world.clock.armed).toBe(0);
  });

  it('ends at once when it has no session, and stays ended when it is told twice', async () => {
    const world = createFakeWorld();
    await world.agent.start();
    const first = world.agent.stop();
    expect(world.agent.stop()).toBe(first);
    await first;
    expect(phaseOf(world)).toBe('closed');
  });
});
