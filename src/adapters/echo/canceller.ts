import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Place } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EchoCanceller, EchoCancellerSink, OpenEchoCanceller } from '../../ports/echo.ts';
import { durationMs } from '../../sound/pcm.ts';
import { endWorker } from '../worker-end.ts';
import type { CapturedPiece, EchoRates, FromEchoThread, ToEchoThread } from './message.ts';

/** The canceller's thread, as built in the program's folder. */
const THREAD = new URL('./echo-worker.mjs', import.meta.url);

/** Time for the thread to start (milliseconds); a small board may be busy booting. */
const READY_MS = 20_000;
/** Time between two checks while the thread holds sound (milliseconds). */
const LOOK_MS = 250;
/** Sound is late if it was held for longer than `afterMs` at `looks` checks in a row: one check may follow a pause of this process. */
const LATE = { afterMs: 750, looks: 3 };
/**
 * Sound per message (milliseconds). Each message wakes the thread, and a thread just woken is slow, so pieces are sent in
 * portions. But only one short piece may be left to process when a chunk is complete.
 */
const AWAKE = { portionMs: 80, lastMs: 25 };
/** Sound per message while the canceller rests and has nothing to process (milliseconds). */
const RESTING = { portionMs: 320, lastMs: 0 };
/** Maximum number of pieces that the canceller may hold. */
const MOST_HELD = 400;

/** Cancels echo in a thread of its own, so that the event loop is not blocked. */
export function createEchoCancellers(deps: { clock: Clock; thread?: URL }): OpenEchoCanceller {
  return (rates, sink) => new ThreadCanceller(deps.clock, deps.thread ?? THREAD, rates, sink);
}

class ThreadCanceller implements EchoCanceller {
  private readonly clock: Clock;
  private readonly sink: EchoCancellerSink;
  private readonly worker: Worker;
  /** Pieces not yet returned, oldest first: those in the thread, then those that wait to be sent. */
  private held: CapturedPiece[] = [];
  private waiting = 0;
  private waitingMs = 0;
  /** When the thread was given its pieces, oldest first, and how many each time. */
  private given: { at: number; pieces: number }[] = [];
  private rests = true;
  private looks = 0;
  private isOver = false;
  private readonly rateHz: number;
  private cancelLook: () => void;

  constructor(clock: Clock, thread: URL, rates: EchoRates, sink: EchoCancellerSink) {
    this.clock = clock;
    this.sink = sink;
    this.rateHz = rates.heardRateHz;
    this.worker = new Worker(thread, { name: 'echo', workerData: rates });
    this.worker.unref();
    this.worker.on('message', (message: FromEchoThread) => this.receive(message));
    this.worker.on('error', (error) => this.fail(reasonOf(error, thread)));
    this.worker.on('exit', (code) => this.fail(`its thread ended with code ${code}`));
    this.cancelLook = clock.at(clock.now() + READY_MS, () =>
      this.fail(`it was not ready within ${READY_MS / 1000} s`),
    );
  }

  played(pcm: Uint8Array, heardAt: number, goesOn: boolean, place: Place | null = null): void {
    // Posting a view would copy the whole buffer behind it.
    this.send({ type: 'played', pcm: new Uint8Array(pcm), heardAt, goesOn, place });
  }

  flushed(at: number, place: Place | null = null): void {
    this.send({ type: 'flushed', at, place });
  }

  captured(pcm: Uint8Array, capturedAt: number, missingMs: number): void {
    if (this.isOver) return;
    if (this.held.length >= MOST_HELD) this.fail('it holds too much sound');
    if (this.isOver) return this.sink.frames(pcm, capturedAt);
    this.held.push({ pcm, capturedAt });
    this.waiting += 1;
    this.waitingMs += durationMs(pcm.byteLength, this.rateHz);
    const { portionMs, lastMs } = this.rests ? RESTING : AWAKE;
    if (missingMs <= lastMs || this.waitingMs >= portionMs) this.give();
  }

  close(): void {
    if (this.isOver) return;
    this.end();
    this.requeue();
  }

  private give(): void {
    const pieces = this.held.slice(-this.waiting);
    this.waiting = this.waitingMs = 0;
    this.given.push({ at: this.clock.now(), pieces: pieces.length });
    this.send({
      type: 'captured',
      pieces: pieces.map(({ pcm, capturedAt }) => ({ pcm: new Uint8Array(pcm), capturedAt })),
    });
    if (this.given.length === 1) this.arm();
  }

  private send(message: ToEchoThread): void {
    if (!this.isOver) this.worker.postMessage(message);
  }

  private receive(message: FromEchoThread): void {
    if (this.isOver) return;
    if (message.type === 'ready') {
      this.cancelLook();
      this.sink.ready();
      return;
    }
    this.held.splice(0, this.given.shift()?.pieces ?? 0);
    if (this.given.length === 0) this.cancelLook();
    this.rests = message.rests;
    if (message.found) this.sink.found();
    for (const { pcm, capturedAt } of message.pieces) {
      if (pcm.byteLength > 0) this.sink.frames(pcm, capturedAt);
    }
  }

  private arm(): void {
    this.looks = 0;
    const look = (): void => {
      const [oldest] = this.given;
      if (oldest === undefined) return;
      this.looks = this.clock.now() - oldest.at > LATE.afterMs ? this.looks + 1 : 0;
      if (this.looks >= LATE.looks) this.fail('this machine is too slow for it, or too busy');
      else this.cancelLook = this.clock.at(this.clock.now() + LOOK_MS, look);
    };
    this.cancelLook = this.clock.at(this.clock.now() + LOOK_MS, look);
  }

  private fail(message: string): void {
    if (this.isOver) return;
    this.end();
    this.sink.failed(message);
    this.requeue();
  }

  private end(): void {
    this.isOver = true;
    this.cancelLook();
    endWorker(this.worker);
  }

  private requeue(): void {
    const { held } = this;
    this.held = [];
    for (const { pcm, capturedAt } of held) this.sink.frames(pcm, capturedAt);
  }
}

function reasonOf(error: Error, thread: URL): string {
  const isMissing = 'code' in error && String(error.code).endsWith('MODULE_NOT_FOUND');
  return isMissing
    ? `${fileURLToPath(thread)} is not there`
    : (error.message.split('\n')[0] ?? 'no reason given');
}
