import { beginRespawn, noteFailure, noteWorking, type RespawnState } from '../../../core/retry/respawn.ts';
import type { AudioFault, DeviceFigures, WhenCardsChange } from '../../../ports/audio.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import { createDiagnosis } from './diagnosis.ts';
import { type Child, type ChildSpec, startChild } from './process.ts';
import { causeOf, type NamedDevice } from './stderr-classifier.ts';

/** The dependencies of every supervised child. */
export interface SupervisorDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Called at every failure with how long the device has been broken (milliseconds), for hardware that only a reboot fixes. */
  readonly lasting?: (part: NamedDevice['part'], troubleMs: number) => void;
  /** A missing device is retried as soon as cards change, not only when its wait is over. */
  readonly whenCardsChange?: WhenCardsChange;
}

/** Callbacks of the code that uses the child: its decisions, and the reports to it. */
export interface SupervisedUse {
  readonly device: () => NamedDevice;
  readonly direction: 'in' | 'out';
  /** How to start the next child. */
  spec(): ChildSpec;
  started(child: Child): void;
  data?(bytes: Uint8Array): void;
  line?(text: string): void;
  /** @returns whether sound was lost, so that the xrun counts */
  xrun(ms: number): boolean;
  /** The child has exited; sound in its pipe is lost. */
  gone(): void;
  /**
   * Offers a workaround, such as another format. With one, the failure is not counted and the next child starts at once.
   * @returns a sentence for the log, or null
   */
  readonly alternative: ((fault: AudioFault) => string | null) | undefined;
  /** Checks the child's health once a second. Returns when to restart it: in a quiet moment, or now; null: no need. */
  readonly inspect: ((child: Child) => 'quiet' | 'now' | null) | undefined;
  isQuiet(): boolean;
  /** The device has failed, or now fails for another reason. */
  fault(fault: AudioFault): void;
  /** The device works again after a fault. */
  back(): void;
}

export interface Supervisor {
  /** The present child has delivered or taken sound. */
  working(): void;
  /** Kills a broken child at once, and treats that as a crash with this fault. */
  failChild(fault: AudioFault): void;
  /** Restarts the child at once, without a fault. */
  restartChild(): void;
  close(): Promise<void>;
  readonly figures: DeviceFigures;
}

/** Longest wait for a child to exit (milliseconds): one that survives SIGKILL is blocked in the kernel. */
const CLOSE_LIMIT_MS = 1500;
/** Longest wait for a failed child to exit (milliseconds); then its fault is reported anyway, and the next child is started. */
const KILL_LIMIT_MS = 300;
/** Time between two checks (milliseconds): a child's memory can grow by gigabytes in seconds. */
const INSPECTION_MS = 1000;

