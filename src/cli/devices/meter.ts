import { BYTES_PER_SAMPLE } from '../../core/audio/pcm.ts';
import type { AudioFault, Capture, OpenCapture } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CreateVoiceDetector } from '../../ports/voice.ts';
import { createListener, type Reading } from './listener.ts';

/** Where a meter shows what it reads. */
export interface MeterView {
  /** How often it wants a reading, milliseconds. */
  readonly everyMs: number;
  /** It wants readings of just this much sound, so that sound that comes in long pieces moves as it was; else of all there is. */
  readonly isEven: boolean;
  /**
   * A reading of nothing: no sound has come for a while.
   * @param at milliseconds since the meter began
   */
  show(reading: Reading, at: number): void;
  /** The microphone went away; it is waited for. */
  trouble(fault: AudioFault): void;
  /** Nothing is shown after this. */
  end(total: Reading): void;
}

export interface MeterOptions {
  readonly openCapture: OpenCapture;
  readonly createVoiceDetector: CreateVoiceDetector;
  /** Of the sound that the capture delivers. */
  readonly rateHz: number;
  readonly clock: Clock;
  readonly view: MeterView;
  /** How long it runs; null until it is asked to end. */
  readonly limitMs: number | null;
  readonly askedToEnd: Promise<void>;
}

/** What a meter came to. */
export interface MeterEnd {
  readonly total: Reading;
  /** Why there has never been any sound; null where there has, or where nobody waited for it. */
  readonly fault: AudioFault | null;
}

/** Devices deliver pieces of up to a third of a second: no sound for this long is none. */
const QUIET_MS = 1000;
/** An even view that is further behind than this catches up. */
const LONGEST_LAG_MS = 600;

/**
 * Shows the level of a microphone until its time is over or somebody ends it. A microphone that can't be opened ends it
 * at once; one that goes away later is waited for.
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
      // Counted from the plan, so that a late timer does not shift all that follow.
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
        else view.trouble(fault);
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

/** Sound in the order in which it came, taken in other pieces than it came in. */
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
