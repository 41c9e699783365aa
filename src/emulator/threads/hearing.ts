import { Worker } from 'node:worker_threads';
import { endWorker } from '../../adapters/worker-end.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CreateVoiceDetector, VoiceDetector } from '../../ports/voice.ts';
import type { CreateDetector } from '../core/interpreter.ts';
import { createLateness, type LatenessSummary } from '../core/lateness.ts';
import type { SegmentDetector } from '../core/segmenter.ts';
import type { Decided, FromHearing, HearingStep } from './message.ts';

/** Most sound (bytes) that waits for the detector; further sound counts as silence. */
const MOST_WAITING_BYTES = 192 * 1024 * 1024;
/** Number of delays in the figures. */
const REMEMBERED = 4096;

/** The part about hearing in `GET /emulator/metrics`. */
export interface HearingFigures {
  readonly thread: boolean;
  /** Number of pieces of sound that wait for a decision. */
  readonly waiting: number;
  /** Time from a piece's arrival to its decision. */
  readonly late_ms: LatenessSummary;
  /** Sound (ms) that was skipped because the queue was full. */
  readonly unheard_ms: number;
}

/** Detects voice, in another thread if there is one. */
export interface Hearing {
  readonly createDetector: CreateDetector;
  readonly isIdle: boolean;
  figures(): HearingFigures;
  close(): void;
}

export interface HearingSetup {
  readonly clock: Clock;
  /** The thread's code; null: no thread. */
  readonly thread: URL | null;
  /** Makes detectors in this thread, if there is no other thread or it has failed. */
  readonly createHere: CreateVoiceDetector;
  /** The detectors of these streams have decided. */
  readonly decided: (streams: ReadonlySet<string>) => void;
  readonly complain: (sentence: string) => void;
}

/** A stream's handle of a detector in the thread. */
interface Remote {
  readonly stream: string;
  readonly rateHz: number;
  report: (voiced: boolean, samples: number) => void;
  pending: number;
  /** The detector that replaces it after the thread has failed. */
  here: VoiceDetector | null;
}

interface Waiting {
  readonly remote: Remote;
  readonly at: number;
  readonly samples: number;
}

export function createHearing(setup: HearingSetup): Hearing {
  const { clock } = setup;
  const remotes = new Map<number, Remote>();
  const lateness = createLateness(REMEMBERED);
  let worker: Worker | null = null;
  let waiting: Waiting[] = [];
  let waitingSamples = 0;
  let unheardMs = 0;
  let steps: HearingStep[] = [];
  let lastId = 0;

  const post = (): void => {
    const batch = steps;
    steps = [];
    worker?.postMessage(batch);
  };
  const put = (step: HearingStep): void => {
    if (worker === null) return;
    if (steps.length === 0) setImmediate(post);
    steps.push(step);
  };

  const deliver = ({ stretches }: Decided): string | null => {
    const piece = waiting.shift();
    if (piece === undefined) return null;
    const { remote, at, samples } = piece;
    waitingSamples -= samples;
    remote.pending--;
    lateness.add(clock.now() - at);
    for (const stretch of stretches) remote.report(stretch > 0, Math.abs(stretch));
    return remote.stream;
  };

  const receive = (batch: FromHearing): void => {
    const streams = new Set<string>();
    for (const decided of batch) {
      const stream = deliver(decided);
      if (stream !== null) streams.add(stream);
    }
    setup.decided(streams);
  };

  /** Moves detection to this thread; sound that the other thread still had counts as silence. */
  const takeOver = (why: string): void => {
    if (worker === null) return;
    worker = null;
    setup.complain(
      `the thread that hears has ended (${why}); its work is done in the main thread from now on`,
    );
    const lost = waiting;
    waiting = [];
    waitingSamples = 0;
    for (const { remote, samples } of lost) {
      remote.pending--;
      remote.report(false, samples);
    }
    for (const remote of remotes.values()) remote.here = setup.createHere(remote.rateHz);
    setup.decided(new Set(lost.map(({ remote }) => remote.stream)));
  };

  if (setup.thread !== null) {
    worker = new Worker(setup.thread, { name: 'hearing', workerData: 'hearing' });
    worker.unref();
    worker.on('message', receive);
    worker.on('error', (error) => takeOver(error.message));
    worker.on('exit', (code) => takeOver(`code ${code}`));
  }

  const hear = (detector: number, remote: Remote, pcm: Int16Array): void => {
    if (remote.here !== null) return remote.here.hear(pcm, remote.report);
    remote.pending++;
    const isRoom = waitingSamples * 2 < MOST_WAITING_BYTES;
    const samples = isRoom ? pcm.length : 0;
    waiting.push({ remote, at: clock.now(), samples });
    waitingSamples += samples;
    if (!isRoom) unheardMs += (pcm.length / remote.rateHz) * 1000;
    put(isRoom ? { kind: 'hear', detector, pcm } : { kind: 'skip', detector, samples: pcm.length });
  };

  return {
    createDetector(rateHz, stream): SegmentDetector {
      if (worker === null) return setup.createHere(rateHz);
      const id = ++lastId;
      const remote: Remote = { stream, rateHz, report: () => {}, pending: 0, here: null };
      remotes.set(id, remote);
      put({ kind: 'open', detector: id, rateHz });
      return {
        hear(pcm, report) {
          remote.report = report;
          hear(id, remote, pcm);
        },
        get isBehind() {
          return remote.pending > 0;
        },
        close() {
          remote.report = () => {};
          remotes.delete(id);
          remote.here?.close();
          put({ kind: 'close', detector: id });
        },
      };
    },
    get isIdle() {
      return waiting.length === 0;
    },
    figures: () => ({
      thread: worker !== null,
      waiting: waiting.length,
      late_ms: lateness.summary(),
      unheard_ms: Math.round(unheardMs),
    }),
    close() {
      const ended = worker;
      worker = null;
      if (ended === null) return;
      ended.off('message', receive);
      endWorker(ended);
    },
  };
}