/** Keeps one child process running for as long as the device is wanted. The only recovery is a new child. */
export function supervise(use: SupervisedUse, deps: SupervisorDeps, seed: number): Supervisor {
  const { clock, log } = deps;
  let policy: RespawnState = beginRespawn(seed);
  let child: Child | null = null;
  /** Counts children, so that messages from an older one are ignored. */
  let generation = 0;
  let closed = false;
  let sentence: AudioFault | null = null;
  let diagnosis = createDiagnosis();
  let firstWorkedAt: number | null = null;
  let isRestart = false;
  let cancelRespawn: (() => void) | null = null;
  let onGone: (() => void) | null = null;
  let cancelDrop = (): void => {};
  const figures = { starts: 0, failures: 0, xruns: 0, hangs: 0, lastFault: null as AudioFault | null };

  const start = (): void => {
    cancelRespawn = null;
    if (closed) return;
    const ownGeneration = ++generation;
    sentence = firstWorkedAt = null;
    diagnosis = createDiagnosis();
    isRestart = false;
    figures.starts++;
    const isCurrent = (): boolean => ownGeneration === generation && !closed;
    child = startChild(use.spec(), use.direction, clock, {
      data: (bytes) => isCurrent() && sentence === null && !isRestart && use.data?.(bytes),
      line: (text) => isCurrent() && hear(text),
      ended: (end) => {
        if (ownGeneration !== generation) return;
        child = null;
        onGone?.();
        if (closed) return;
        cancelDrop();
        use.gone();
        if (isRestart) return start();
        fail(sentence ?? diagnosis.explain(end, use.device()));
      },
    });
    use.started(child);
  };
  const hear = (text: string): void => {
    const heard = diagnosis.hear(text, use.device());
    if (heard?.kind === 'xrun' && use.xrun(heard.ms)) figures.xruns++;
    use.line?.(text);
  };
  const fail = (fault: AudioFault): void => {
    const { part, name } = use.device();
    const alternative = use.alternative?.(fault) ?? null;
    if (alternative !== null) {
      // A device that refuses every format is retried again and again, but logged once.
      if (!policy.reported) log.warn({ part, device: name }, alternative);
      return start();
    }
    figures.failures++;
    figures.lastFault = fault;
    const now = clock.now();
    const verdict = noteFailure(
      policy,
      { code: fault.code, cause: causeOf(fault), workedMs: firstWorkedAt === null ? 0 : now - firstWorkedAt },
      now,
    );
    policy = verdict.state;
    const { troubleSince } = policy;
    cancelRespawn = clock.at(now + verdict.waitMs, start);
    if (verdict.log > 0) {
      log.warn({ part, device: name, code: fault.code, failures: verdict.log }, fault.message);
    }
    if (troubleSince !== null) deps.lasting?.(part, now - troubleSince);
    if (verdict.report) use.fault(fault);
  };
  /** Abandons a child that survives SIGKILL. */
  const drop = (fault: AudioFault): void => {
    if (closed || child === null) return;
    generation++;
    child = null;
    use.gone();
    fail(fault);
  };
  const restartChild = (): void => {
    if (child === null || sentence !== null || isRestart) return;
    isRestart = true;
    child.kill();
  };
  const { inspect } = use;
  let cancelInspection = (): void => {};
  const arrangeInspection = (look: (child: Child) => 'quiet' | 'now' | null): void => {
    cancelInspection = clock.at(clock.now() + INSPECTION_MS, () => {
      const need = child === null ? null : look(child);
      if (need === 'now' || (need === 'quiet' && use.isQuiet())) {
        const { part, name, program } = use.device();
        log.info({ part, device: name }, `${program} uses too much memory and is restarted`);
        restartChild();
      }
      arrangeInspection(look);
    });
  };
  start();
  const ignoreCards =
    deps.whenCardsChange?.(() => {
      if (cancelRespawn === null) return;
      cancelRespawn();
      start();
    }) ?? (() => {});
  if (inspect !== undefined) arrangeInspection(inspect);

  return {
    working() {
      const now = clock.now();
      firstWorkedAt ??= now;
      const noted = noteWorking(policy, now - firstWorkedAt);
      policy = noted.state;
      if (!noted.recovered) return;
      const { part, name } = use.device();
      if (noted.log) log.info({ part, device: name }, `the ${part} device works again`);
      use.back();
    },
    failChild(fault) {
      if (child === null || sentence !== null || isRestart) return;
      sentence = fault;
      if (fault.code === 'hung') figures.hangs++;
      child.kill();
      cancelDrop = clock.at(clock.now() + KILL_LIMIT_MS, () => drop(fault));
    },
    restartChild,
    async close() {
      if (closed) return;
      closed = true;
      ignoreCards();
      cancelInspection();
      cancelDrop();
      cancelRespawn?.();
      cancelRespawn = null;
      const last = child;
      if (last === null) return;
      await new Promise<void>((resolve) => {
        const cancelWait = clock.at(clock.now() + CLOSE_LIMIT_MS, resolve);
        onGone = () => {
          cancelWait();
          resolve();
        };
        last.end();
      });
      onGone = null;
    },
    figures,
  };
}
