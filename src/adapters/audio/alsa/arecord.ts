import type { CaptureSink, OpenCapture } from '../../../ports/audio.ts';
import { type BatchedDelivery, createBatchedDelivery } from '../../../sound/batched-delivery.ts';
import { type CaptureChild, runCapture } from '../child/capture.ts';
import { keepCaptureGain } from './capture-gain.ts';
import { type AlsaOptions, createFormatAttempts } from './format-attempts.ts';
import { createSetupReader } from './setup.ts';

/** A chunk of the stream (milliseconds). If the period divides it, the end of a chunk is the end of a period. */
const CHUNK_MS = 320;
/**
 * Lengths of a period (milliseconds), cheapest first: each period wakes two processes. A period that does not divide the chunk
 * would delay the chunk's end by up to a period, so a shorter one is requested. At the last one, whatever the device grants
 * is accepted.
 */
const PERIODS_MS = [320, 80, 20, 10] as const;
/** Used when periods arrive in pairs, or when each must be processed before the next arrives. */
const SHORT_PERIOD = PERIODS_MS.indexOf(20);
/** Buffer of the device (milliseconds): a daemon that stalls for less loses no sound. */
const BUFFER_MS = 2000;
/** Maximum number of restarts to adjust the rate or period; after these, whatever the device grants is accepted. */
const MOST_ADJUSTMENTS = 8;

/** The capture driver `alsa`: arecord, supervised, and amixer for the gain where one is wanted. */
export function createAlsaCapture(options: AlsaOptions & { readonly gain?: number | null }): OpenCapture {
  const { device, rateHz, deps, seed, gain = null } = options;
  return async (sink: CaptureSink, shortPeriods = false) => {
    const kind = arecord(device, rateHz, shortPeriods);
    if (gain === null) return runCapture(kind, rateHz, sink, deps, seed);
    const kept = keepCaptureGain(device, gain, deps, (change) => sink.gainChanged?.(change));
    const watching: CaptureSink = {
      frames(pcm, capturedAt) {
        kept.sounds();
        sink.frames(pcm, capturedAt);
      },
      ended: () => sink.ended(),
      fault(fault) {
        kept.forget();
        sink.fault(fault);
      },
    };
    const capture = runCapture(kind, rateHz, watching, deps, seed);
    return {
      ...capture,
      async close() {
        kept.close();
        await capture.close();
      },
    };
  };
}

function arecord(device: string, rateHz: number, shortPeriods: boolean): CaptureChild {
  const attempts = createFormatAttempts(device, rateHz);
  let usesShortPeriods = shortPeriods;
  /** Index of the longest period that works with this device. */
  let needed = 0;
  /** Index of the running child's period. */
  let period = 0;
  let adjustments = 0;
  let setup = createSetupReader();
  let batchedDelivery: BatchedDelivery | null = null;
  const framesOf = (ms: number): string => String(Math.round((ms * attempts.current.rateHz) / 1000));
  return {
    device: () => ({ part: 'capture', name: device, program: 'arecord', isServer: setup.isServer }),
    shape: () => attempts.current,
    spec() {
      setup = createSetupReader();
      const { current } = attempts;
      period = usesShortPeriods ? Math.max(needed, SHORT_PERIOD) : needed;
      // `-v` makes arecord print what the device really grants.
      const words = ['arecord', '-q', '-v', '-D', current.device, '-t', 'raw', '-f', 'S16_LE'];
      const periodMs = PERIODS_MS[period] ?? CHUNK_MS;
      words.push('-r', String(current.rateHz), '-c', String(current.channels));
      words.push(`--period-size=${framesOf(periodMs)}`, `--buffer-size=${framesOf(BUFFER_MS)}`);
      return { words };
    },
    line(text) {
      const granted = setup.read(text);
      if (granted === null || adjustments >= MOST_ADJUSTMENTS) return null;
      // A card without a converter may record at a rate of its own choice.
      if (granted.rateHz !== attempts.current.rateHz) {
        attempts.accept(granted.rateHz);
        adjustments++;
        return 'again';
      }
      batchedDelivery = createBatchedDelivery(granted.periodFrames, granted.rateHz);
      const fits = ((CHUNK_MS * granted.rateHz) / 1000) % granted.periodFrames === 0;
      if (fits || period + 1 >= PERIODS_MS.length) return null;
      needed = period + 1;
      adjustments++;
      return 'again';
    },
    delivered(samples, now) {
      if (period >= SHORT_PERIOD || batchedDelivery?.note(samples, now) !== true) return null;
      needed = SHORT_PERIOD;
      return 'again';
    },
    useShortPeriods(on) {
      usesShortPeriods = on;
      // Long periods are cheaper, but not worth a gap in the sound: they apply at the next start.
      return on && period < SHORT_PERIOD ? 'again' : null;
    },
    alternative: (fault) => (fault.code === 'format' ? attempts.refuse() : null),
  };
}
