import { beforeAll, describe, expect, it } from 'vitest';
import { together, VOICE_RATE_HZ } from '../acoustics.ts';
import { createCancelledRoom, expectVisitorThrough, isGone, withVisitor } from './cancelled-room.ts';

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
  ])('removes an echo of $delayMs ms, $gainDb dB and $ppm ppm', ({ ppm, ...path }) => {
    const heard = together(talk.echoOf(path, ppm), talk.room);
    for (const sentence of talk.judge(heard, talk.cancel(heard, ppm), path.delayMs)) {
      expect(isGone(sentence)).toBe(true);
    }
  });

  it('removes an echo beside a DC offset, and keeps the offset constant, also in pauses', () => {
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
    // A jump of the offset where the canceller starts or stops would be a click.
    const steps = left.map((sample, at) => Math.abs(sample - (left[at - 1] ?? sample)));
    const quiet = steps.subarray(VOICE_RATE_HZ, 8 * VOICE_RATE_HZ).filter((step) => step > zero / 2);
    expect(quiet.length).toBe(0);
  });

  it('passes a visitor who is as loud as the echo', () => {
    expectVisitorThrough(withVisitor(talk));
  });

  it('learns again within a sentence when the microphone is moved or the volume changes', () => {
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
