import type { Clock } from '../ports/clock.ts';
import type { Effect } from './core/effect.ts';
import { type RenderJob, render } from './core/render.ts';
import type { Service } from './core/service.ts';
import type { Speak } from './speak.ts';

/** What carries out the effects that concern a connection. */
export type PerformEffect = (effect: Exclude<Effect, { kind: 'render' }>) => void;

/** Renderings that may wait; what comes beyond is sent as nothing. */
const MOST_JOBS = 2000;
/** Speech engines that run at once. */
const MOST_SPEAKING = 4;
/** The event loop is looked at so often; what it was late by is excused to clients. */
const WATCH_MS = 100;
const LATE_MS = 60;

/** Lets the pure service run: gives it the time, carries out its effects, wakes it when something is due. */
export interface Runtime {
  readonly service: Service;
  /** Monotonic milliseconds of the service; runs ahead of the machine's clock by what was skipped. */
  now(): number;
  /** Calls into the service, then does what follows from it. */
  act<T>(call: (now: number) => T): T;
  /** Lets this much of the service's time pass at once; all that falls due has happened when it resolves. */
  advance(ms: number): Promise<void>;
  close(): void;
}

export interface RuntimeSetup {
  readonly clock: Clock;
  readonly service: Service;
  readonly perform: PerformEffect;
  /** A speech engine, where there is one. */
  readonly speak: Speak | null;
}

export function createRuntime(setup: RuntimeSetup): Runtime {
  const { clock, service, perform } = setup;
  const startedAt = clock.now();
  const jobs: RenderJob[] = [];
  let skippedMs = 0;
  let disarm: () => void = () => {};
  let busyJobs = 0;
  let speaking = 0;
  let isWorkPlanned = false;
  let closed = false;
  let idle: (() => void)[] = [];

  const now = (): number => clock.now() - startedAt + skippedMs;

  const settleEffects = (): void => {
    for (let effects = service.takeEffects(); effects.length > 0; effects = service.takeEffects()) {
      for (const effect of effects) {
        if (effect.kind !== 'render') perform(effect);
        else if (jobs.length < MOST_JOBS) queue(effect.job);
        else service.rendered(effect.job.stream, effect.job.id, new Uint8Array(0), now());
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

  const finishJob = (job: RenderJob, pcm: Uint8Array): void => {
    busyJobs--;
    if (!closed) act((at) => service.rendered(job.stream, job.id, pcm, at));
    if (busyJobs > 0) return;
    const waiting = idle;
    idle = [];
    for (const resolve of waiting) resolve();
  };

  const speakJob = (job: RenderJob, speak: Speak): void => {
    speaking++;
    const done = (pcm: Uint8Array): void => {
      speaking--;
      finishJob(job, pcm);
      workSoon();
    };
    speak(job).then(done, () => done(render(job)));
  };

  const work = (): void => {
    const { speak } = setup;
    isWorkPlanned = false;
    if (closed || (speak !== null && speaking >= MOST_SPEAKING)) return;
    const job = jobs.shift();
    if (job === undefined) return;
    const isWanted = service.streams().some(({ report }) => report.id === job.stream);
    if (!isWanted) finishJob(job, new Uint8Array(0));
    else if (job.mode === 'speak' && speak !== null) speakJob(job, speak);
    else finishJob(job, render(job));
    workSoon();
  };

  /** Each rendering in a turn of its own, so that sockets are served in between: all that are planned run in one turn. */
  const workSoon = (): void => {
    if (isWorkPlanned || jobs.length === 0) return;
    isWorkPlanned = true;
    setImmediate(work);
  };

  const queue = (job: RenderJob): void => {
    jobs.push(job);
    busyJobs++;
    workSoon();
  };

  const drained = (): Promise<void> =>
    busyJobs === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve));

  let watchedAt = clock.now();
  const watch = setInterval(() => {
    const lateMs = clock.now() - watchedAt - WATCH_MS;
    watchedAt = clock.now();
    if (lateMs > LATE_MS) service.excuse(lateMs);
  }, WATCH_MS);
  watch.unref();

  return {
    service,
    now,
    act,
    async advance(ms) {
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
    close() {
      closed = true;
      disarm();
      clearInterval(watch);
      jobs.length = 0;
      for (const resolve of idle) resolve();
    },
  };
}
