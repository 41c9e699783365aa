import { describe, expect, test } from 'vitest';
import { concat, noise, speech } from './voice.ts';
import { createWorld, sentence, soundOf } from './world.ts';

const HZ = 24_000;

describe('faults', () => {
  const talk = concat(noise(0.6, HZ, 60), speech(2, HZ), noise(1.2, HZ, 60));

  test('revoke in the middle of a sentence', () => {
    const world = createWorld();
    const stream = world.open();
    world.run(stream);
    world.fault({ kind: 'revoke', when: 'mid_speech' });
    world.pass(5000);
    expect(world.messages(stream, 'session_revoked')).toEqual([]);
    world.speak(stream, talk);
    expect(world.messages(stream, 'session_revoked')).toHaveLength(1);
    expect(world.messages(stream, 'validated_transcription')).toEqual([]);
  });

  test('revoke that lingers leaves the socket open', () => {
    const world = createWorld();
    const stream = world.open();
    world.fault({ kind: 'revoke', linger: true });
    world.pass(3_600_000);
    expect(world.messages(stream, 'session_revoked')).toHaveLength(1);
    expect(world.close(stream)).toBeNull();
    world.disconnect(stream);
    expect(world.service.streams()).toEqual([]);
  });

  test('revoke that lingers beyond the limit of its session keeps nobody busy', () => {
    const world = createWorld();
    const stream = world.open(world.session({ max_session_duration_seconds: 60 }).token);
    world.fault({ kind: 'revoke', linger: true });
    world.pass(59_000);
    const limit = world.now() + 1000;
    world.service.tick(limit);
    expect(world.service.nextAt(limit)).toBe(Number.POSITIVE_INFINITY);
    expect(world.close(stream)).toBeNull();
  });

  test('max_duration after a while', () => {
    const world = createWorld();
    const stream = world.open();
    world.fault({ kind: 'max_duration', after_ms: 700 });
    world.pass(699);
    expect(world.close(stream)).toBeNull();
    world.pass(1);
    expect(world.close(stream)?.reason).toBe('max_duration_reached');
  });

  test('drop resets, close closes with what was ordered', () => {
    const world = createWorld();
    const dropped = world.open();
    world.fault({ kind: 'drop' });
    expect(world.seen.some(({ effect }) => effect.kind === 'reset' && effect.stream === dropped)).toBe(true);
    const closed = world.open();
    world.fault({ kind: 'close', code: 1011, reason: 'oops' });
    expect(world.close(closed)).toMatchObject({ code: 1011, reason: 'oops' });
    expect(world.service.streams()).toEqual([]);
  });

  test('a black hole opens and heals', () => {
    const world = createWorld();
    const stream = world.open();
    world.fault({ kind: 'black_hole', for_ms: 4000 });
    world.pass(5000);
    const links = world.seen.flatMap(({ at, effect }) => (effect.kind === 'link' ? [[at, effect.link]] : []));
    expect(links).toEqual([
      [1000, { deaf: true, mute: true, readBytesPerS: 0 }],
      [5000, { deaf: false, mute: false, readBytesPerS: 0 }],
    ]);
    expect(world.close(stream)).toBeNull();
  });

  test('a delay puts messages off and keeps their order; it ends', () => {
    const world = createWorld({ setupMs: 0 });
    const stream = world.open();
    world.run(stream);
    world.fault({ kind: 'delay', ms: 1000, jitter_ms: 500, for_ms: 3000 });
    for (let count = 0; count < 5; count++) {
      world.send(stream, 'get_task', {});
      world.send(stream, 'nonsense', {});
    }
    expect(world.messages(stream)).toEqual([]);
    world.pass(999);
    expect(world.messages(stream)).toEqual([]);
    world.pass(501);
    const order = world.messages(stream).map(({ type }) => type);
    expect(order).toEqual(Array(5).fill(['current_task', 'error']).flat());
    world.pass(1500);
    world.send(stream, 'get_task', {});
    expect(world.messages(stream)).toHaveLength(11);
  });

  test('a delay does not hold up the last word', () => {
    const world = createWorld();
    const stream = world.open();
    world.fault({ kind: 'delay', ms: 60_000 });
    world.fault({ kind: 'max_duration' });
    expect(world.messages(stream).map(({ type }) => type)).toEqual(['max_duration_reached']);
  });

  function spoken(fault: object | null) {
    const world = createWorld({}, 'live');
    const stream = world.open();
    world.run(stream);
    if (fault !== null) world.fault(fault);
    world.speak(stream, sentence());
    world.pass(4000);
    return world.messages(stream, 'output_audio_data');
  }
  const parts = (messages: ReturnType<typeof spoken>) =>
    messages.map(({ pcm }) => Buffer.from(pcm ?? []).toString('hex'));
  const good = spoken(null);

  test('duplicate audio', () => {
    const out = parts(spoken({ kind: 'duplicate_audio', times: 2 }));
    expect(out).toHaveLength(good.length + 2);
    expect([out[1], out[3]]).toEqual([out[0], out[2]]);
    expect([...new Set(out)]).toEqual(parts(good));
  });

  test('lost audio', () => {
    expect(parts(spoken({ kind: 'lose_audio', times: 3 }))).toEqual(parts(good).slice(3));
  });

  test('wrong order: the same chunks, neighbours exchanged', () => {
    const out = parts(spoken({ kind: 'reorder', times: 2 }));
    const [a, b, c, d, ...rest] = parts(good);
    expect(out).toEqual([b, a, d, c, ...rest]);
  });

  test('a sentence without last_chunk', () => {
    const out = spoken({ kind: 'omit_last_chunk' });
    expect(out.some(({ data }) => data['last_chunk'] === true)).toBe(false);
    expect(soundOf(out).equals(soundOf(good))).toBe(true);
  });

  test.each(['not_json', 'empty', 'no_type', 'unknown_type', 'binary', 'wrong_data', 'bad_base64', 'deep'])(
    'a malformed frame: %s',
    (form) => {
      const world = createWorld();
      world.open();
      world.fault({ kind: 'malformed', form, times: 3 });
      expect(world.seen.filter(({ effect }) => effect.kind === 'sendRaw')).toHaveLength(3);
    },
  );

  test('an oversized frame is as large as ordered', () => {
    const world = createWorld();
    world.open();
    world.fault({ kind: 'oversized', bytes: 3_000_000 });
    const [raw] = world.seen.flatMap(({ effect }) => (effect.kind === 'sendRaw' ? [effect.payload] : []));
    expect(raw).toHaveLength(3_000_000);
    expect(() => JSON.parse(String(raw))).not.toThrow();
  });

  test('balance out and blocked: streams end, new ones are refused, until it is over', () => {
    const world = createWorld();
    const stream = world.open();
    world.fault({ kind: 'balance_out', for_ms: 5000 });
    world.pass(0);
    expect(world.close(stream)).not.toBeNull();
    expect(() => world.open()).toThrow('insufficient_balance');
    world.pass(5000);
    const again = world.open();
    world.fault({ kind: 'block_account' });
    expect(world.messages(again, 'error')[0]?.data['reason']).toBe('account_blocked');
    expect(() => world.open()).toThrow('account_blocked');
    world.fault({ kind: 'clear' });
    expect(() => world.open()).not.toThrow();
  });

  test('a refusal on demand, in every way of delivery', () => {
    const world = createWorld();
    for (const delivery of ['http', 'message', 'close'] as const) {
      world.fault({ kind: 'refuse', reason: 'connect_window_expired', delivery });
      expect(world.service.open({ secret: 'key', intent: 's2s' }, world.now())).toMatchObject({
        kind: 'refused',
        reason: 'connect_window_expired',
        delivery,
      });
    }
    expect(() => world.open()).not.toThrow();
  });

  test('service_timeout, warning and error on demand', () => {
    const world = createWorld();
    const stream = world.open();
    world.fault({ kind: 'warning', code: 'VOICE_NOT_FOUND' });
    world.fault({ kind: 'error', code: 'SOMETHING' });
    world.fault({ kind: 'service_timeout' });
    world.pass(400);
    expect(world.messages(stream).map(({ data }) => data['code'])).toEqual([
      'VOICE_NOT_FOUND',
      'SOMETHING',
      'SERVICE_TIMEOUT',
    ]);
    expect(world.close(stream)?.code).toBe(1008);
  });

  test('a schedule with a seed hits the same streams at the same times', () => {
    const story = () => {
      const world = createWorld({ setupMs: 0, concurrent: 50 });
      world.fault({
        kind: 'schedule',
        seed: 3,
        for_ms: 120_000,
        every_ms: { min: 2000, max: 9000 },
        faults: [{ kind: 'drop' }, { kind: 'max_duration' }, { kind: 'warning', code: 'X' }],
      });
      for (let second = 0; second < 120; second++) {
        if (world.service.streams().length === 0) world.open();
        world.pass(1000);
      }
      return world.seen.map(({ at, effect }) => `${at} ${effect.kind}`);
    };
    expect(story()).toEqual(story());
    expect(story().length).toBeGreaterThan(15);
  });
});
