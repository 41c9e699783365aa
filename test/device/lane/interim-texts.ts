import { hearingStream } from '../../../src/device/lane/state/session-state.ts';
import { heard, understood } from '../../service-events.ts';
import { behave } from './behaviour.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

/** A service that sends partials, and the account of the sentences that it skips. */

/** Live, with a service that answers polls. */
export function live(): LaneHarness {
  const lane = new LaneHarness().goLive();
  behave(lane);
  return lane;
}

const LETTERS_PER_S = 15;
const text = (letters: number): string => 'a'.repeat(Math.round(letters));

export interface Told {
  /** Seconds of the stream's audio; missing: the service sends no times. */
  readonly from?: number;
  readonly to?: number;
}
export function partial(lane: LaneHarness, id: string | null, letters: number): void {
  lane.says(heard({ id, text: text(letters) }));
}
export function whole(lane: LaneHarness, id: string | null, letters: number, { from, to }: Told = {}): void {
  const span = from === undefined || to === undefined ? null : { fromMs: from * 1000, toMs: to * 1000 };
  lane.says(understood({ id, text: text(letters), span }));
}

export const sentS = (lane: LaneHarness): number =>
  (hearingStream(lane.state.session)?.replay.sentMs ?? 0) / 1000;

/** Speaks a sentence; the service sends partials. @returns its letters and its times */
export function begin(
  lane: LaneHarness,
  id: string | null,
  seconds: number,
  isTimed = false,
): Told & { letters: number } {
  const from = sentS(lane);
  const chunks = Math.round((seconds * 1000) / CHUNK_MS);
  for (let chunk = 1; chunk <= chunks; chunk++) {
    lane.speak(1);
    const letters = ((chunk * CHUNK_MS) / 1000) * LETTERS_PER_S;
    partial(lane, id, letters);
  }
  const letters = seconds * LETTERS_PER_S;
  const told = isTimed ? { from, to: sentS(lane) } : {};
  lane.hush(4);
  return { letters, ...told };
}

/** A sentence with a final text that is spoken. */
export function say(lane: LaneHarness, id: string | null, seconds: number, isTimed = false): void {
  const { letters, ...told } = begin(lane, id, seconds, isTimed);
  whole(lane, id, letters, told);
  lane.hear(id, seconds * 1000, true);
  // Until the loudspeaker is quiet again.
  lane.hush(16);
}
export const told = (lane: LaneHarness) =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'speech_lost')
    .map(({ detail, times }): Record<string, unknown> => ({ ...detail, ...times }));
export const wait = (lane: LaneHarness): void => lane.hush(140);
export const lost = (seconds: number) => ({
  lost_ms: Math.round((seconds * 1000) / CHUNK_MS) * CHUNK_MS,
  cause: 'left_out',
});
