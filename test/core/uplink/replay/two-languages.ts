import type { BacklogChunk } from '../../../../src/core/uplink/backlog.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, noteSent } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

export const CHUNK_MS = 320;
export const TARGETS = ['es', 'fr'];
/** About 4 s of speech. */
export const TEXT = 'Buenos días, quisiera dos entradas para la exposición, por fav'.length;

export function send(
  chunks: number,
  log = emptyReplayLog(TARGETS),
  told: Partial<BacklogChunk> = {},
): ReplayLog {
  let sent = log;
  for (let index = 0; index < chunks + 3; index++) {
    const seq = Math.round(sent.sentMs / CHUNK_MS);
    const chunk = {
      seq,
      capturedAt: 0,
      pcm: Uint8Array.of(1, 1),
      voiced: index < chunks,
      queued: false,
      ...told,
    };
    sent = noteSent(sent, chunk, CHUNK_MS, sent.sentMs);
  }
  return sent;
}
export const understand = (log: ReplayLog, id: string): ReplayLog => noteUnderstood(log, { id, span: null });
export const text = (log: ReplayLog, id: string, language: string, letters = TEXT): ReplayLog =>
  noteText(log, { id, language, letters }, 4000);
export const sound = (
  log: ReplayLog,
  id: string,
  language: string | null,
  ms: number,
  last = false,
  at = 5000,
): ReplayLog => noteSound(log, { id, language, ms, last }, at).log;
/** A sentence that has been translated to its end in one language, so that this service is known to say where one ends. */
export function proven(log = emptyReplayLog(TARGETS)): ReplayLog {
  const told = text(text(understand(send(3, log), 'p'), 'p', 'es'), 'p', 'fr');
  return sound(sound(told, 'p', 'es', 4000, true), 'p', 'fr', 4000, true);
}
