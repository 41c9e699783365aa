import type { Capture, CaptureSink, DeviceFigures, OpenCapture, Place } from '../../../ports/audio.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { OpenEchoCanceller } from '../../../ports/echo.ts';
import type { Log } from '../../../ports/log.ts';
import type { CreateVoiceDetector, VoiceDetector } from '../../../ports/voice.ts';
import { type CaptureNews, createCaptureWatch } from '../../../sound/capture-watch.ts';
import { type Chunk, createChunker } from '../../../sound/chunker.ts';
import { type CreateEchoDetector, createEchoDetector } from '../../../sound/echo-detector.ts';
import { measureFrames } from '../../../sound/frame-levels.ts';
import { samplesOf } from '../../../sound/pcm.ts';
import type { LaneEvent } from '../state/lane-event.ts';
import { faultEvent, openingFault } from './audio-fault.ts';
import { createEchoPaths } from './echo-paths.ts';
import { keepOpening } from './keep-opening.ts';
import type { Reference } from './playback-pipeline.ts';
import type { OwnChunk, RoomSeat } from './room-seat.ts';

/** Dependencies of a lane's capture pipeline. */
export interface CapturePipelineDeps {
  readonly lane: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly openCapture: OpenCapture;
  readonly createVoiceDetector: CreateVoiceDetector;
  /** Sample rate of the captured sound. */
  readonly rateHz: number;
  readonly chunkMs: number;
  /** Sample rate of the loudspeaker's sound. */
  readonly playedRateHz: number;
  /** Default: the detector in src/sound. */
  readonly createEchoDetector?: CreateEchoDetector | undefined;
  /** Absent if this machine cannot cancel echo. */
  readonly openEchoCanceller?: OpenEchoCanceller | undefined;
  /** The place of this microphone in its room; missing: the lane is not in a room. */
  readonly seat?: RoomSeat | undefined;
  /** Whether echo is cancelled at the start. */
  readonly cancelEcho: boolean;
  post(event: LaneEvent): void;
}

/** Minimum voiced part of a chunk of speech (ms): a syllable, not a click. */
const SYLLABLE_MS = 80;

/** Time until a microphone that does not open is reported (ms). */
const OPENING_MS = 10_000;

/** One opened microphone. */
interface Microphone extends Reference {
  /** Gets the sound of the other loudspeaker in the room. */
  readonly others: Reference;
  cancelEcho(on: boolean): void;
  figures(): DeviceFigures | null;
  close(): Promise<void>;
}

/** The path of the sound from the microphone to the lane: cuts it into chunks and measures them. It makes no decisions. */
export class CapturePipeline implements Reference {
  private deps: CapturePipelineDeps;
  private microphone: Microphone | null = null;
  private cancels: boolean;

  constructor(deps: CapturePipelineDeps) {
    this.deps = deps;
    this.cancels = deps.cancelEcho;
  }

  /** Opens the microphone; a failure is reported as `audio_fault`. */
  open(): void {
    this.microphone = openMicrophone(this.deps, this.cancels);
  }

  /**
   * Uses another device from now on.
   * @param isWanted whether the lane still wants a microphone once the present one is closed
   */
  async renew(openCapture: OpenCapture, isWanted: () => boolean): Promise<void> {
    this.deps = { ...this.deps, openCapture };
    if (this.microphone === null) return;
    await this.close();
    if (this.microphone === null && isWanted()) this.open();
  }

  /** Whether the loudspeaker's echo is cancelled. */
  cancelEcho(on: boolean): void {
    this.cancels = on;
    this.microphone?.cancelEcho(on);
  }

  played(pcm: Uint8Array, heardAt: number, goesOn: boolean, place: Place | null = null): void {
    this.microphone?.played(pcm, heardAt, goesOn, place);
  }

  flushed(at: number, place: Place | null = null): void {
    this.microphone?.flushed(at, place);
  }

  late(byMs: number): void {
    this.microphone?.late?.(byMs);
  }

  /** Gets the sound of the other loudspeaker in the room. */
  readonly others: Reference = {
    played: (...sound) => this.microphone?.others.played(...sound),
    flushed: (...sound) => this.microphone?.others.flushed(...sound),
  };

  /** Counters of the device; null without a device. */
  get figures(): DeviceFigures | null {
    return this.microphone?.figures() ?? null;
  }

  /** Frees the microphone. */
  async close(): Promise<void> {
    const { microphone } = this;
    this.microphone = null;
    try {
      await microphone?.close();
    } catch (error) {
      const { lane, log } = this.deps;
      log.warn({ lane, error: messageOf(error) }, 'the microphone did not close cleanly');
    }
  }
}

