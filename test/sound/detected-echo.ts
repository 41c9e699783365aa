import { beforeAll, describe, expect, it } from 'vitest';
import { createEchoDetector } from '../../src/sound/echo-detector.ts';
import type { EchoMeasure } from '../../src/sound/echo-measure.ts';
import {
  interpreter,
  noise,
  type Path,
  perform,
  through,
  together,
  VOICE_RATE_HZ,
  visitors,
} from '../acoustics.ts';

const ROOM_DB = -62;
/** Long enough for several measurements of an echo. */
const PART_S = 20.5;

/** Visitors who speak, a loudspeaker with their translation, and the noise of the room. */
export interface Conversation {
  readonly people: Float32Array;
  readonly said: Float32Array;
  readonly room: Float32Array;
}

export async function conversation(): Promise<Conversation> {
  const people = await visitors();
  const said = interpreter(people, { shift: 0.8, beginS: 6 });
  return { people, said, room: noise(people.length, ROOM_DB, 5) };
}

/** The beginning of such a conversation. */
export function partOf({ people, said, room }: Conversation, seconds = PART_S): Conversation {
  const samples = seconds * VOICE_RATE_HZ;
  return {
    people: people.subarray(0, samples),
    said: said.subarray(0, samples),
    room: room.subarray(0, samples),
  };
}

export function measuresEcho(paths: readonly Path[], heard: () => Conversation): void {
  it.each(paths)('measures $delayMs ms, $gainDb dB in a room of $rt60S s', (path) => {
    const { said, room } = partOf(heard());
    expectMeasured(detect(said, together(through(path, said), room)), path);
  });
}

export function findsEchoBehindSpeech(paths: readonly Path[], heard: () => Conversation): void {
  it.each(paths)('finds $gainDb dB while a visitor speaks without a pause', (path) => {
    const { people, said, room } = heard();
    const measures = detect(said, together(through(path, said), people, room));
    const right = measures.filter(({ delayMs }) => Math.abs(delayMs - path.delayMs) <= 5);
    expect(right.length).toBeGreaterThanOrEqual(3);
    expect(measures.length - right.length).toBeLessThanOrEqual(1);
  });
}

