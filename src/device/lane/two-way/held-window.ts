import { BYTES_PER_SAMPLE } from '../../../sound/pcm.ts';
import type { LaneState } from '../state/lane-state.ts';
import { opensByKey } from './two-way.ts';

/**
 * The part of a chunk that was captured while a held key kept the microphone open.
 * @param ms length of the chunk
 * @returns null: the microphone was closed; the same sound if no key has to be held
 */
export function heardWhileHeld(
  lane: Pick<LaneState, 'options' | 'refusedTask' | 'twoWay'>,
  pcm: Uint8Array,
  capturedAt: number,
  ms: number,
): Uint8Array | null {
  if (!opensByKey(lane)) return pcm;
  const { turnedAt, openUntil } = lane.twoWay;
  const began = capturedAt - ms;
  const from = Math.max(began, turnedAt);
  const until = Math.min(capturedAt, openUntil);
  if (from >= until) return null;
  if (from <= began && until >= capturedAt) return pcm;
  const at = (moment: number): number =>
    BYTES_PER_SAMPLE * Math.round((((moment - began) / ms) * pcm.byteLength) / BYTES_PER_SAMPLE);
  const heard = new Uint8Array(pcm.byteLength);
  heard.set(pcm.subarray(at(from), at(until)), at(from));
  return heard;
}
