import type { LaneEvent } from '../state/lane-event.ts';
import { type Deliver, EchoPath, type EchoPathDeps } from './echo-path.ts';
import type { Reference } from './playback-pipeline.ts';

/** The path of a microphone's sound through one canceller for each loudspeaker that it hears. */
export interface EchoPaths {
  /** Whether delivered sound has passed through all cancellers. */
  readonly isCancelling: boolean;
  /** Gets the sound of each loudspeaker: the lane's own, then that of the other lane in the room. */
  readonly references: readonly Reference[];
  cancel(on: boolean): void;
  captured(pcm: Uint8Array, capturedAt: number): void;
  close(): void;
}

/** @param loudspeakers number of loudspeakers that the microphone hears */
export function createEchoPaths(
  deps: EchoPathDeps,
  deliver: Deliver,
  heldBytes: () => number,
  loudspeakers: 1 | 2,
): EchoPaths {
  const ready = new Set<EchoPath>();
  const paths: EchoPath[] = [];
  for (let index = 0; index < loudspeakers; index++) {
    const behind = paths.at(-1);
    const post = (event: LaneEvent): void => {
      if (event.type !== 'canceller' || event.status === 'found') return deps.post(event);
      if (event.status !== 'ready') {
        ready.clear();
        return deps.post(event);
      }
      ready.add(path);
      // The lane may rely on the cancellers only when all of them are ready.
      if (ready.size === paths.length) deps.post(event);
    };
    const path: EchoPath = new EchoPath(
      { ...deps, post },
      behind === undefined ? deliver : (pcm, capturedAt) => behind.captured(pcm, capturedAt),
      behind === undefined ? heldBytes : () => heldBytes() + behind.heldInside,
    );
    paths.push(path);
  }
  return {
    get isCancelling() {
      return paths.every((path) => path.isCancelling);
    },
    references: paths,
    cancel(on) {
      for (const path of paths) path.cancel(on);
    },
    captured: (pcm, capturedAt) => paths.at(-1)?.captured(pcm, capturedAt),
    close() {
      // The last one first: the sound that it holds passes through the others.
      for (const path of paths.toReversed()) path.close();
    },
  };
}
