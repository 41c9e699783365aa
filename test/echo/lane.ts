import { createEchoFilter } from '../../src/adapters/echo/echo-filter.ts';
import { CapturePipeline } from '../../src/agent/lane/capture-pipeline.ts';
import { createEnergyDetector } from '../../src/core/audio/energy-detector.ts';
import type { LaneEvent } from '../../src/core/lane/event.ts';
import { LANE_DEFAULTS } from '../../src/core/lane/lane-options.ts';
import type { CaptureSink, Place } from '../../src/ports/audio.ts';
import type { OpenEchoCanceller } from '../../src/ports/echo.ts';
import type { Log } from '../../src/ports/log.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { RATE_HZ } from '../voices/recordings.ts';
import { createEchoState, type Told } from './echo-state.ts';

const quiet = (): void => {};
const LOG: Log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
const { chunkMs } = LANE_DEFAULTS;
export const CHUNK_SAMPLES = (RATE_HZ * chunkMs) / 1000;

/** A lane that cancels its echo: the shipped way from the microphone through the canceller, and the lane's own judgement of it. */
export interface EchoLane {
  readonly told: readonly Told[];
  /** Clocks apart as the canceller knows them, share. */
  readonly drift: number;
  /** How long the canceller took for each piece that it worked on, milliseconds of this machine. */
  readonly workMs: readonly number[];
  played(pcm: Uint8Array, heardAt: number, goesOn: boolean, place: Place): void;
  captured(pcm: Uint8Array, capturedAt: number): void;
  close(): Promise<void>;
}

export interface EchoLaneOptions {
  /** The canceller does nothing at that moment, and does not tell. */
  isOff(now: number): boolean;
  /** A chunk as it would be sent; `isOpen`: also while the loudspeaker sounds. `isCancelled`: it has been through the canceller. */
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
  /** Without a thread of its own: what it is given it gives back at once. */
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
    ...{
      lane: 'main',
      clock: createVirtualClock(),
      log: LOG,
      rateHz: RATE_HZ,
      playedRateHz: RATE_HZ,
      chunkMs,
    },
    ...{ createVoiceDetector: createEnergyDetector, openEchoCanceller, cancelEcho: true, post },
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
