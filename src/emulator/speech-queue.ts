import type { Clock } from '../ports/clock.ts';
import { createLateness, type LatenessSummary } from './core/lateness.ts';
import { type RenderJob, render } from './core/render.ts';
import type { Speak } from './speak.ts';

/** Maximum number of sentences that wait; further sentences get no speech. */
const MOST_JOBS = 1000;
/** Maximum number of speech engines that run at once. */
const MOST_SPEAKING = 4;
/** Number of delays in the figures. */
const REMEMBERED = 1024;

/** The part about speech in `GET /emulator/metrics`. */
export interface SpeechFigures {
  /** Number of sentences that wait for their speech. */
  readonly waiting: number;
  /** Time from a sentence's end until its speech is synthesised. */
  readonly late_ms: LatenessSummary;
  /** Number of sentences that were dropped because the queue was full. */
  readonly dropped: number;
}

/** A bounded first-in first-out queue of speech to synthesise. */
export interface SpeechQueue {
  /** Takes an order; false if the queue is full. */
  put(job: RenderJob): boolean;
  readonly isIdle: boolean;
  figures(): SpeechFigures;
  close(): void;
}

export interface SpeechQueueSetup {
  readonly clock: Clock;
  /** The speech engine, if one is installed. */
  readonly speak: Speak | null;
  /** Whether a stream still needs its speech. */
  readonly isWanted: (stream: string) => boolean;
  readonly finished: (job: RenderJob, pcm: Uint8Array) => void;
}

export function createSpeechQueue({ clock, speak, isWanted, finished }: SpeechQueueSetup): SpeechQueue {
  const lateness = createLateness(REMEMBERED);
  let jobs: { job: RenderJob; at: number }[] = [];
  let speaking = 0;
  let dropped = 0;
  let isWorkPlanned = false;
  let isClosed = false;

  const deliver = (job: RenderJob, at: number, pcm: Uint8Array): void => {
    if (isClosed) return;
    lateness.add(clock.now() - at);
    finished(job, pcm);
    workSoon();
  };

  /** Makes the next speech: one in each turn of the event loop, so that sockets are served in between. */
  const work = (): void => {
    isWorkPlanned = false;
    if (isClosed || speaking >= MOST_SPEAKING) return;
    const next = jobs.shift();
    if (next === undefined) return;
    const { job, at } = next;
    if (!isWanted(job.stream)) deliver(job, at, new Uint8Array(0));
    else if (job.mode !== 'speak' || speak === null) deliver(job, at, render(job));
    else {
      speaking++;
      void speak(job)
        .catch(() => render(job))
        .then((pcm) => {
          speaking--;
          deliver(job, at, pcm);
        });
      workSoon();
    }
  };

  const workSoon = (): void => {
    if (isWorkPlanned || jobs.length === 0) return;
    isWorkPlanned = true;
    setImmediate(work);
  };

  return {
    put(job) {
      if (jobs.length >= MOST_JOBS) {
        dropped++;
        return false;
      }
      jobs.push({ job, at: clock.now() });
      workSoon();
      return true;
    },
    get isIdle() {
      return jobs.length === 0 && speaking === 0;
    },
    figures: () => ({ waiting: jobs.length + speaking, late_ms: lateness.summary(), dropped }),
    close() {
      isClosed = true;
      jobs = [];
    },
  };
}
