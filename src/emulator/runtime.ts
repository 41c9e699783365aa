import type { Clock } from '../ports/clock.ts';
import type { Effect } from './core/effect.ts';
import { createLateness, type LatenessSummary } from './core/lateness.ts';
import type { Service } from './core/service.ts';
import type { Speak } from './speak.ts';
import { createSpeechQueue, type SpeechFigures } from './speech-queue.ts';

/** Carries out the effects that concern a connection. */
export type PerformEffect = (effect: Exclude<Effect, { type: 'render' }>) => void;

/** Interval (ms) at which the event loop's delay is measured. */
const WATCH_MS = 100;
/** Delay of the event loop (ms) from which clients are excused, because they did not cause it. */
const LATE_MS = 60;
/** Number of measurements in the figures: one minute. */
const LOOKS = 600;

/** Runs the pure service: passes in the time, carries out its effects, and wakes it when something is due. */
export interface Runtime {
  readonly service: Service;
  /** Monotonic milliseconds of the service; ahead of the machine's clock by the skipped time. */
  now(): number;
  /** Calls into the service, then carries out the effects. */
  act<T>(call: (now: number) => T): T;
  /** Advances the service's time at once; resolves after everything that becomes due has happened. */
  advance(ms: number): Promise<void>;
  /** How well the emulator keeps up with its work. */
  load(): Load;
  close(): void;
}

/** Delays of recent work (ms). */
export interface Load {
  readonly event_loop_late_ms: LatenessSummary;
  readonly speech: SpeechFigures;
}

export interface RuntimeSetup {
  readonly clock: Clock;
  readonly service: Service;
  readonly perform: PerformEffect;
  /** The speech engine, if one is installed. */
  readonly speak: Speak | null;
}

export function createRuntime(setup: RuntimeSetup): Runtime {
  const { clock, service, perform, speak } = setup;
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

  const isIdle = (): boolean => closed || queue.isIdle;

  const tellIdle = (): void => {
    if (!isIdle()) return;
    const waiting = idle;
    idle = [];
    for (const resolve of waiting) resolve();
  };

  const queue = createSpeechQueue({
    clock,
    speak,
    isWanted: (stream) => service.stream(stream)?.report.closed === null,
    finished(job, pcm) {
      if (!closed) act((at) => service.rendered(job.stream, job.id, pcm, at));
      tellIdle();
    },
  });

  /** Resolves when all ordered speech has been synthesised. */
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
    load: () => ({ event_loop_late_ms: lateness.summary(), speech: queue.figures() }),
    close() {
      closed = true;
      disarm();
      clearInterval(watch);
      queue.close();
      tellIdle();
    },
  };
}
