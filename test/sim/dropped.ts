/** Finds translated speech that the device dropped before it was played, and checks that it had a reason. */
import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import { readRenderings } from './sound.ts';
import type { Violations } from './violations.ts';

/** Time that speech waits for a loudspeaker (ms). */
const HELD_MS = 30_000;

export interface DroppedSetup<Job> {
  readonly violations: Violations;
  /** The loudspeaker is not heard, and the agent is not to blame. */
  readonly isSilent: () => boolean;
  readonly jobOf: (id: number) => Job | undefined;
  /**
   * A sentence will not be heard, or only in part. `unheard`: it had no loudspeaker, and the device has counted that.
   * `shed`: too much speech waited, or a visitor spoke over it.
   */
  readonly gone: (job: Job, how: 'unheard' | 'shed') => void;
  /** This much of a sentence was written, but not played. */
  readonly missed: (job: Job, ticks: number) => void;
}

export interface Dropped {
  /** The loudspeaker did not take this sound; `written`: it did, but will not play it. */
  untaken(pcm: Uint8Array, written?: boolean): void;
  /** Must be called with every step. */
  unheard(step: LaneStep, now: number): void;
  shed(step: LaneStep): void;
}

export function createDropped<Job>(setup: DroppedSetup<Job>): Dropped {
  /** Sentences that are not heard, until the device counts them. */
  const uncounted = new Set<Job>();
  let isUntaken = false;
  let silentAt = Number.NEGATIVE_INFINITY;
  const jobsIn = (pcm: Uint8Array): Job[] =>
    readRenderings(pcm)
      .map(({ job }) => setup.jobOf(job))
      .filter((job) => job !== undefined);
  /** Sentences that waited or arrived, and that the step removed. */
  const jobsGone = ({ before, after, event }: LaneStep): Job[] => {
    const nameOf = ({ stream, key }: { stream: number; key: string }): string => `${stream} ${key}`;
    const kept = new Set(after.playout.utterances.map(nameOf));
    const gone = before.playout.utterances.filter((one) => !kept.has(nameOf(one)));
    const pieces = gone.flatMap((one) => one.pieces.map(({ pcm }) => pcm));
    const said = event.type === 'service' ? event.said : null;
    const came = said?.type === 'spoke' ? [said.pcm] : [];
    const waits = new Set(after.playout.utterances.flatMap((one) => one.pieces.map(({ pcm }) => pcm)));
    return [...pieces, ...came.filter((pcm) => !waits.has(pcm))].flatMap(jobsIn);
  };

  return {
    untaken(pcm, written = false) {
      isUntaken = true;
      for (const stretch of readRenderings(pcm)) {
        const job = setup.jobOf(stretch.job);
        if (job === undefined) continue;
        if (written) setup.missed(job, stretch.ticks);
        uncounted.add(job);
      }
    },
    unheard(step, now) {
      if (setup.isSilent() || isUntaken) silentAt = now;
      isUntaken = false;
      const { before, after } = step;
      const why = (after.dropped ?? before.dropped)?.why;
      const isMore = after.counts.speechDroppedMs > before.counts.speechDroppedMs;
      if (!isMore || why !== 'no_loudspeaker') return;
      const isRight = now - silentAt < HELD_MS;
      setup.violations.check(
        'unheard',
        isRight,
        () => 'speech was dropped for lack of a loudspeaker, but the loudspeaker works',
      );
      for (const job of [...uncounted, ...jobsGone(step)]) setup.gone(job, 'unheard');
      uncounted.clear();
    },
    shed(step) {
      if (step.after.playout.droppedBytes === step.before.playout.droppedBytes) return;
      for (const job of jobsGone(step)) setup.gone(job, 'shed');
    },
  };
}
