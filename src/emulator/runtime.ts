import type { Clock } from '../ports/clock.ts';
import type { Effect } from './core/effect.ts';
import { createLateness, type LatenessSummary } from './core/lateness.ts';
import type { Service } from './core/service.ts';
import type { Speak } from './speak.ts';
import type { Hearing, HearingFigures } from './threads/hearing.ts';
import { createSpeechQueue, type SpeechFigures } from './threads/speech-queue.ts';
import type { SpeechMaker } from './threads/speech-thread.ts';

/** Carries out the effects that concern a connection. */
export type PerformEffect = (effect: Exclude<Effect, { type: 'render' }>) => void;

/** The event loop is looked at so often; what it was late by is excused to clients. */
const WATCH_MS = 100;
const LATE_MS = 60;
/** Looks that the figures are about: a minute of them. */
const LOOKS = 600;

/** Lets the pure service run: gives it the time, carries out its effects, wakes it when something is due. */
export interface Runtime {
  readonly service: Service;
  /** Monotonic milliseconds of the service; runs ahead of the machine's clock by what was skipped. */
  now(): number;
  /** Calls into the service, then does what follows from it. */
  act<T>(call: (now: number) => T): T;
  /** Lets this much of the service's time pass at once; all that falls due has happened when it resolves. */
  advance(ms: number): Promise<void>;
  /** How far the emulator keeps up with what it is asked. */
  load(): Load;
  close(): void;
}

/** How late things are done, milliseconds, over the last of them. */
export interface Load {
  readonly event_loop_late_ms: LatenessSummary;
  readonly hearing: HearingFigures;
  readonly speech: SpeechFigures;
}

export interface RuntimeSetup {
  readonly clock: Clock;
  readonly service: Service;
  readonly perform: PerformEffect;
  readonly hearing: Hearing;
  readonly maker: SpeechMaker;
  /** A speech engine, where there is one. */
  readonly speak: Speak | null;
}

export function createRuntime(setup: RuntimeSetup): Runtime & {
  /** To be called when detectors of these streams have decided. */
  decided(streams: ReadonlySet<string>): void;
} {
  const { clock, service, perform, hearing, maker, speak } = setup;
  const startedAt = clock.now();
  let skippedMs = 0;
  let disarm: () => void = () => {};
  let closed = false;
  let idle: (() => void)[] = [];

  const now = (): number => clock.now() - startedAt + skippedMs;

  const settleEffects = (): void => {
    for (let effects = service.takeEffects(); effects.length > 0; effects = service.takeEffects()) {
      for (const effect of effects) {
        if (effect.type !== 'render') perform(effect);
        else if (!queue.put(effect.job))
          service.rendered(effect.job.stream, effect.job.id, new Uint8Array(0), now());
      }
    }
  };

  const settle = (at: number): void => {
    service.tick(at);
    settleEffects();
  };

  const arm = (): void => {
    disarm();
    if (closed) return;
    const next = service.nextAt(now());
    if (next !== Number.POSITIVE_INFINITY) disarm = clock.at(next - skippedMs + startedAt, wake);
  };

  const wake = (): void => {
    settle(now());
    arm();
  };

  const act = <T>(call: (at: number) => T): T => {
    const at = now();
    const result = call(at);
    settle(at);
    arm();
    return result;
  };

  const isIdle = (): boolean => closed || (queue.isIdle && hearing.isIdle);

  const tellIdle = (): void => {
    if (!isIdle()) return;
    const waiting = idle;
    idle = [];
    for (const resolve of waiting) resolve();
  };

  const queue = createSpeechQueue({
    clock,
    maker,
    speak,
    isWanted: (stream) => service.stream(stream)?.report.closed === null,
    finished(job, pcm) {
      if (!closed) act((at) => service.rendered(job.stream, job.id, pcm, at));
      tellIdle();
    },
  });

  /** Resolves when all that was heard has been decided, and all that was said has been made. */
  const drained = (): Promise<void> =>
    isIdle() ? Promise.resolve() : new Promise((resolve) => idle.push(resolve));

  const lateness = createLateness(LOOKS);
  let watchedAt = clock.now();
  const watch = setInterval(() => {
    const lateMs = clock.now() - watchedAt - WATCH_MS;
    watchedAt = clock.now();
    lateness.add(lateMs);
    if (lateMs > LATE_MS) service.excuse(lateMs);
  }, WATCH_MS);
  watch.unref();

  return {
    service,
    now,
    act,
    decided(streams) {
      if (!closed) {
        act((at) => {
          for (const stream of streams) service.decided(stream, at);
        });
      }
      tellIdle();
    },
    async advance(ms) {
      await drained();
      const target = now() + ms;
      for (let at = service.nextAt(now()); at <= target; at = service.nextAt(now())) {
        skippedMs += Math.max(0, at - now());
        settle(now());
        await drained();
      }
      skippedMs += Math.max(0, target - now());
      settle(now());
      await drained();
      arm();
    },
    load: () => ({
      event_loop_late_ms: lateness.summary(),
      hearing: hearing.figures(),
      speech: queue.figures(),
    }),
    close() {
      closed = true;
      disarm();
      clearInterval(watch);
      queue.close();
      hearing.close();
      tellIdle();
    },
  };
}
