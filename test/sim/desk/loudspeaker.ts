import type { Playback, PlaybackSink } from '../../../src/ports/audio.ts';
import type { SimClock } from '../sim-clock.ts';
import { TICK_MS } from '../sound.ts';

const SAMPLES_PER_MS = 24;
const LATENCY_MS = 40;
const KEPT_MS = 4000;

/** A loudspeaker whose sound the room hears. */
export interface DeskLoudspeaker {
  open(sink: PlaybackSink): Promise<Playback>;
  /** The sound of a tick; null: silence. */
  at(moment: number): Int16Array | null;
  /** Whether it spoke between two moments. Chimes, which people speak over, do not count. */
  wasHeard(from: number, until: number): boolean;
}

/** Length of the chime that answers a key (ms). */
const ANSWER_MS = 90;

export function createDeskLoudspeaker(clock: SimClock): DeskLoudspeaker {
  let pieces: { readonly from: number; until: number; readonly sound: Int16Array }[] = [];
  const history: { from: number; until: number }[] = [];
  return {
    at(moment) {
      const piece = pieces.find(({ from, until }) => moment < until && moment + TICK_MS > from);
      if (piece === undefined) return null;
      const first = Math.max(0, Math.round((moment - piece.from) * SAMPLES_PER_MS));
      return piece.sound.subarray(first, first + TICK_MS * SAMPLES_PER_MS);
    },
    wasHeard: (from, until) => history.some((one) => one.from < until && one.until > from),
    open() {
      clock.settle();
      return Promise.resolve({
        mixer: null,
        write(pcm) {
          const now = clock.now();
          const from = Math.max(now + LATENCY_MS, pieces.at(-1)?.until ?? 0);
          const until = from + pcm.byteLength / 2 / SAMPLES_PER_MS;
          const sound = new Int16Array(pcm.slice().buffer);
          pieces = [...pieces.filter((one) => one.until > now - KEPT_MS), { from, until, sound }];
          const isAnswer = pcm.byteLength / 2 / SAMPLES_PER_MS === ANSWER_MS;
          if (!isAnswer && sound.some((sample) => sample !== 0)) history.push({ from, until });
          return { from, until };
        },
        flush() {
          const now = clock.now();
          pieces = pieces.flatMap((one) =>
            one.from >= now ? [] : [{ ...one, until: Math.min(one.until, now) }],
          );
          for (const one of history) one.until = Math.min(one.until, Math.max(one.from, now));
        },
        close() {
          clock.settle();
          return Promise.resolve();
        },
      });
    },
  };
}
