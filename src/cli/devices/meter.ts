import type { AudioFault, Capture, OpenCapture } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CreateVoiceDetector } from '../../ports/voice.ts';
import { BYTES_PER_SAMPLE } from '../../sound/pcm.ts';
import { createListener, type Reading } from './listener.ts';

/** Output of a meter. */
export interface MeterView {
  /** Interval between readings (ms). */
  readonly everyMs: number;
  /** True: each reading covers one interval of sound, so that long pieces are shown smoothly. False: all new sound. */
  readonly isEven: boolean;
  /**
   * Shows a reading; an empty one means that there was no sound for a while.
   * @param at milliseconds since the start of the meter
   */
  show(reading: Reading, at: number): void;
  /** Shows that the microphone has failed; the meter waits for it. */
  fault(fault: AudioFault): void;
  /** Ends the view; called last. */
  end(total: Reading): void;
}

export interface MeterOptions {
  readonly openCapture: OpenCapture;
  readonly createVoiceDetector: CreateVoiceDetector;
  /** Sample rate of the capture. */
  readonly rateHz: number;
  readonly clock: Clock;
  readonly view: MeterView;
  /** Maximum run time; null: until `askedToEnd`. */
  readonly limitMs: number | null;
  readonly askedToEnd: Promise<void>;
}

/** Result of a meter. */
export interface MeterEnd {
  readonly total: Reading;
  /** Why no sound ever arrived; null if some arrived, or if the meter ended first. */
  readonly fault: AudioFault | null;
}

/** Gap after which the device counts as delivering nothing (ms). Pieces are up to a third of a second long. */
const QUIET_MS = 1000;
/** Maximum lag of a view with `isEven` (ms); beyond it the view catches up. */
const LONGEST_LAG_MS = 600;

/**
 * Shows the level of a microphone until the time limit or a signal. It ends at once if the microphone cannot be opened. If the
 * microphone fails later, it waits.
 */
export async function runMeter(options: MeterOptions): Promise<MeterEnd> {
  const { openCapture, createVoiceDetector, rateHz, clock, view, limitMs, askedToEnd } = options;
  const bytesOf = (ms: number): number => Math.round((ms * rateHz) / 1000) * BYTES_PER_SAMPLE;
  const detector = createVoiceDetector(rateHz);
  const listener = createListener(rateHz, detector);
  const waiting = createQueue();
  let lastHeardAt: number | null = null;
  let startedAt = clock.now();
  let isOver = false;
  let cancelTick = (): void => {};
  const { promise: failed, resolve: fail } = withResolver<AudioFault>();
  const { promise: timeOver, resolve: endTime } = withResolver<null>();

  const read = (now: number): void => {
    const window = bytesOf(view.everyMs);
    const isShort = view.isEven ? waiting.bytes < window : waiting.bytes === 0;
    if (isShort) {
      if (now - (lastHeardAt ?? startedAt) >= QUIET_MS) view.show(listener.take(), now - startedAt);
      return;
    }
    const late = waiting.bytes - bytesOf(LONGEST_LAG_MS);
    for (const pcm of waiting.take(view.isEven ? Math.max(window, late) : waiting.bytes)) listener.hear(pcm);
    view.show(listener.take(), now - startedAt);
  };
  const tick = (due: number, limitAt: number): void => {
    cancelTick = clock.at(Math.min(due, limitAt), () => {
      const now = clock.now();
      read(now);
      if (now >= limitAt) return endTime(null);
      // From the planned time, so that a late timer does not delay all later ones.
      tick(Math.max(due + view.everyMs, now), limitAt);
    });
  };
  const end = (): Reading => {
    for (const pcm of waiting.take(waiting.bytes)) listener.hear(pcm);
    return listener.total();
  };

  let capture: Capture | null = null;
  try {
    capture = await openCapture({
      frames(pcm) {
        if (isOver) return;
        lastHeardAt = clock.now();
        waiting.put(pcm);
      },
      ended: () => {},
      fault(fault) {
        if (isOver) return;
        if (lastHeardAt === null) fail(fault);
        else view.fault(fault);
      },
    });
    startedAt = clock.now();
    tick(startedAt + view.everyMs, limitMs === null ? Number.POSITIVE_INFINITY : startedAt + limitMs);
    const fault = await Promise.race([failed, timeOver, askedToEnd.then(() => null)]);
    isOver = true;
    return { total: end(), fault };
  } finally {
    isOver = true;
    cancelTick();
    view.end(end());
    await capture?.close();
    detector.close();
  }
}

/** A queue of sound that is read in other sizes than it was written. */
function createQueue() {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    put(pcm: Uint8Array): void {
      pieces.push(pcm);
      bytes += pcm.byteLength;
    },
    take(wanted: number): Uint8Array[] {
      const taken: Uint8Array[] = [];
      let missing = wanted;
      for (let piece = pieces[0]; piece !== undefined && missing > 0; piece = pieces[0]) {
        const part = piece.subarray(0, missing);
        taken.push(part);
        missing -= part.byteLength;
        bytes -= part.byteLength;
        if (part.byteLength === piece.byteLength) pieces = pieces.slice(1);
        else pieces[0] = piece.subarray(part.byteLength);
      }
      return taken;
    },
  };
}

function withResolver<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve = (_value: T): void => {};
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
