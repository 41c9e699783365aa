import type { BacklogChunk } from '../../../../src/core/uplink/backlog.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, noteSent } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

/** A service that speaks without names. */

export const CHUNK_MS = 320;
/** About 4 s of speech. */
export const LETTERS = 62;

export function send(
  log: ReplayLog,
  chunks: number,
  pauses: number,
  more: Partial<BacklogChunk> = {},
): ReplayLog {
  let sent = log;
  for (let index = 0; index < chunks + pauses; index++) {
    const seq = Math.round(sent.sentMs / CHUNK_MS);
    const voiced = index < chunks;
    const chunk = { seq, capturedAt: 0, pcm: Uint8Array.of(1, 1), voiced, queued: false, ...more };
    sent = noteSent(sent, chunk, CHUNK_MS, sent.sentMs);
  }
  return sent;
}
export const say = (log: ReplayLog, chunks: number, more: Partial<BacklogChunk> = {}): ReplayLog =>
  noteUnderstood(send(log, chunks, 3, more), { id: null, span: null });
export const text = (log: ReplayLog, at: number): ReplayLog =>
  noteText(log, { id: null, language: 'es', letters: LETTERS }, at);
export const sound = (log: ReplayLog, ms: number, at: number): ReplayLog =>
  noteSound(log, { id: null, language: null, ms, last: false }, at).log;
export const translated = (targets = ['es'], more: Partial<BacklogChunk> = {}): ReplayLog =>
  text(say(emptyReplayLog(targets), 4, more), 3000);
