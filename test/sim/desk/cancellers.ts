/** Echo cancellers of a room: each removes one loudspeaker from one microphone, once it has heard enough of it. */
import type { Clock } from '../../../src/ports/clock.ts';
import type { EchoCanceller, OpenEchoCanceller } from '../../../src/ports/echo.ts';
import { TICK_MS, TICK_SAMPLES } from '../sound.ts';
import { echoOf, type Place, type PlayedAt } from './sounds.ts';

const READY_MS = 300;
/** Sound of the loudspeaker that it needs to learn the room (ms); the agent does not trust it any sooner. */
const LEARNS_MS = 2000;
/** What is left of the echo: 28 dB less. */
const LEFT = 0.04;

/** @param playing the sound of each loudspeaker, by lane */
export function createDeskCancellers(
  clock: Clock,
  places: () => readonly Place[],
  playing: readonly PlayedAt[],
): { readonly open: OpenEchoCanceller } {
  let opened = 0;
  return {
    open({ playedRateHz }, sink) {
      // Each lane opens one for its own loudspeaker and then one for the other.
      const microphone = Math.floor(opened / 2) % 2;
      const loudspeaker = opened % 2 === 0 ? microphone : 1 - microphone;
      opened += 1;
      let heardMs = 0;
      const cancelReady = clock.at(clock.now() + READY_MS, () => sink.ready());
      const canceller: EchoCanceller = {
        played(pcm) {
          heardMs += pcm.byteLength / 2 / (playedRateHz / 1000);
        },
        flushed() {},
        captured(pcm, capturedAt) {
          const [place, playedAt] = [places()[microphone], playing[loudspeaker]];
          const canCancel = heardMs >= LEARNS_MS && place !== undefined && playedAt !== undefined;
          sink.frames(canCancel ? cancelled(pcm, capturedAt, place, loudspeaker, playedAt) : pcm, capturedAt);
        },
        close: () => cancelReady(),
      };
      return canceller;
    },
  };
}

function cancelled(
  pcm: Uint8Array,
  capturedAt: number,
  place: Place,
  loudspeaker: number,
  playedAt: PlayedAt,
): Uint8Array {
  const sound = new Int16Array(pcm.slice().buffer);
  const first = Math.round(capturedAt / TICK_MS) - sound.length / TICK_SAMPLES;
  for (let at = 0; at < sound.length; at += TICK_SAMPLES) {
    const echo = echoOf(place, loudspeaker, playedAt, first + at / TICK_SAMPLES);
    if (echo === null) continue;
    for (const [index, value] of echo.entries()) {
      const left = (sound[at + index] ?? 0) - place.gain * (1 - LEFT) * value;
      sound[at + index] = Math.max(-32_768, Math.min(32_767, Math.round(left)));
    }
  }
  return new Uint8Array(sound.buffer);
}