/** Measurements of the detector for this played and heard sound. */
export function detect(played: Float32Array, heard: Float32Array, pieceMs = 320): EchoMeasure[] {
  const detector = createEchoDetector({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
  const measures: EchoMeasure[] = [];
  perform(
    { played, heard, pieceMs },
    {
      play: (pcm, heardAt) => detector.played(pcm, heardAt),
      capture: (pcm, capturedAt) => {
        const measure = detector.hear(pcm, capturedAt);
        if (measure !== null) measures.push(measure);
      },
    },
  );
  return measures;
}

/** It measures several times, with at most one error, and finds the gain. */
function expectMeasured(measures: readonly EchoMeasure[], path: Path): void {
  expect(measures.length).toBeGreaterThanOrEqual(2);
  const wrong = measures.filter(({ delayMs }) => Math.abs(delayMs - path.delayMs) > 5);
  expect(wrong.length).toBeLessThanOrEqual(1);
  const gains = measures.filter((measure) => !wrong.includes(measure)).map(({ gainDb }) => gainDb);
  expect(Math.abs((gains.toSorted((a, b) => a - b)[gains.length >> 1] ?? 0) - path.gainDb)).toBeLessThan(5);
}

/** This many samples of a sound with this period. */
function repeated(length: number, period: Float32Array): Float32Array {
  const sound = new Float32Array(length);
  for (let at = 0; at < length; at += period.length) sound.set(period.subarray(0, length - at), at);
  return sound;
}

const near = (delayMs: number, wantedMs: number, mostMs: number): boolean =>
  Math.abs(delayMs - wantedMs) <= mostMs;

/** Further properties of the detector in a conversation. */
export function describeDetector(heard: () => Conversation): void {
  describe('the echo detector, in a conversation', () => {
    let echo: Float32Array;
    beforeAll(() => {
      const { said, room } = heard();
      echo = together(through({ delayMs: 100, gainDb: -10, rt60S: 0.3 }, said), room);
    });

    it('measures nothing in noise or silence', () => {
      const { people, said, room } = heard();
      expect(detect(said, noise(said.length, -30, 9))).toEqual([]);
      expect(detect(said, new Float32Array(said.length))).toEqual([]);
      expect(detect(new Float32Array(said.length), together(people, room))).toEqual([]);
    });

    it('measures nothing with a periodic sound, which matches itself at many lags', () => {
      const { room } = heard();
      // Eleven periods of 440 Hz.
      const sine = Float32Array.from(
        { length: 600 },
        (_, at) => 0.2 * Math.sin((2 * Math.PI * 11 * at) / 600),
      );
      const click = Float32Array.from({ length: 480 }, (_, at) => (at < 4 ? 0.5 : 0));
      const [tone, clicks, rattle] = [sine, click, noise(480, -20, 4)].map((period) =>
        repeated(room.length, period),
      ) as [Float32Array, Float32Array, Float32Array];
      for (const sound of [tone, rattle]) {
        const mixed = together(sound, room);
        for (const played of [tone, clicks, rattle]) expect(detect(played, mixed)).toEqual([]);
      }
    });

    it('shifts all heard times when the device reports a delay', () => {
      const { said } = heard();
      const detector = createEchoDetector({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
      const delays: number[] = [];
      let isTold = false;
      perform(
        { played: said, heard: echo, pieceMs: 320 },
        {
          // Reported 60 ms too early, and corrected once in the middle.
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

    it('forgets cancelled sound', () => {
      const { said } = heard();
      const detector = createEchoDetector({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
      const measures: EchoMeasure[] = [];
      perform(
        { played: said, heard: echo, pieceMs: 320 },
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
  });
}

/** A conversation with at least this many measurements, through a microphone of another rate. */
export function describeOtherPieces(heard: () => Conversation, leastMeasures: number): void {
  describe('the echo detector, with other pieces', () => {
    it('works with a microphone of another rate', () => {
      const { said, room } = heard();
      const path = { delayMs: 180, gainDb: -12, rt60S: 0.3 };
      const echo = together(through(path, said), room);
      // Every third sample after a mean of three: 8 kHz, roughly band-limited.
      const slow = new Int16Array(Math.floor(echo.length / 3));
      for (let index = 0; index < slow.length; index++) {
        const at = index * 3;
        slow[index] = (((echo[at] ?? 0) + (echo[at + 1] ?? 0) + (echo[at + 2] ?? 0)) / 3) * 32_767;
      }
      const detector = createEchoDetector({ heardRateHz: 8000, playedRateHz: VOICE_RATE_HZ });
      const delays: number[] = [];
      perform(
        { played: said, heard: new Float32Array(said.length), pieceMs: 320 },
        {
          play: (pcm, heardAt) => detector.played(pcm, heardAt),
          capture: (_, capturedAt) => {
            const from = Math.round(((capturedAt - 1_000_000 - 320) / 1000) * 8000);
            const measure = detector.hear(new Uint8Array(slow.slice(from, from + 2560).buffer), capturedAt);
            if (measure !== null) delays.push(Math.round(measure.delayMs));
          },
        },
      );
      expect(delays.length).toBeGreaterThanOrEqual(leastMeasures);
      expect(delays.filter((delay) => !near(delay, 180, 3))).toEqual([]);
    });

    it('works with pieces of any size', () => {
      const { said, room } = heard();
      const path = { delayMs: 120, gainDb: -14, rt60S: 0.3 };
      const delays = detect(said, together(through(path, said), room), 10).map(({ delayMs }) => delayMs);
      expect(delays.length).toBeGreaterThanOrEqual(leastMeasures);
      expect(delays.filter((delay) => !near(delay, 120, 5))).toEqual([]);
    });
  });
}