/** Device frames -> canceller -> chunks -> lane, with measurements on the way. */
function openMicrophone(deps: CapturePipelineDeps, cancels: boolean): Microphone {
  const { rateHz, playedRateHz, chunkMs, post } = deps;
  const chunkSamples = Math.round((chunkMs * rateHz) / 1000);
  const chunker = createChunker({ chunkSamples, rateHz });
  const voices = deps.createVoiceDetector(rateHz);
  const createDetector = deps.createEchoDetector ?? createEchoDetector;
  const echo = createDetector({ heardRateHz: rateHz, playedRateHz });
  const watch = createCaptureWatch({ rateHz, playedRateHz });
  // Late sound of a closed microphone must not reach the lane, which may already have another microphone.
  let closed = false;
  // After the end of its file, a recording is silent: that is not a microphone fault.
  let hasEnded = false;
  let opened: Capture | null = null;

  const judge = (chunk: Chunk, { pcm, own }: OwnChunk): void => {
    if (closed) return;
    const isSpeech = hearSpeech(voices, pcm, rateHz);
    // Padding, and the silence that replaces another person's speech, must not count as a quiet room.
    const [longest] = own.toSorted((one, other) => other.byteLength - one.byteLength);
    const frames = measureFrames(longest ?? pcm.subarray(0, 0), rateHz);
    const talk = voices.talk?.() ?? null;
    const levels = { ...frames, isSpeech, ...(talk !== null && { talk }) };
    const { beganAt, capturedAt: endedAt } = chunk;
    const isOthers = longest === undefined && { isOthers: true as const };
    post({ type: 'captured', beganAt, capturedAt: endedAt, pcm, levels, ...isOthers });
    // Measure after sending: the result is used for later chunks.
    const measure = echo.hear(chunk.pcm, chunk.capturedAt);
    const heard = path.isCancelling ? 'cancelled' : 'microphone';
    if (measure !== null) post({ type: 'echo_heard', heard, measure });
  };
  const take = (chunks: readonly Chunk[]): void => {
    for (const chunk of chunks) {
      if (deps.seat !== undefined) deps.seat.pass(chunk, (own) => judge(chunk, own));
      else judge(chunk, { pcm: chunk.pcm, own: [chunk.pcm.subarray(0, chunk.soundBytes)] });
    }
  };
  const deliver = (pcm: Uint8Array, capturedAt: number): void => {
    if (closed) return;
    deps.seat?.hear(pcm, capturedAt, rateHz);
    take(chunker.push(pcm, capturedAt));
  };
  const path = createEchoPaths(deps, deliver, () => chunker.heldBytes, deps.seat === undefined ? 1 : 2);
  const report = (news: readonly CaptureNews[]): void => {
    for (const one of news) post({ type: 'capture_news', ...one });
  };
  const sink: CaptureSink = {
    frames: (pcm, capturedAt) => {
      if (closed) return;
      if (!hasEnded) report(watch.hear(pcm, capturedAt));
      path.captured(pcm, capturedAt);
    },
    ended: () => {
      if (closed) return;
      hasEnded = true;
      report(watch.end());
      post({ type: 'capture_ended' });
    },
    gainChanged: (change) => {
      if (!closed) report([{ finding: 'gain_changed', ...change }]);
    },
    fault: (fault) => {
      if (closed) return;
      // Sending half a word now is better than sending it when the microphone is back.
      take(chunker.flush());
      post(faultEvent('capture', fault));
    },
  };
  // A room compares its two microphones, and needs short pieces for that.
  let short = cancels || deps.seat !== undefined;
  const opening = keepOpening(deps.clock, {
    open: () => deps.openCapture(sink, short),
    async opened(capture) {
      opened = capture;
      if (closed) await capture.close();
    },
    failed: (error) => post(openingFault('capture', error)),
  });
  // A microphone that neither opens nor fails is a fault too: else the silence would have no explanation.
  const isLate = (): void => {
    const message = `the microphone has not opened within ${OPENING_MS / 1000} s; the lane hears nothing until it does`;
    post(faultEvent('capture', { code: 'hung', message }));
  };
  const disarm = deps.clock.at(deps.clock.now() + OPENING_MS, isLate);
  void opening.firstTry.then(disarm, disarm);
  if (cancels) path.cancel(true);
  return {
    figures: () => opened?.figures ?? null,
    others: {
      played: (...sound) => path.references[1]?.played(...sound),
      flushed: (...sound) => path.references[1]?.flushed(...sound),
    },
    cancelEcho(on) {
      // The canceller needs short pieces, not whole chunks.
      short = on || deps.seat !== undefined;
      opened?.useShortPeriods?.(short);
      path.cancel(on);
    },
    played(pcm, heardAt, goesOn, place) {
      path.references[0]?.played(pcm, heardAt, goesOn, place);
      echo.played(pcm, heardAt, goesOn);
      watch.played(pcm);
    },
    flushed(at, place) {
      path.references[0]?.flushed(at, place);
      echo.flushed(at);
    },
    late(byMs) {
      // Informs only the echo detector: the canceller uses stream positions if it has them.
      echo.late(byMs);
    },
    async close() {
      report(watch.end());
      closed = true;
      opening.cancel();
      disarm();
      path.close();
      voices.close();
      await opened?.close();
    },
  };
}

function hearSpeech(detector: VoiceDetector, pcm: Uint8Array, rateHz: number): boolean {
  let voiced = 0;
  detector.hear(samplesOf(pcm), (isVoiced, samples) => {
    if (isVoiced) voiced += samples;
  });
  return (voiced * 1000) / rateHz >= SYLLABLE_MS;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}
