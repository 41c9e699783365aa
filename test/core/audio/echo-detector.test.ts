import { beforeAll, describe, expect, it } from 'vitest';
import { createEchoDetector } from '../../../src/core/audio/echo-detector.ts';
import type { EchoMeasure } from '../../../src/core/audio/echo-measure.ts';
import { interpreter, noise, perform, through, together, VOICE_RATE_HZ } from '../../acoustics.ts';
import {
  type Conversation,
  conversation,
  detect,
  findsEchoBehindSpeech,
  measuresEcho,
} from './detected-echo.ts';

let people: Float32Array;
let said: Float32Array;
let room: Float32Array;
beforeAll(async () => {
  ({ people, said, room } = await conversation());
});
const heard = (): Conversation => ({ people, said, room });

describe('the echo detector', () => {
  measuresEcho(
    [
      { delayMs: 20, gainDb: -30, rt60S: 0.7 },
      { delayMs: 250, gainDb: -20, rt60S: 0.7 },
      { delayMs: 480, gainDb: 0, rt60S: 0.3 },
      { delayMs: 850, gainDb: -20, rt60S: 0.7 },
    ],
    heard,
  );
  findsEchoBehindSpeech([{ delayMs: 250, gainDb: -10, rt60S: 0.3 }], heard);

  it('takes no other speech for an echo', () => {
    const measures = [0.8, 1.3].flatMap((shift) =>
      detect(interpreter(people, { shift, beginS: 10 }), together(people, room)),
    );
    expect(measures).toEqual([]);
  });

  it('hears nothing in noise, and nothing in silence', () => {
    expect(detect(said, noise(said.length, -30, 9))).toEqual([]);
    expect(detect(said, new Float32Array(said.length))).toEqual([]);
    expect(detect(new Float32Array(said.length), together(people, room))).toEqual([]);
  });

  it('learns nothing from what repeats itself: it is like itself at many lags', () => {
    const length = people.length;
    const tone = Float32Array.from(
      { length },
      (_, at) => 0.2 * Math.sin((2 * Math.PI * 440 * at) / VOICE_RATE_HZ),
    );
    const click = Float32Array.from({ length }, (_, at) => (at % 480 < 4 ? 0.5 : 0));
    const grain = noise(480, -20, 4);
    const rattle = Float32Array.from({ length }, (_, at) => grain[at % 480] ?? 0);
    for (const played of [tone, click, rattle]) {
      for (const heard of [tone, rattle]) expect(detect(played, together(heard, room))).toEqual([]);
    }
  });

  it('takes it that all was heard later than said, where the device tells so', () => {
    const path = { delayMs: 100, gainDb: -10, rt60S: 0.3 };
    const detector = createEchoDetector({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
    const delays: number[] = [];
    let isTold = false;
    perform(
      { played: said, heard: together(through(path, said), room), pieceMs: 320 },
      {
        // Said 60 ms too early, and once, in the middle of it, what the device told.
        play: (pcm, heardAt) => detector.played(pcm, heardAt - 60, true),
        capture: (pcm, capturedAt) => {
          if (!isTold && delays.length === 1) detector.late(60);
          isTold ||= delays.length === 1;
          const measure = detector.hear(pcm, capturedAt);
          if (measure !== null) delays.push(Math.round(measure.delayMs));
        },
      },
    );
    expect(Math.abs((delays[0] ?? 0) - 160)).toBeLessThan(8);
    expect(Math.abs((delays[1] ?? 0) - 100)).toBeLessThan(8);
  });

  it('forgets what was taken back', () => {
    const path = { delayMs: 100, gainDb: -10, rt60S: 0.3 };
    const detector = createEchoDetector({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
    const measures: EchoMeasure[] = [];
    perform(
      { played: said, heard: together(through(path, said), room), pieceMs: 320 },
      {
        play: (pcm, heardAt) => {
          detector.played(pcm, heardAt);
          detector.flushed(heardAt);
        },
        capture: (pcm, capturedAt) => {
          const measure = detector.hear(pcm, capturedAt);
          if (measure !== null) measures.push(measure);
        },
      },
    );
    expect(measures).toEqual([]);
  });

  it('compares a microphone of another rate', () => {
    const path = { delayMs: 180, gainDb: -12, rt60S: 0.3 };
    const echo = together(through(path, said), room);
    // Every third sample of what is band-limited by the mean of three: 8 kHz.
    const slow = Float32Array.from({ length: Math.floor(echo.length / 3) }, (_, index) => {
      const at = index * 3;
      return ((echo[at] ?? 0) + (echo[at + 1] ?? 0) + (echo[at + 2] ?? 0)) / 3;
    });
    const detector = createEchoDetector({ heardRateHz: 8000, playedRateHz: VOICE_RATE_HZ });
    const delays: number[] = [];
    perform(
      { played: said, heard: new Float32Array(said.length), pieceMs: 320 },
      {
        play: (pcm, heardAt) => detector.played(pcm, heardAt),
        capture: (_, capturedAt) => {
          const from = Math.round(((capturedAt - 1_000_000 - 320) / 1000) * 8000);
          const samples = Int16Array.from(slow.subarray(from, from + 2560), (sample) => sample * 32_767);
          const measure = detector.hear(new Uint8Array(samples.buffer), capturedAt);
          if (measure !== null) delays.push(Math.round(measure.delayMs));
        },
      },
    );
    expect(delays.length).toBeGreaterThanOrEqual(4);
    for (const delay of delays) expect(Math.abs(delay - 180)).toBeLessThanOrEqual(3);
  });

  it('does not mind pieces of any size', () => {
    const path = { delayMs: 120, gainDb: -14, rt60S: 0.3 };
    for (const { delayMs } of detect(said, together(through(path, said), room), 10)) {
      expect(Math.abs(delayMs - 120)).toBeLessThan(5);
    }
  });
});
