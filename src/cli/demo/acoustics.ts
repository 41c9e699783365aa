import type { OpenCapture, OpenPlayback } from '../../ports/audio.ts';
import { BYTES_PER_SAMPLE, durationMs } from '../../sound/pcm.ts';

/** Delay of the echo from loudspeaker to microphone (ms). */
const ECHO_DELAY_MS = 120;
/** Amplitude factor of the echo, as if both stood on one desk. */
const ECHO_GAIN = 0.2;
/** Age after which played sound is forgotten (ms): its echo is over. */
const MEMORY_MS = 2000;

interface Played {
  readonly startsAt: number;
  readonly pcm: Uint8Array;
}

/** Simulated room between loudspeaker and microphone, because a demo with two files has no echo. */
export interface Room {
  /** Makes the microphone hear the loudspeaker from now on. */
  letEchoIn(): void;
  hearLoudspeaker(open: OpenPlayback): OpenPlayback;
  fillMicrophone(open: OpenCapture): OpenCapture;
}

/** @param rateHz sample rate of microphone and loudspeaker */
export function createRoom(rateHz: number): Room {
  let isOpen = false;
  let played: readonly Played[] = [];

  /** Adds to these samples the loudspeaker's echo that arrived while they were captured. */
  const addEcho = (pcm: Uint8Array, capturedAt: number): Uint8Array => {
    const beganAt = capturedAt - durationMs(pcm.byteLength, rateHz);
    const echoing = played.filter(({ startsAt, pcm: sound }) => {
      const heardAt = startsAt + ECHO_DELAY_MS;
      return heardAt < capturedAt && heardAt + durationMs(sound.byteLength, rateHz) > beganAt;
    });
    if (echoing.length === 0) return pcm;
    const mixed = pcm.slice();
    for (const { startsAt, pcm: sound } of echoing) {
      mixInto(mixed, sound, Math.round(((startsAt + ECHO_DELAY_MS - beganAt) * rateHz) / 1000));
    }
    return mixed;
  };

  return {
    letEchoIn() {
      isOpen = true;
    },
    hearLoudspeaker: (open) => async (sink) => {
      const playback = await open(sink);
      return {
        ...playback,
        write(pcm) {
          const written = playback.write(pcm);
          const startsAt = written.from;
          played = [...played.filter((old) => startsAt - old.startsAt < MEMORY_MS), { startsAt, pcm }];
          return written;
        },
      };
    },
    fillMicrophone: (open) => (sink, shortPeriods) =>
      open(
        {
          ...sink,
          frames: (pcm, capturedAt) => sink.frames(isOpen ? addEcho(pcm, capturedAt) : pcm, capturedAt),
        },
        shortPeriods,
      ),
  };
}

/** @param offset sample of `target` at which `sound` begins; may be negative */
function mixInto(target: Uint8Array, sound: Uint8Array, offset: number): void {
  const to = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const from = new DataView(sound.buffer, sound.byteOffset, sound.byteLength);
  const first = Math.max(0, -offset);
  const last = Math.min(sound.byteLength, target.byteLength - offset * BYTES_PER_SAMPLE) / BYTES_PER_SAMPLE;
  for (let sample = first; sample < Math.floor(last); sample++) {
    const at = (sample + offset) * BYTES_PER_SAMPLE;
    const sum =
      to.getInt16(at, true) + Math.round(from.getInt16(sample * BYTES_PER_SAMPLE, true) * ECHO_GAIN);
    to.setInt16(at, Math.max(-32_768, Math.min(32_767, sum)), true);
  }
}
