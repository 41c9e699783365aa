import { beforeAll, describe, expect, it } from 'vitest';
import { levelDb, together, VOICE_RATE_HZ } from '../../acoustics.ts';
import { createCancelledRoom, isGone } from './cancelled-room.ts';

/** Five sentences. */
const SECONDS = 19;

let talk: Awaited<ReturnType<typeof createCancelledRoom>>;
beforeAll(async () => {
  talk = await createCancelledRoom(SECONDS);
});

describe('the canceller, from the second sentence on', () => {
  it.each([
    { delayMs: 20, gainDb: -6, rt60S: 0.3, ppm: 0 },
    { delayMs: 60, gainDb: 0, rt60S: 0.3, ppm: 50 },
    { delayMs: 120, gainDb: -12, rt60S: 0.4, ppm: -100 },
    { delayMs: 200, gainDb: -6, rt60S: 0.4, ppm: 300 },
    { delayMs: 250, gainDb: -20, rt60S: 0.4, ppm: -300 },
    { delayMs: 300, gainDb: 0, rt60S: 0.5, ppm: 200 },
  ])('takes out an echo of $delayMs ms, $gainDb dB and $ppm ppm', ({ ppm, ...path }) => {
    const heard = together(talk.echoOf(path, ppm), talk.room);
    for (const sentence of talk.judge(heard, talk.cancel(heard, ppm), path.delayMs)) {
      expect(isGone(sentence)).toBe(true);
    }
  });

  it("does so beside a zero that is off, and leaves it where it is, in the sentences' pauses, too", () => {
    const [path, zero] = [{ delayMs: 60, gainDb: -6, rt60S: 0.3 }, 0.06];
    const heard = together(talk.echoOf(path, 80), talk.room).map((sample) => sample + zero);
    const left = talk.cancel(heard, 80);
    const sound = left.map((sample) => sample - zero);
    for (const sentence of talk.judge(
      heard.map((sample) => sample - zero),
      sound,
      path.delayMs,
    ))
      expect(isGone(sentence)).toBe(true);
    // A step of the zero, where the canceller begins and ends to work, would be a click.
    const steps = left.map((sample, at) => Math.abs(sample - (left[at - 1] ?? sample)));
    const quiet = steps.subarray(VOICE_RATE_HZ, 8 * VOICE_RATE_HZ).filter((step) => step > zero / 2);
    expect(quiet.length).toBe(0);
  });

  it('lets a visitor through who is as loud as the echo', () => {
    const path = { delayMs: 60, gainDb: -6, rt60S: 0.3 };
    const begin = talk.sentences[1]?.until ?? 0;
    const echo = talk.echoOf(path, 80);
    const loudness = levelDb(echo.subarray(begin)) - levelDb(talk.people.subarray(begin));
    const visitor = talk.people.map((sample, at) => (at < begin ? 0 : sample * 10 ** (loudness / 20)));
    const left = talk.cancel(together(echo, visitor, talk.room), 80);
    let [frames, sent, before, after] = [0, 0, 0, 0];
    for (let at = begin; at + 480 < left.length; at += 480) {
      const [was, is] = [visitor, left].map((sound) => levelDb(sound.subarray(at, at + 480)));
      if (was === undefined || is === undefined || was < levelDb(visitor.subarray(begin)) - 15) continue;
      frames += 1;
      if (is > was - 10) sent += 1;
      before += 10 ** (was / 10);
      after += 10 ** (is / 10);
    }
    expect(frames).toBeGreaterThan(100);
    expect(sent / frames).toBeGreaterThan(0.95);
    expect(Math.abs(10 * Math.log10(after / before))).toBeLessThan(3);
  });

  it('learns again within a sentence when the microphone is moved or the volume is changed', () => {
    const path = { delayMs: 60, gainDb: -6, rt60S: 0.3 };
    const from = talk.sentences[2]?.from ?? 0;
    const before = talk.echoOf(path, 80);
    for (const changed of [
      { ...path, delayMs: 62, gainDb: -3, rt60S: 0.35 },
      { ...path, gainDb: 0 },
      { ...path, gainDb: -12 },
    ]) {
      const behind = talk.echoOf(changed, 80);
      const echo = before.map((sample, at) => (at < from - 4800 ? sample : (behind[at] ?? 0)));
      const heard = together(echo, talk.room);
      for (const sentence of talk.judge(heard, talk.cancel(heard, 80), changed.delayMs, 4))
        expect(isGone(sentence)).toBe(true);
    }
  });
});
