import {
  advance,
  enqueue,
  type Playout,
  type PlayoutFormat,
  SILENT_PLAYOUT,
  tell,
} from '../../../src/device/playout/playout.ts';
import { FORMAT } from './playout-harness.ts';

export const CHUNK_MS = 320;
const MINUTE_MS = 60_000;

/** A service that never pauses, and a loudspeaker slower than the microphone. @returns the most waiting sound in each minute */
export function lags(minutes: number, ppm: number, given: Partial<PlayoutFormat>): number[] {
  const format = { ...FORMAT, ...given };
  const most = Array.from({ length: minutes }, () => 0);
  const chunk = new Uint8Array(CHUNK_MS * format.bytesPerMs);
  let playout: Playout = SILENT_PLAYOUT;
  let until = 0;
  const look = (now: number): number => {
    const { writes, wakeAt, ...next } = advance(playout, now, format);
    playout = next.playout;
    for (const { pcm, write } of writes) {
      const from = Math.max(now, until);
      until = from + (pcm.byteLength / format.bytesPerMs) * (1 + ppm / 1e6);
      playout = tell(playout, { write, from, until });
    }
    return wakeAt ?? Number.POSITIVE_INFINITY;
  };
  for (let at = 0; at < minutes * MINUTE_MS; at += CHUNK_MS) {
    const minute = Math.floor(at / MINUTE_MS);
    const lag = playout.queuedBytes / format.bytesPerMs + Math.max(0, until - at);
    most[minute] = Math.max(most[minute] ?? 0, lag);
    playout = enqueue(playout, { stream: 1, key: 'a', pcm: chunk, receivedAt: at, complete: false }, format);
    for (let wakeAt = look(at); wakeAt < at + CHUNK_MS; wakeAt = look(wakeAt));
  }
  return most;
}
