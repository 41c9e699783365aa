import { describe, expect, test } from 'vitest';
import { createHarness, sentence, soundOf } from './harness.ts';
import { concat, noise, speech } from './voice.ts';

const HZ = 24_000;

describe('faults', () => {
  const talk = concat(noise(0.6, HZ, 60), speech(2, HZ), noise(1.2, HZ, 60));

  test('revoke a session in the middle of a sentence', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.run(stream);
    harness.fault({ kind: 'revoke', when: 'mid_speech' });
    harness.pass(5000);
    expect(harness.messages(stream, 'session_revoked')).toEqual([]);
    harness.speak(stream, talk);
    expect(harness.messages(stream, 'session_revoked')).toHaveLength(1);
    expect(harness.messages(stream, 'validated_transcription')).toEqual([]);
  });

  test('leave the socket open after revoke with linger', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.fault({ kind: 'revoke', linger: true });
    harness.pass(3_600_000);
    expect(harness.messages(stream, 'session_revoked')).toHaveLength(1);
    expect(harness.close(stream)).toBeNull();
    harness.disconnect(stream);
    expect(harness.service.streams()).toEqual([]);
  });

  test('cost no work when revoke lingers beyond the limit of the session', () => {
    const harness = createHarness();
    const stream = harness.open(harness.session({ max_session_duration_seconds: 60 }).token);
    harness.fault({ kind: 'revoke', linger: true });
    harness.pass(59_000);
    const limit = harness.now() + 1000;
    harness.service.tick(limit);
    expect(harness.service.nextAt(limit)).toBe(Number.POSITIVE_INFINITY);
    expect(harness.close(stream)).toBeNull();
  });

  test('reach max_duration after after_ms', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.fault({ kind: 'max_duration', after_ms: 700 });
    harness.pass(699);
    expect(harness.close(stream)).toBeNull();
    harness.pass(1);
    expect(harness.close(stream)?.reason).toBe('max_duration_reached');
  });

  test('reset with drop, and close with the ordered code and reason', () => {
    const harness = createHarness();
    const dropped = harness.open();
    harness.fault({ kind: 'drop' });
    expect(harness.seen.some(({ effect }) => effect.type === 'reset' && effect.stream === dropped)).toBe(
      true,
    );
    const closed = harness.open();
    harness.fault({ kind: 'close', code: 1011, reason: 'oops' });
    expect(harness.close(closed)).toMatchObject({ code: 1011, reason: 'oops' });
    expect(harness.service.streams()).toEqual([]);
  });

  test.each([{ heals: 'by itself', for_ms: 4000 }, { heals: 'by clear' }])(
    'list a connection as impaired only until a black hole heals $heals',
    ({ for_ms }) => {
      const harness = createHarness();
      const stream = harness.open();
      harness.fault({ kind: 'black_hole', for_ms });
      expect(harness.service.strained(harness.now()).map((one) => one.stream)).toEqual([stream]);
      harness.pass(4000);
      if (for_ms === undefined) harness.fault({ kind: 'clear' });
      expect(harness.service.strained(harness.now())).toEqual([]);
    },
  );

  test('end a black hole after its time', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.fault({ kind: 'black_hole', for_ms: 4000 });
    harness.pass(5000);
    const links = harness.seen.flatMap(({ at, effect }) =>
      effect.type === 'link' ? [[at, effect.link]] : [],
    );
    expect(links).toEqual([
      [1000, { deaf: true, mute: true, readBytesPerS: 0 }],
      [5000, { deaf: false, mute: false, readBytesPerS: 0 }],
    ]);
    expect(harness.close(stream)).toBeNull();
  });

  test('delay messages for a time and keep their order', () => {
    const harness = createHarness({ setupMs: 0 });
    const stream = harness.open();
    harness.run(stream);
    harness.fault({ kind: 'delay', ms: 1000, jitter_ms: 500, for_ms: 3000 });
    for (let count = 0; count < 5; count++) {
      harness.send(stream, 'get_task', {});
      harness.send(stream, 'nonsense', {});
    }
    expect(harness.messages(stream)).toEqual([]);
    harness.pass(999);
    expect(harness.messages(stream)).toEqual([]);
    harness.pass(501);
    const order = harness.messages(stream).map(({ type }) => type);
    expect(order).toEqual(Array(5).fill(['current_task', 'error']).flat());
    harness.pass(1500);
    harness.send(stream, 'get_task', {});
    expect(harness.messages(stream)).toHaveLength(11);
  });

  test('keep messages after a delay from overtaking the delayed ones', () => {
    const harness = createHarness({ setupMs: 0 });
    const stream = harness.open();
    harness.run(stream);
    harness.fault({ kind: 'delay', ms: 1000, for_ms: 500 });
    harness.send(stream, 'nonsense', {});
    harness.pass(600);
    harness.send(stream, 'get_task', {});
    expect(harness.messages(stream)).toEqual([]);
    harness.pass(400);
    expect(harness.messages(stream).map(({ type }) => type)).toEqual(['error', 'current_task']);
  });

  test('do not delay the last message of a stream', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.fault({ kind: 'delay', ms: 60_000 });
    harness.fault({ kind: 'max_duration' });
    expect(harness.messages(stream).map(({ type }) => type)).toEqual(['max_duration_reached']);
  });

  function spoken(fault: object | null) {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    if (fault !== null) harness.fault(fault);
    harness.speak(stream, sentence());
    harness.pass(4000);
    return harness.messages(stream, 'output_audio_data');
  }
  const good = spoken(null);

  test('omit the last_chunk of a sentence', () => {
    const out = spoken({ kind: 'omit_last_chunk' });
    expect(out.some(({ data }) => data['last_chunk'] === true)).toBe(false);
    expect(soundOf(out).equals(soundOf(good))).toBe(true);
  });

  test.each(['not_json', 'empty', 'no_type', 'unknown_type', 'binary', 'wrong_data', 'bad_base64', 'deep'])(
    'send a malformed frame: %s',
    (form) => {
      const harness = createHarness();
      harness.open();
      harness.fault({ kind: 'malformed', form, times: 3 });
      expect(harness.seen.filter(({ effect }) => effect.type === 'sendRaw')).toHaveLength(3);
    },
  );

  test('send an oversized frame of the ordered size', () => {
    const harness = createHarness();
    harness.open();
    harness.fault({ kind: 'oversized', bytes: 3_000_000 });
    const [raw] = harness.seen.flatMap(({ effect }) => (effect.type === 'sendRaw' ? [effect.payload] : []));
    expect(raw).toHaveLength(3_000_000);
    expect(() => JSON.parse(String(raw))).not.toThrow();
  });

  test('end and refuse streams while the account is out of balance or blocked', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.fault({ kind: 'balance_out', for_ms: 5000 });
    harness.pass(0);
    expect(harness.close(stream)).not.toBeNull();
    expect(() => harness.open()).toThrow('insufficient_balance');
    harness.pass(5000);
    const again = harness.open();
    harness.fault({ kind: 'block_account' });
    expect(harness.messages(again, 'error')[0]?.data['reason']).toBe('account_blocked');
    expect(() => harness.open()).toThrow('account_blocked');
    harness.fault({ kind: 'clear' });
    expect(() => harness.open()).not.toThrow();
  });

  test('refuse with each kind of delivery', () => {
    const harness = createHarness();
    for (const delivery of ['http', 'message', 'close'] as const) {
      harness.fault({ kind: 'refuse', reason: 'connect_window_expired', delivery });
      expect(harness.service.open({ secret: 'key', intent: 's2s' }, harness.now())).toMatchObject({
        kind: 'refused',
        reason: 'connect_window_expired',
        delivery,
      });
    }
    expect(() => harness.open()).not.toThrow();
  });

  test('send service_timeout, warning and error', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.fault({ kind: 'warning', code: 'VOICE_NOT_FOUND' });
    harness.fault({ kind: 'error', code: 'SOMETHING' });
    harness.fault({ kind: 'service_timeout' });
    harness.pass(400);
    expect(harness.messages(stream).map(({ data }) => data['code'])).toEqual([
      'VOICE_NOT_FOUND',
      'SOMETHING',
      'SERVICE_TIMEOUT',
    ]);
    expect(harness.close(stream)?.code).toBe(1008);
  });

  test('hit the same streams at the same times with a seeded schedule', () => {
    const story = () => {
      const harness = createHarness({ setupMs: 0, concurrent: 50 });
      harness.fault({
        kind: 'schedule',
        seed: 3,
        for_ms: 120_000,
        every_ms: { min: 2000, max: 9000 },
        faults: [{ kind: 'drop' }, { kind: 'max_duration' }, { kind: 'warning', code: 'X' }],
      });
      for (let second = 0; second < 120; second++) {
        if (harness.service.streams().length === 0) harness.open();
        harness.pass(1000);
      }
      return harness.seen.map(({ at, effect }) => `${at} ${effect.type}`);
    };
    expect(story()).toEqual(story());
    expect(story().length).toBeGreaterThan(15);
  });
});
