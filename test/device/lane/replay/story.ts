/** A stream as its replay log sees it: what is sent, and what the service sends back, in order. */
import { noteTranscript, noteTranslation } from '../../../../src/device/lane/replay/claims.ts';
import { owedChunks } from '../../../../src/device/lane/replay/owed.ts';
import type { Span } from '../../../../src/device/lane/replay/piece.ts';
import type { ReplayLog } from '../../../../src/device/lane/replay/record.ts';
import { emptyReplayLog, noteSent, noteSilence } from '../../../../src/device/lane/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/device/lane/replay/spoken.ts';
import type { BacklogChunk } from '../../../../src/device/lane/uplink/backlog.ts';

export const CHUNK_MS = 320;
export const KEPT_MS = 30_000;
/** 16 samples a chunk: one sample stands for 20 ms. */
const SAMPLES = 16;

export type Event = (log: ReplayLog) => ReplayLog;

/** s: speech, q: a pause, m: muted, f: silence that the agent inserted; one chunk each. */
export const send =
  (letters: string, more: Partial<BacklogChunk> = {}): Event =>
  (log) =>
    [...letters].reduce((sent, letter) => {
      const at = sent.sentMs + CHUNK_MS;
      if (letter === 'f') return noteSilence(sent, CHUNK_MS, at);
      const seq = sent.sentMs / CHUNK_MS;
      const pcm = letter === 'm' ? null : new Uint8Array(2 * SAMPLES).fill((seq % 200) + 1);
      const chunk = { seq, capturedAt: at, pcm, voiced: letter === 's', queued: false, ...more };
      return noteSent(sent, chunk, CHUNK_MS, at);
    }, log);

const spanOf = (seconds?: readonly [number, number]): Span | null =>
  seconds === undefined ? null : { fromMs: seconds[0] * 1000, toMs: seconds[1] * 1000 };

/** A final transcript. @param seconds of the stream's audio, where the service gives them */
export const understand =
  (id: string | null, seconds?: readonly [number, number]): Event =>
  (log) =>
    noteTranscript(log, { id, span: spanOf(seconds) });

interface About {
  readonly language?: string;
  readonly part?: string;
  readonly seconds?: readonly [number, number];
}

/** A translated text. */
export const translate =
  (id: string | null, letters: number, { language = 'es', part, seconds }: About = {}): Event =>
  (log) => {
    const final = { id, span: spanOf(seconds) };
    return noteText(
      noteTranslation(log, final),
      { ...final, part: part ?? null, language, letters },
      log.sentMs,
    );
  };

/** Translated sound. @param last the service marks it as the end */
export const sound =
  (id: string | null, ms: number, last = true, { language = 'es', part }: About = {}): Event =>
  (log) =>
    noteSound(log, { id, part: part ?? null, language, ms, last }, log.sentMs).log;

export function play(events: readonly Event[], log = emptyReplayLog(['es'], KEPT_MS)): ReplayLog {
  return events.reduce((next, event) => event(next), log);
}

/** A service that has marked the ends of this many sentences before. */
export const trusted = (targets: readonly string[] = ['es']): ReplayLog =>
  emptyReplayLog(targets, KEPT_MS, 3);

/** Chunks that the next stream gets, by number; an incomplete chunk is `number:samples`, of 16. */
export function owed(log: ReplayLog): readonly (number | string)[] {
  return owedChunks(log).map(({ seq, pcm }) => {
    const samples = (pcm ?? []).filter((byte) => byte !== 0).length / 2;
    return samples === SAMPLES || pcm === null ? seq : `${seq}:${samples}`;
  });
}

/** Numbers from one to another, both included. */
export const upTo = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Name of the case, its events, and the chunks that are owed afterwards. */
export type Table = readonly (readonly [string, readonly Event[], readonly (number | string)[]])[];

/** Two target languages. */
export const TWO: readonly string[] = ['es', 'fr'];
