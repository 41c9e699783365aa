import { type BatchedDelivery, createBatchedDelivery } from '../../../core/audio/batched-delivery.ts';
import type { CaptureSink, OpenCapture } from '../../../ports/audio.ts';
import { type CaptureChild, runCapture } from '../child/capture.ts';
import { keepCaptureGain } from './capture-gain.ts';
import { type AlsaOptions, createFormatAttempts } from './format-attempts.ts';
import { createSetupReader } from './setup.ts';

/** A chunk of the stream: when periods fit into it, its last sample comes with the last period and never waits. */
const CHUNK_MS = 320;
/**
 * Lengths of a period, the cheapest first: each wakes two processes once per period. One that does not fit into a chunk
 * would hold its end back by up to a period, so a shorter one is asked for, the last of which is taken as it comes.
 */
const PERIODS_MS = [320, 80, 20, 10] as const;
/** Where periods come in bunches of two, or each is worked on before the next comes, they have to be short. */
const SHORT_PERIOD = PERIODS_MS.indexOf(20);
/** A daemon that is held up for less than this loses nothing. */
const BUFFER_MS = 2000;
/** A device that answers differently each time is taken as it comes. */
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
  /** What the device needs, whatever is asked for. */
  let needed = 0;
  /** Of the child that runs. */
  let period = 0;
  let adjustments = 0;
  let setup = createSetupReader();
  let batchedDelivery: BatchedDelivery | null = null;
  const framesOf = (ms: number): string => String(Math.round((ms * attempts.current.rateHz) / 1000));
  return {
    device: () => ({ part: 'capture', name: device, program: 'arecord' }),
    shape: () => attempts.current,
    spec() {
      setup = createSetupReader();
      const { current } = attempts;
      period = usesShortPeriods ? Math.max(needed, SHORT_PERIOD) : needed;
      // `-v` makes it tell what the device really grants.
      const words = ['arecord', '-q', '-v', '-D', current.device, '-t', 'raw', '-f', 'S16_LE'];
      const periodMs = PERIODS_MS[period] ?? CHUNK_MS;
      words.push('-r', String(current.rateHz), '-c', String(current.channels));
      words.push(`--period-size=${framesOf(periodMs)}`, `--buffer-size=${framesOf(BUFFER_MS)}`);
      return { words };
    },
    line(text) {
      const granted = setup.read(text);
      if (granted === null || adjustments >= MOST_ADJUSTMENTS) return null;
      // Without a converter a card may answer with a rate of its own, and record all the same.
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
      // Long periods cost less, but not this much that sound should be lost for them: they come with the next start.
      return on && period < SHORT_PERIOD ? 'again' : null;
    },
    alternative: (fault) => (fault.code === 'format' ? attempts.refuse() : null),
  };
}
