import type { Clock } from '../../ports/clock.ts';
import { createLateness, type LatenessSummary } from '../core/lateness.ts';
import type { RenderJob } from '../core/render.ts';
import type { Speak } from '../speak.ts';
import type { SpeechMaker } from './speech-thread.ts';

/** Most sentences that wait, and most bytes of their sound; further sentences get no speech. */
const MOST_JOBS = 4000;
const MOST_WAITING_BYTES = 128 * 1024 * 1024;
/** Most speech engines that run at once. */
const MOST_SPEAKING = 4;
/** Number of delays in the figures. */
const REMEMBERED = 1024;

/** The part about speech in `GET /emulator/metrics`. */
export interface SpeechFigures {
  readonly thread: boolean;
  /** Number of sentences that wait for their speech. */
  readonly waiting: number;
  /** Time from a sentence's end until its speech is synthesised. */
  readonly late_ms: LatenessSummary;
  /** Number of sentences that were dropped because the queue was full. */
  readonly dropped: number;
}

/** Makes speech, first order first; bounded. */
export interface SpeechQueue {
  /** Takes an order; false if the queue is full. */
  put(job: RenderJob): boolean;
  readonly isIdle: boolean;
  figures(): SpeechFigures;
  close(): void;
}

export interface SpeechQueueSetup {
  readonly clock: Clock;
  readonly maker: SpeechMaker;
  /** The speech engine, if one is installed. */
  readonly speak: Speak | null;
  /** Whether a stream still needs its speech. */
  readonly isWanted: (stream: string) => boolean;
  readonly finished: (job: RenderJob, pcm: Uint8Array) => void;
}

const NOTHING = new Uint8Array(0);

export function createSpeechQueue(setup: SpeechQueueSetup): SpeechQueue {
  const { clock, maker, speak } = setup;
  const lateness = createLateness(REMEMBERED);
  let jobs: { job: RenderJob; at: number }[] = [];
  let head = 0;
  let waitingBytes = 0;
  let making = 0;
  let speaking = 0;
  let dropped = 0;
  let isWorkPlanned = false;
  let closed = false;

  const waiting = (): number => jobs.length - head;

  const take = (): { job: RenderJob; at: number } | undefined => {
    const first = jobs[head];
    if (first === undefined) return undefined;
    head++;
    if (head > 64) {
      jobs = jobs.slice(head);
      head = 0;
    }
    waitingBytes -= first.job.spoken.byteLength;
    return first;
  };

  const deliver = (job: RenderJob, at: number, pcm: Uint8Array): void => {
    if (closed) return;
    lateness.add(clock.now() - at);
    setup.finished(job, pcm);
    workSoon();
  };

  const start = (job: RenderJob, at: number): void => {
    if (job.mode === 'speak' && speak !== null) {
      speaking++;
      void speak(job)
        .catch(() => maker.make(job))
        .then((pcm) => {
          speaking--;
          deliver(job, at, pcm);
        });
      return;
    }
    making++;
    void maker.make(job).then((pcm) => {
      making--;
      deliver(job, at, pcm);
    });
  };

  const work = (): void => {
    isWorkPlanned = false;
    while (!closed && making < maker.atOnce && speaking < MOST_SPEAKING) {
      const next = take();
      if (next === undefined) return;
      if (setup.isWanted(next.job.stream)) start(next.job, next.at);
      else setup.finished(next.job, NOTHING);
    }
  };

  /** Works in a later turn of the event loop, so that results never arrive inside the call of `put`. */
  const workSoon = (): void => {
    if (isWorkPlanned || waiting() === 0) return;
    isWorkPlanned = true;
    setImmediate(work);
  };

  return {
    put(job) {
      if (waiting() >= MOST_JOBS || waitingBytes > MOST_WAITING_BYTES) {
        dropped++;
        return false;
      }
      jobs.push({ job, at: clock.now() });
      waitingBytes += job.spoken.byteLength;
      workSoon();
      return true;
    },
    get isIdle() {
      return waiting() === 0 && making === 0 && speaking === 0;
    },
    figures: () => ({
      thread: maker.thread,
      waiting: waiting() + making + speaking,
      late_ms: lateness.summary(),
      dropped,
    }),
    close() {
      closed = true;
      jobs = [];
      head = 0;
      maker.close();
    },
  };
}
