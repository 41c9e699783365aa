/** Finds speech that a lane has dropped from its backlog. */

import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import { CLOSING_MS } from '../../src/device/lane/session/hold.ts';
import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import { phaseOf } from '../../src/device/lane/state/session-state.ts';
import type { BacklogChunk } from '../../src/device/lane/uplink/backlog.ts';
import type { Violations } from './violations.ts';

/** Oldest speech that may still be sent (ms): later the listener is someone else. */
const OLDEST_SAID_MS = 120_000;
/** Time from a word to the chunk that holds it (ms). */
const CAPTURING_MS = 2000;

/** @param ageMs age of the speech that is sent now */
export function checkAge(violations: Violations, ageMs: number): void {
  const isYoung = ageMs <= OLDEST_SAID_MS + CAPTURING_MS;
  violations.check('age', isYoung, () => `speech was sent ${Math.round(ageMs / 1000)} s after it was spoken`);
}

/** Capture time of the oldest chunk that waits to be sent. */
export function heldSince(state: LaneState | null): number {
  return state?.backlog.chunks[0]?.capturedAt ?? Number.POSITIVE_INFINITY;
}

/** Chunks that waited before a step, and that the step removed without sending them. */
export function chunksGone({ before, after, effects }: LaneStep): BacklogChunk[] {
  if (before.backlog.chunks === after.backlog.chunks) return [];
  const kept = new Set(after.backlog.chunks.map(({ seq }) => seq));
  const sent = new Set(
    effects.flatMap((effect) => (effect.type === 'send_audio' ? [effect.capturedAt] : [])),
  );
  return before.backlog.chunks.filter(({ seq, capturedAt }) => !kept.has(seq) && !sent.has(capturedAt));
}

/** Whether opening hours or the budget stopped the lane in this step. */
export function isStoppedByHold({ before, after }: LaneStep): boolean {
  const rests = ({ session }: LaneState): boolean =>
    ['idle', 'draining', 'closed'].includes(phaseOf(session));
  return after.hold !== null && rests(after) && !rests(before);
}

/** Whether a closing lane had all of its time to finish: only longer speech may be cut. */
export function isFinished({ closing }: LaneState, now: number): boolean {
  return closing !== null && now - closing.since < CLOSING_MS;
}
