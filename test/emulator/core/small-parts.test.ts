import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import {
  createAudioAccount,
  createRepeatWatch,
  fingerprint,
} from '../../../src/emulator/core/audio-account.ts';
import { CHOICES, changeChoices, resolveChoices, showChoices } from '../../../src/emulator/core/choices.ts';
import { createOutbox } from '../../../src/emulator/core/outbox.ts';
import { bytesOf, levelDb, monoOf, upmix } from '../../../src/emulator/core/pcm.ts';
import { drawUuid } from '../../../src/emulator/core/random.ts';
import { createRateLimits } from '../../../src/emulator/core/rate-limit.ts';
import { createRecording } from '../../../src/emulator/core/recording.ts';
import { createSoundBuffer } from '../../../src/emulator/core/sound-buffer.ts';
import { samplesOf } from '../../../src/sound/pcm.ts';
import { fc } from '../../properties.ts';
import { noise, vowel } from './voice.ts';

describe('choices', () => {
  test('differ between the two profiles', () => {
    expect(resolveChoices('spec')).toMatchObject({ moreCommands: false, endEvent: 'none', outputRateHz: 0 });
    expect(resolveChoices('live')).toMatchObject({
      moreCommands: true,
      noAudioTimeoutMs: 10_000,
      outputRateHz: 24_000,
    });
  });

  test('have valid defaults and a description', () => {
    for (const [name, entry] of Object.entries(CHOICES)) {
      expect(entry.schema.safeParse(entry.spec).success, name).toBe(true);
      expect(entry.schema.safeParse(entry.live).success, name).toBe(true);
      expect(entry.about.length, name).toBeGreaterThan(10);
    }
  });

  test('accept texts of a command line', () => {
    expect(resolveChoices('spec', { setupMs: '40', taskStatus: 'true' })).toMatchObject({
      setupMs: 40,
      taskStatus: true,
    });
  });

  test.each([
    [{ setupMs: -1 }, 'setupMs'],
    [{ setup: 1 }, 'setup'],
    [{ dataForm: 'xml' }, 'dataForm'],
  ])('refuse %j and name the choice', (overrides, name) => {
    expect(() => resolveChoices('spec', overrides)).toThrow(`"${name}"`);
  });

  test('change in a running service by wire names, all or none', () => {
    const choices = resolveChoices('spec');
    expect(changeChoices(choices, { setup_ms: 5, data_form: 'string' })).toEqual([]);
    expect(choices).toMatchObject({ setupMs: 5, dataForm: 'string' });
    expect(changeChoices(choices, { setup_ms: 9, nonsense: 1 })).toEqual(['nonsense: unknown setting']);
    expect(choices.setupMs).toBe(5);
    expect(showChoices(choices)).toMatchObject({ setup_ms: 5, silence_threshold_ms: 700 });
  });
});

describe('messages that wait', () => {
  test('are taken by time, and equal times by arrival', () => {
    const entries = fc.array(fc.tuple(fc.nat(50), fc.nat(1000)), { maxLength: 300 });
    fc.assert(
      fc.property(entries, (items) => {
        const outbox = createOutbox<readonly [number, number]>(1000);
        for (const item of items) outbox.put(item, item[0]);
        const out: (readonly [number, number])[] = [];
        for (let item = outbox.take(100); item; item = outbox.take(100)) out.push(item);
        expect(out).toEqual(items.toSorted((a, b) => a[0] - b[0]));
        expect([outbox.length, outbox.nextAt]).toEqual([0, Number.POSITIVE_INFINITY]);
      }),
    );
  });

  test('are never taken before they are due', () => {
    const outbox = createOutbox<string>(10);
    outbox.put('late', 20);
    expect([outbox.take(19), outbox.nextAt, outbox.take(20)]).toEqual([undefined, 20, 'late']);
  });

  test('are bounded: the oldest is dropped', () => {
    const outbox = createOutbox<number>(3);
    for (let item = 0; item < 10; item++) outbox.put(item, item);
    expect([outbox.length, outbox.take(100)]).toEqual([3, 7]);
  });

  test('are dropped when unwanted', () => {
    const outbox = createOutbox<number>(10);
    for (let item = 0; item < 6; item++) outbox.put(item, item);
    outbox.take(100);
    expect(outbox.drop((item) => item % 2 === 1)).toBe(3);
    expect([outbox.take(100), outbox.take(100), outbox.take(100)]).toEqual([2, 4, undefined]);
  });
});

