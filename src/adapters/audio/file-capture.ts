import type { Capture, CaptureSink, OpenCapture } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import { BYTES_PER_SAMPLE, durationMs, silence } from '../../sound/pcm.ts';
import { AudioFaultError } from './fault.ts';
import { openSource, type SoundSource } from './sound-source.ts';

export interface FileCaptureOptions {
  /** A WAV file of any rate, 1-8 channels. */
  readonly path: string;
  /** Repeat the file without a seam; otherwise silence follows it. */
  readonly loop: boolean;
  /** The rate at which sound is delivered; a mono 16-bit file of this rate is delivered bit-exact. */
  readonly rateHz: number;
  readonly clock: Clock;
  /** Sound per delivery (milliseconds), 20 by default. */
  readonly pieceMs?: number;
  /** Receives a sentence about the file's sound when it is unusual. */
  readonly note?: (sentence: string) => void;
}

/**
 * The capture driver `file`: a WAV file as a microphone would deliver it, in real time by the clock.
 * Opening throws an `AudioFaultError` when the file cannot be used at all.
 */
export function createFileCapture(options: FileCaptureOptions): OpenCapture {
  return async (sink) => {
    const source = await openSource(options.path, options);
    if (source.note !== null) options.note?.(source.note);
    return startCapture(source, options, sink);
  };
}

type Pacing = Pick<FileCaptureOptions, 'rateHz' | 'clock' | 'pieceMs'>;

/**
 * Delivers a source in real time. While it cannot be read, silence is delivered and the same sound is requested again with
 * the next piece. Each outage causes one fault.
 */
export function startCapture(source: SoundSource, options: Pacing, sink: CaptureSink): Capture {
  const { clock, rateHz, pieceMs = 20 } = options;
  const startedAt = clock.now();
  let piece = 0;
  let ended = false;
  let faulty = false;
  let closed = false;
  let cancel = (): void => {};

  // Every position is calculated from the start: a late timer delays one piece, not the later ones.
  const samplesUntil = (pieces: number): number => Math.round((pieces * pieceMs * rateHz) / 1000);
  const endOf = (pieces: number): number =>
    startedAt + durationMs(samplesUntil(pieces) * BYTES_PER_SAMPLE, rateHz);

  const read = (samples: number): Uint8Array => {
    if (source.ended) return silence(samples * BYTES_PER_SAMPLE);
    let sound: Uint8Array = silence(0);
    try {
      sound = source.read(samples);
      faulty = false;
    } catch (error) {
      if (!(error instanceof AudioFaultError)) throw error;
      if (!faulty) sink.fault(error);
      faulty = true;
    }
    return sound.length === samples * BYTES_PER_SAMPLE ? sound : padded(sound, samples);
  };
  const deliver = (): void => {
    const capturedAt = endOf(piece + 1);
    const pcm = read(samplesUntil(piece + 1) - samplesUntil(piece));
    piece += 1;
    if (closed) return;
    sink.frames(pcm, capturedAt);
    if (closed || ended || !source.ended) return;
    ended = true;
    sink.ended();
  };
  const arm = (): void => {
    cancel = clock.at(endOf(piece + 1), () => {
      while (!closed && endOf(piece + 1) <= clock.now()) deliver();
      if (!closed) arm();
    });
  };
  arm();

  return {
    async close() {
      if (closed) return;
      closed = true;
      cancel();
      source.close();
    },
  };
}

function padded(sound: Uint8Array, samples: number): Uint8Array {
  const pcm = silence(samples * BYTES_PER_SAMPLE);
  pcm.set(sound);
  return pcm;
}
