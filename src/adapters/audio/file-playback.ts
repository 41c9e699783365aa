import type { OpenPlayback, Playback, PlaybackSink, Written } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import { fadeOut } from '../../sound/fade.ts';
import { BYTES_PER_SAMPLE, sampleCount, silence } from '../../sound/pcm.ts';
import { createPcmQueue } from '../../sound/pcm-queue.ts';
import { CAPACITY_MS } from '../../sound/playback-buffer/limits.ts';
import { AudioFaultError } from './fault.ts';
import { createWavWriter } from './wav-writer.ts';

export interface FilePlaybackOptions {
  /** The WAV file to write, mono 16-bit; an older one of this program is replaced. */
  readonly path: string;
  /** Replace a file of another program, too. */
  readonly overwrite?: boolean;
  readonly rateHz: number;
  readonly clock: Clock;
  /** Maximum length of the file (ms): then it continues at its beginning, over the oldest sound. */
  readonly maxMs: number;
}

/** Interval at which the file grows (milliseconds): a killed process loses no more than this. */
const TICK_MS = 100;
/** Sound after a flush that is faded out (milliseconds). */
const FADE_MS = 8;

/**
 * The playback driver `file`: a timeline of everything that a loudspeaker would have played since it was opened, written in
 * real time. Silence fills the gaps. Each problem with the file causes one fault, and every step tries to write again;
 * time and `write` go on as usual.
 */
export function createFilePlayback(options: FilePlaybackOptions): OpenPlayback {
  return async (sink) => startPlayback(options, sink);
}

type Report = (news: () => void) => void;
const AT_ONCE: Report = (news) => news();

function startPlayback(options: FilePlaybackOptions, sink: PlaybackSink): Playback {
  const { path, rateHz, clock } = options;
  const startedAt = clock.now();
  const writer = createWavWriter(path, options);
  const waiting = createPcmQueue();
  /** Positions on the timeline, in samples: how far the file reaches, and where the waiting sound begins and ends. */
  let rendered = 0;
  let waitingFrom = 0;
  let waitingUntil = 0;
  /** Message of the last reported fault; empty while writing works. */
  let reportedFault = '';
  let overflowing = false;
  let closed = false;
  let cancel = (): void => {};

  const placeAt = (now: number): number => ((now - startedAt) * rateHz) / 1000;
  const timeOf = (place: number): number => startedAt + (place * 1000) / rateHz;
  /** Defers the report of a change that is noticed during a write or flush until that call has returned. */
  const later: Report = (news) => queueMicrotask(() => closed || news());
  const append = (pcm: Uint8Array, report: Report): void => {
    try {
      writer.append(pcm);
      recovered(report);
    } catch (error) {
      if (!(error instanceof AudioFaultError)) throw error;
      if (error.message !== reportedFault) report(() => sink.fault(error));
      reportedFault = error.message;
    }
  };
  /** Writing works: reports the recovery, unless sound is being dropped. */
  const recovered = (report: Report): void => {
    const wasFaulty = reportedFault !== '';
    reportedFault = '';
    if (wasFaulty && !overflowing) report(() => sink.back());
  };
  const refuse = (): void => {
    const message = `more than ${CAPACITY_MS / 1000} s of sound is waiting for ${path}; further sound is dropped`;
    if (!overflowing) later(() => sink.fault({ code: 'failed', message }));
    overflowing = true;
  };
  /** Moves the sound that has been heard by now into the file. */
  const render = (report: Report): void => {
    if (closed) return;
    const until = Math.floor(placeAt(clock.now()));
    while (rendered < until) {
      const samples = Math.min(until - rendered, rateHz);
      const pcm = silence(samples * BYTES_PER_SAMPLE);
      const soundFrom = Math.max(waitingFrom, rendered);
      if (soundFrom < Math.min(waitingUntil, rendered + samples)) {
        const place = (soundFrom - rendered) * BYTES_PER_SAMPLE;
        const sound = waiting.take(pcm.byteLength - place);
        pcm.set(sound, place);
        waitingFrom = soundFrom + sampleCount(sound);
      }
      rendered += samples;
      append(pcm, report);
    }
  };
  const tick = (): void => {
    cancel = clock.at(clock.now() + TICK_MS, () => {
      render(AT_ONCE);
      if (!closed) tick();
    });
  };
  tick();

  return {
    mixer: null,
    write(pcm) {
      const next = Math.max(waitingUntil, Math.ceil(placeAt(clock.now())));
      const samples = sampleCount(pcm);
      const written = (until: number): Written => ({ from: timeOf(next), until: timeOf(until) });
      if (closed || samples === 0) return written(next);
      if (next + samples - placeAt(clock.now()) > (CAPACITY_MS * rateHz) / 1000) {
        refuse();
        return written(next);
      }
      if (overflowing) {
        overflowing = false;
        if (reportedFault === '') later(() => sink.back());
      }
      if (next > waitingUntil) {
        render(later); // Keeps the pause between old and new sound.
        waitingFrom = next;
      }
      waitingUntil = next + samples;
      waiting.push(pcm.subarray(0, samples * BYTES_PER_SAMPLE));
      return written(waitingUntil);
    },
    flush() {
      render(later);
      // The sample that sounds at this moment is played whole.
      const place = placeAt(clock.now());
      const begun = Math.min(Math.ceil(place), waitingUntil) - waitingFrom;
      const kept = waiting.take(Math.max(0, begun) * BYTES_PER_SAMPLE);
      const fadeSamples = waitingFrom <= place ? Math.round((FADE_MS * rateHz) / 1000) : 0;
      const edge = fadeOut(waiting.take(fadeSamples * BYTES_PER_SAMPLE));
      waiting.clear();
      waiting.push(kept);
      waiting.push(edge);
      waitingUntil = waitingFrom + waiting.bytes / BYTES_PER_SAMPLE;
    },
    async close() {
      if (closed) return;
      render(later);
      closed = true;
      cancel();
      writer.close();
    },
  };
}