describe('repeated sound', () => {
  const loud = (seed: number) => noise(0.32, 24_000, 5000, seed);
  const print = (seed: number) => fingerprint(loud(seed)) ?? Number.NaN;

  test('is duplicate or out of order', () => {
    const account = createAudioAccount();
    expect([1, 2, 2, 3, 1, 4].map((seed) => account.judge(print(seed)))).toEqual([
      'new',
      'new',
      'duplicate',
      'new',
      'out_of_order',
      'new',
    ]);
  });

  test('is not reported for silence', () => {
    expect(fingerprint(new Int16Array(7680))).toBeNull();
    expect(fingerprint(noise(0.32, 24_000, 40))).toBeNull();
  });

  test('is reported when a client sends it on another stream', () => {
    const watch = createRepeatWatch();
    const noted = [
      watch.note('kiosk', 'a', 1),
      watch.note('kiosk', 'a', 1),
      watch.note('kiosk', 'b', 1),
      watch.note('other', 'c', 1),
      watch.note('kiosk', 'b', 2),
    ];
    expect(noted).toEqual([false, false, true, false, false]);
  });
});

describe('PCM', () => {
  test('is read at any byte offset', () => {
    const bytes = Uint8Array.of(9, 1, 0, 2, 0, 3);
    expect([...samplesOf(bytes.subarray(1))]).toEqual([1, 2]);
    expect([...samplesOf(bytes.subarray(0, 5))]).toHaveLength(2);
  });

  test('is mixed down to one channel and copied to several', () => {
    expect([...monoOf(bytesOf(Int16Array.of(10, 20, -4, -8)), 2)]).toEqual([15, -6]);
    expect([...upmix(Int16Array.of(1, 2), 2)]).toEqual([1, 1, 2, 2]);
  });

  test('has a level in dB, with a floor for silence', () => {
    expect(levelDb(new Int16Array(100))).toBe(-100);
    expect(levelDb(new Int16Array(0))).toBe(-100);
    expect(levelDb(new Int16Array(1000).fill(16_384))).toBeCloseTo(-6, 1);
    expect(levelDb(vowel(1, 24_000, 140))).toBeLessThan(0);
  });
});

describe('sound by position', () => {
  test('returns appended sound, across pieces', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(sizes, fc.nat(400), fc.nat(400), (lengths, a, b) => {
        const buffer = createSoundBuffer();
        let next = 0;
        for (const length of lengths) buffer.append(Int16Array.from({ length }, () => next++));
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const expected = Array.from({ length: next }, (_, at) => at).slice(from, to);
        expect([...buffer.cut(from, to)]).toEqual(expected);
      }),
    );
  });

  test('keeps needed sound when older sound is forgotten', () => {
    const buffer = createSoundBuffer();
    for (let piece = 0; piece < 10; piece++) buffer.append(new Int16Array(100).fill(piece));
    buffer.forget(350);
    expect(buffer.length).toBe(700);
    expect([...buffer.cut(350, 352)]).toEqual([3, 3]);
    expect(buffer.cut(0, 300)).toHaveLength(0);
  });
});

describe('limits and recordings', () => {
  test('allow commands a little early, not more', () => {
    const limits = createRateLimits();
    const allowed = [0, 1900, 1950, 3940].map((at) => limits.allow('get', 2000, at));
    expect(allowed).toEqual([true, false, true, true]);
  });

  test('allow a number of commands in a window', () => {
    const limits = createRateLimits();
    const allowed = [0, 1, 2, 50, 101, 102].map((at) => limits.allowIn('tts', 3, 100, at));
    expect(allowed).toEqual([true, true, true, false, true, true]);
  });

  test('keep a recording up to its limit and report when it is truncated', () => {
    const recording = createRecording(5);
    recording.received(Uint8Array.of(1, 2, 3));
    recording.sent(Uint8Array.of(9));
    expect(recording.read()).toEqual({
      received: Uint8Array.of(1, 2, 3),
      sent: Uint8Array.of(9),
      truncated: false,
    });
    recording.received(Uint8Array.of(4, 5, 6));
    expect(recording.read()).toMatchObject({ received: Uint8Array.of(1, 2, 3, 4, 5), truncated: true });
    const none = createRecording(0);
    none.received(Uint8Array.of(1));
    expect(none.read()).toEqual({ received: new Uint8Array(0), sent: new Uint8Array(0), truncated: false });
  });

  test('draw UUIDs of version 4', () => {
    const random = seededRandom(3);
    for (let count = 0; count < 200; count++) {
      expect(drawUuid(random)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });
});
