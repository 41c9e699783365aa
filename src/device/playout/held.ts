import { BYTES_PER_SAMPLE } from '../../sound/pcm.ts';
import { dropRest } from './intake.ts';
import { type Playout, type PlayoutFormat, withTimeline } from './playout-state.ts';
import { bytesOf, OWN_STREAM, type Utterance } from './sentences.ts';
import { expectWrite } from './timeline.ts';

/** Silence (ms) that tests whether the loudspeaker takes sound again; too short to hear. */
const PROBE_MS = 8;

/** Dropped sound. */
export interface GivenUp {
  readonly sentences: number;
  readonly bytes: number;
}

function dueAt({ pieces }: Utterance, heldMs: number): number {
  return (pieces.at(-1)?.receivedAt ?? Number.POSITIVE_INFINITY) + heldMs;
}

/**
 * Holds all sound while the loudspeaker is absent. Drops sound that has waited too long: whole sentences, or the rest of
 * one that had begun.
 * @param heldMs how long speech waits for a loudspeaker
 * @returns `nextAt`: the time of the next drop; infinite if nothing waits
 */
export function hold(
  playout: Playout,
  now: number,
  heldMs: number,
): { playout: Playout; givenUp: GivenUp; nextAt: number } {
  const gone = playout.utterances.filter((one) => dueAt(one, heldMs) <= now);
  const left = playout.utterances.filter((one) => dueAt(one, heldMs) > now);
  const nextAt = left.reduce((at, one) => Math.min(at, dueAt(one, heldMs)), Number.POSITIVE_INFINITY);
  if (gone.length === 0) return { playout, givenUp: { sentences: 0, bytes: 0 }, nextAt };
  const sumOf = (some: readonly Utterance[]): number => some.reduce((sum, one) => sum + bytesOf(one), 0);
  // A chime that comes too late does not count as a loss.
  const spoken = gone.filter(({ stream }) => stream !== OWN_STREAM);
  const bytes = sumOf(spoken);
  return {
    playout: {
      ...playout,
      utterances: left,
      unwanted: dropRest(playout.unwanted, spoken, 'no_loudspeaker'),
      queuedBytes: playout.queuedBytes - sumOf(gone),
      droppedBytes: playout.droppedBytes + bytes,
    },
    givenUp: { sentences: spoken.length, bytes },
    nextAt,
  };
}

/** Writes silence, to find out whether a loudspeaker has silently recovered. */
export function probe(
  playout: Playout,
  now: number,
  { bytesPerMs }: PlayoutFormat,
): { playout: Playout; pcm: Uint8Array; write: number } {
  const pcm = new Uint8Array(BYTES_PER_SAMPLE * Math.round((PROBE_MS * bytesPerMs) / BYTES_PER_SAMPLE));
  const { nextWrite: write } = playout.timeline;
  return { playout: withTimeline(playout, expectWrite(playout.timeline, PROBE_MS, now)), pcm, write };
}

/** The loudspeaker is back: waiting sound plays from now on; the wait does not count as lag. */
export function resume(playout: Playout, now: number): Playout {
  const { timeline } = playout;
  const end = Math.max(timeline.end, now);
  return { ...withTimeline(playout, { ...timeline, end }), laggingSince: null };
}
