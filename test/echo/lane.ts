import { createEchoFilter } from '../../src/adapters/echo/echo-filter.ts';
import { CapturePipeline } from '../../src/device/lane/runner/capture-pipeline.ts';
import type { LaneEvent } from '../../src/device/lane/state/lane-event.ts';
import { LANE_DEFAULTS } from '../../src/device/lane/state/lane-options.ts';
import type { CaptureSink, Place } from '../../src/ports/audio.ts';
import type { OpenEchoCanceller } from '../../src/ports/echo.ts';
import type { Log } from '../../src/ports/log.ts';
import { createEnergyDetector } from '../../src/sound/energy-detector.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { RATE_HZ } from '../voices/recordings.ts';
import { createEchoState, type Told } from './echo-state.ts';

const quiet = (): void => {};
const LOG: Log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
const { chunkMs } = LANE_DEFAULTS;
export const CHUNK_SAMPLES = (RATE_HZ * chunkMs) / 1000;

/** A lane with echo cancelling: the shipped pipeline from the microphone through the canceller, and the lane's echo logic. */
export interface EchoLane {
  readonly told: readonly Told[];
  /** The canceller's estimate of the clock difference (share). */
  readonly drift: number;
  /** Computation time of the canceller for each piece (ms of this machine). */
  readonly workMs: readonly number[];
  played(pcm: Uint8Array, heardAt: number, goesOn: boolean, place: Place): void;
  captured(pcm: Uint8Array, capturedAt: number): void;
  close(): Promise<void>;
}

export interface EchoLaneOptions {
  /** Whether the canceller is secretly off at that moment. */
  isOff(now: number): boolean;
  /** A chunk to send. `isOpen`: it is sent even while the loudspeaker plays. `isCancelled`: it went through the canceller. */
  chunk(pcm: Uint8Array, isOpen: boolean, isCancelled: boolean): void;
}

export function createEchoLane({ isOff, chunk }: EchoLaneOptions): EchoLane {
  const workMs: number[] = [];
  let now = 0;
  let sink: CaptureSink | null = null;
  let drift = (): number => 0;
  let isCancelling = false;
  const echo = createEchoState((on) => pipeline.cancelEcho(on));
  const post = (event: LaneEvent): void => {
    if (event.type === 'captured') chunk(event.pcm, echo.isOpen, isCancelling);
    echo.hear(event, now);
  };
  /** The canceller without a thread: it returns each piece at once. */
  const openEchoCanceller: OpenEchoCanceller = (rates, out) => {
    const filter = createEchoFilter(rates);
    drift = () => filter.drift;
    isCancelling = true;
    out.ready();
    return {
      played: filter.played,
      flushed: filter.flushed,
      captured(pcm, capturedAt) {
        const beganAt = performance.now();
        const known = filter.found;
        const left = filter.filter(pcm, capturedAt);
        if (!filter.rests) workMs.push(performance.now() - beganAt);
        if (filter.found !== known) out.found();
        out.frames(isOff(now) ? pcm : left.pcm, left.capturedAt);
      },
      close() {
        isCancelling = false;
      },
    };
  };
  const pipeline = new CapturePipeline({
    lane: 'main',
    clock: createVirtualClock(),
    log: LOG,
    rateHz: RATE_HZ,
    playedRateHz: RATE_HZ,
    chunkMs,
    createVoiceDetector: createEnergyDetector,
    openEchoCanceller,
    cancelEcho: true,
    post,
    openCapture: async (given) => {
      sink = given;
      return { close: async () => {} };
    },
  });
  pipeline.open();
  return {
    told: echo.told,
    workMs,
    get drift() {
      return drift();
    },
    played(pcm, heardAt, goesOn, place) {
      echo.played(pcm);
      pipeline.played(pcm, heardAt, goesOn, place);
    },
    captured(pcm, capturedAt) {
      now = capturedAt;
      sink?.frames(pcm, capturedAt);
    },
    close: () => pipeline.close(),
  };
}
