import { BYTES_PER_SAMPLE, sampleCount, silence } from '../../core/audio/pcm.ts';
import type { OpenPlayback, Playback, PlaybackSink } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import { AudioFaultError } from './fault.ts';
import { createWavWriter } from './wav-writer.ts';

export interface FilePlaybackOptions {
  /** The WAV file to write, mono 16-bit; an older one is replaced. */
  readonly path: string;
  readonly rateHz: number;
  readonly clock: Clock;
  /** Smaller limits are for tests. */
  readonly maxDataBytes?: number;
}

/** How often the file grows: a killed process loses no more than this. */
const TICK_MS = 100;
/** Waiting sound beyond this is refused: a writer that is faster than real time forever must not fill the memory. */
const MAX_WAITING_S = 60;

/**
 * The playback driver `file`: a timeline of everything a loudspeaker would have sounded since it was opened, silence
 * where nothing played, written in real time by the clock. Problems with the file become faults, once each, while
 * writing is tried again at every step; time and `write` go on as if nothing had happened.
 */
export function createFilePlayback(options: FilePlaybackOptions): OpenPlayback {
  return async (sink) => startPlayback(options, sink);
}

function startPlayback(options: FilePlaybackOptions, sink: PlaybackSink): Playback {
  const { path, rateHz, clock } = options;
  const startedAt = clock.now();
  const writer = createWavWriter(path, options);
  const waiting: Uint8Array[] = [];
  /** Places on the timeline, in samples: up to where it is in the file, and where the waiting sound begins and ends. */
  let rendered = 0;
  let waitingFrom = 0;
  let waitingUntil = 0;
  /** The fault that was told last, until writing works again. */
  let toldFault = '';
  let overflowing = false;
  let closed = false;
  let cancel = (): void => {};

  const placeAt = (now: number): number => ((now - startedAt) * rateHz) / 1000;
  const append = (pcm: Uint8Array): void => {
    try {
      writer.append(pcm);
      recovered();
    } catch (error) {
      if (!(error instanceof AudioFaultError)) throw error;
      if (error.message !== toldFault) sink.fault(error);
      toldFault = error.message;
    }
  };
  /** It writes again, and has room. */
  const recovered = (): void => {
    const wasTold = toldFault !== '';
    toldFault = '';
    if (wasTold && !overflowing) sink.back();
  };
  const refuse = (): void => {
    const message = `more than ${MAX_WAITING_S} s of sound is waiting for ${path}; what comes on top is dropped`;
    if (!overflowing) sink.fault({ code: 'failed', message });
    overflowing = true;
  };
  /** Moves what has been heard by now into the file. */
  const render = (): void => {
    if (closed) return;
    const until = Math.floor(placeAt(clock.now()));
    while (rendered < until) {
      const samples = Math.min(until - rendered, rateHz);
      const pcm = silence(samples * BYTES_PER_SAMPLE);
      const soundFrom = Math.max(waitingFrom, rendered);
      if (soundFrom < Math.min(waitingUntil, rendered + samples)) {
        const place = (soundFrom - rendered) * BYTES_PER_SAMPLE;
        waitingFrom = soundFrom + takeInto(pcm.subarray(place), waiting) / BYTES_PER_SAMPLE;
      }
      rendered += samples;
      append(pcm);
    }
  };
  const tick = (): void => {
    cancel = clock.at(clock.now() + TICK_MS, () => {
      render();
      if (!closed) tick();
    });
  };
  tick();

  return {
    mixer: null,
    seamless: true,
    write(pcm) {
      const next = Math.max(waitingUntil, Math.ceil(placeAt(clock.now())));
      const heardAt = startedAt + (next * 1000) / rateHz;
      const samples = sampleCount(pcm);
      if (closed || samples === 0) return heardAt;
      if (next + samples - placeAt(clock.now()) > MAX_WAITING_S * rateHz) {
        refuse();
        return heardAt;
      }
      if (overflowing) {
        overflowing = false;
        if (toldFault === '') sink.back();
      }
      if (next > waitingUntil) {
        render(); // So that the pause between old and new sound does not vanish.
        waitingFrom = next;
      }
      waitingUntil = next + samples;
      waiting.push(pcm.subarray(0, samples * BYTES_PER_SAMPLE));
      return heardAt;
    },
    flush() {
      render();
      // The sample that sounds at this very moment is heard to its end.
      const begun = Math.min(Math.ceil(placeAt(clock.now())), waitingUntil) - waitingFrom;
      const kept = silence(Math.max(0, begun) * BYTES_PER_SAMPLE);
      takeInto(kept, waiting);
      waiting.splice(0, waiting.length, kept);
      waitingUntil = waitingFrom + sampleCount(kept);
    },
    async close() {
      if (closed) return;
      render();
      closed = true;
      cancel();
      writer.close();
    },
  };
}

/** Moves as much of the queue's front as fits; returns the bytes moved. */
function takeInto(target: Uint8Array, queue: Uint8Array[]): number {
  let filled = 0;
  while (filled < target.length) {
    const block = queue.shift();
    if (block === undefined) break;
    const room = target.length - filled;
    if (block.length > room) queue.unshift(block.subarray(room));
    target.set(block.subarray(0, room), filled);
    filled += Math.min(room, block.length);
  }
  return filled;
}
