import loadAec3, { type Aec3Library } from '@ennuicastr/webrtcaec3.js';
import { createTimeline } from '../../core/audio/echo-timeline.ts';
import { durationMs, toFloat, toPcm } from '../../core/audio/pcm.ts';
import type { EchoRates } from './message.ts';
import { blend, createRecentSound } from './recent-sound.ts';
import { createReference } from './reference.ts';

/**
 * Takes the echo out of one lane's captured sound, in the thread that calls it. While there is nothing that could echo
 * it rests: what was captured comes back as it was, as late as always.
 */
export interface EchoFilter {
  played(pcm: Uint8Array, heardAt: number, goesOn?: boolean): void;
  flushed(at: number): void;
  /**
   * @param capturedAt when the last sample was captured
   * @returns as much sound as whole frames allow, and when the last sample of it was captured
   */
  filter(pcm: Uint8Array, capturedAt: number): { pcm: Uint8Array; capturedAt: number };
  /** Nothing was played lately, and the last sound was not worked on. */
  readonly rests: boolean;
  close(): void;
}

/** The canceller works on frames of 10 ms. */
const FRAMES_PER_S = 100;
/**
 * It works at 16, 32 or 48 kHz and resamples by itself. 32 kHz keeps all of a stream of 24 kHz; 48 kHz costs twice as
 * much and keeps what no voice has.
 */
const LOW_RATE_HZ = 16_000;
const HIGH_RATE_HZ = 32_000;
/** From a sample's way in to its way out, milliseconds, measured: its filters and its resamplers. */
const DELAY_MS = { [LOW_RATE_HZ]: 9.7, [HIGH_RATE_HZ]: 9.3 };
/** This long after the last sound from the loudspeaker the room has fallen silent, whatever the estimates of its times are off. */
const DIES_AWAY_MS = 2000;
/** Woken, it hears this many frames from before, so that all that it remembers of its input is true again. */
const WAKING_FRAMES = 12;
/** How long played sound is kept; it is written up to a second before it is heard. */
const MEMORY_S = 8;

/**
 * Loads the canceller.
 * @throws where the package can't be loaded
 */
export async function loadEchoFilter({ heardRateHz, playedRateHz }: EchoRates): Promise<EchoFilter> {
  const { AEC3 } = await loadAlone();
  const rateHz = heardRateHz <= LOW_RATE_HZ ? LOW_RATE_HZ : HIGH_RATE_HZ;
  const aec = new AEC3(rateHz, 1, 1);
  const frameSamples = Math.floor(heardRateHz / FRAMES_PER_S);
  const playedFrame = Math.floor(playedRateHz / FRAMES_PER_S);
  // Frames of rates that are no multiple of 100 are a little short: the canceller hears both sounds as much slower.
  const heardOptions = {
    sampleRateIn: frameSamples * FRAMES_PER_S,
    sampleRateOut: frameSamples * FRAMES_PER_S,
  };
  const playedOptions = { sampleRateIn: playedFrame * FRAMES_PER_S };
  const frameMs = (frameSamples * 1000) / heardRateHz;
  const timeline = createTimeline(playedRateHz, MEMORY_S);
  const reference = createReference(timeline, playedFrame, frameMs);
  const delayMs = DELAY_MS[rateHz];
  const recent = createRecentSound(frameSamples, WAKING_FRAMES, Math.round((delayMs * heardRateHz) / 1000));
  const unheard = new Float32Array(frameSamples);
  let isAwake = false;
  let rest = new Float32Array(0);

  const cancel = (frame: Float32Array, beganAt: number, cleaned: Float32Array): void => {
    aec.analyze([reference.next(beganAt)], playedOptions);
    aec.process([cleaned], [frame], heardOptions);
  };
  const wake = (beganAt: number): void => {
    for (let ago = WAKING_FRAMES; ago > 0; ago--)
      cancel(recent.before(ago), beganAt - ago * frameMs, unheard);
  };
  const pass = (frame: Float32Array, beganAt: number, cleaned: Float32Array): void => {
    recent.push(frame);
    const wasAwake = isAwake;
    isAwake = timeline.end > timeline.placeOf(beganAt - DIES_AWAY_MS);
    if (!isAwake && !wasAwake) return cleaned.set(recent.late);
    if (!wasAwake) wake(beganAt);
    cancel(frame, beganAt, cleaned);
    if (!wasAwake) blend(cleaned, recent.late, cleaned);
    else if (!isAwake) blend(cleaned, cleaned, recent.late);
  };

  return {
    played(pcm, heardAt, goesOn = false) {
      timeline.write(toFloat(pcm), heardAt, goesOn);
    },
    flushed(at) {
      timeline.cut(at);
    },
    filter(pcm, capturedAt) {
      const samples = join(rest, toFloat(pcm));
      const beganAt = capturedAt - (samples.length * 1000) / heardRateHz;
      const frames = Math.floor(samples.length / frameSamples);
      const cleaned = new Float32Array(frames * frameSamples);
      for (let frame = 0; frame < frames; frame++) {
        const [from, until] = [frame * frameSamples, (frame + 1) * frameSamples];
        pass(samples.subarray(from, until), beganAt + frame * frameMs, cleaned.subarray(from, until));
      }
      rest = samples.slice(frames * frameSamples);
      const restMs = durationMs(rest.length * 2, heardRateHz);
      return { pcm: toPcm(cleaned), capturedAt: capturedAt - restMs - delayMs };
    },
    get rests() {
      return !isAwake;
    },
    close() {
      aec.free();
    },
  };
}

/** What the library's start adds to the process is taken away again: errors are for the program to handle. */
async function loadAlone(): Promise<Aec3Library> {
  const exceptions = process.listeners('uncaughtException');
  const rejections = process.listeners('unhandledRejection');
  const library = await loadAec3();
  for (const listener of process.listeners('uncaughtException')) {
    if (!exceptions.includes(listener)) process.off('uncaughtException', listener);
  }
  for (const listener of process.listeners('unhandledRejection')) {
    if (!rejections.includes(listener)) process.off('unhandledRejection', listener);
  }
  return library;
}

function join(one: Float32Array, other: Float32Array): Float32Array {
  if (one.length === 0) return other;
  const joined = new Float32Array(one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}
