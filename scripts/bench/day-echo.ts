import { createEchoFilter } from '../../src/adapters/echo/echo-filter.ts';
import type { OpenEchoCanceller } from '../../src/ports/echo.ts';
import { samplesOf } from '../../src/sound/pcm.ts';

/** Path from the loudspeaker to the microphone. */
const PATH = { delayMs: 80, gain: 0.25 };
/** How much played sound is kept (s). */
const MEMORY_S = 4;

/** The canceller in this process instead of a thread, so that its memory counts. It returns each chunk at once. */
export const openEchoCanceller: OpenEchoCanceller = (rates, sink) => {
  const filter = createEchoFilter(rates);
  queueMicrotask(() => sink.ready());
  return {
    played: filter.played,
    flushed: filter.flushed,
    captured(pcm, capturedAt) {
      const left = filter.filter(pcm, capturedAt);
      if (left.pcm.byteLength > 0) sink.frames(left.pcm, left.capturedAt);
    },
    close() {},
  };
};

/** Simulates the acoustic path from loudspeaker to microphone; times are milliseconds. */
export function createAir(rateHz: number) {
  const ring = new Int16Array(MEMORY_S * rateHz);
  const placeOf = (at: number): number => Math.round((at * rateHz) / 1000);
  return {
    play(pcm: Uint8Array, from: number): void {
      const first = placeOf(from);
      for (const [index, sample] of samplesOf(pcm).entries()) ring[(first + index) % ring.length] = sample;
    },
    /** Adds the echo to a captured chunk, and drops the sound that has passed. */
    hear(sound: Int16Array, from: number): void {
      const first = placeOf(from - PATH.delayMs) + ring.length;
      for (let index = 0; index < sound.length; index++) {
        const slot = (first + index) % ring.length;
        sound[index] = Math.max(
          -32_768,
          Math.min(32_767, (sound[index] ?? 0) + PATH.gain * (ring[slot] ?? 0)),
        );
        ring[slot] = 0;
      }
    },
  };
}
