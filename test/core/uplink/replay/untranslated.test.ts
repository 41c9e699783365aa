import { describe, expect, it } from 'vitest';
import { cutsAtEnd, judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, noteSent, retarget } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

const CHUNK_MS = 320;

/** Chunks in which somebody speaks, and a pause behind them. */
function send(chunks: number, log = emptyReplayLog(['es', 'fr'])): ReplayLog {
  let sent = log;
  for (let index = 0; index < chunks + 3; index++) {
    const seq = Math.round(sent.sentMs / CHUNK_MS);
    const chunk = { seq, capturedAt: 0, pcm: Uint8Array.of(1, 1), voiced: index < chunks, queued: false };
    sent = noteSent(sent, chunk, CHUNK_MS, sent.sentMs);
  }
  return sent;
}
const understand = (log: ReplayLog, id: string): ReplayLog => noteUnderstood(log, { id, span: null });
const text = (log: ReplayLog, id: string, language: string): ReplayLog =>
  noteText(log, { id, language, letters: 20 }, 4000);
const sound = (log: ReplayLog, id: string, language: string | null, ms: number, last: boolean): ReplayLog =>
  noteSound(log, { id, language, ms, last }, 5000).log;

describe('a sentence that the service has understood and never translates', () => {
  const FORGOTTEN_MS = 34_000;
  const wait = (log: ReplayLog): ReplayLog => {
    let later = log;
    while (later.sentMs < FORGOTTEN_MS) later = send(0, later);
    return later;
  };
  const told = (log: ReplayLog) => judgeCuts(log, FORGOTTEN_MS).cuts;
  const never = (...languages: string[]) =>
    languages.map((language) => ({ language, playedMs: 0, expectedMs: 4 * CHUNK_MS }));

  it('is told once, in each language of which no sound came', () => {
    expect(told(wait(understand(send(4), 'a')))).toEqual(never('es', 'fr'));
    const spoken = wait(sound(understand(send(4), 'a'), 'a', 'es', 1300, true));
    const judged = judgeCuts(spoken, FORGOTTEN_MS);
    expect(judged.cuts).toEqual(never('fr'));
    expect(told(judged.log)).toEqual([]);
  });

  it('is not left unanswered as well, whether or not sound of it came in any language', () => {
    expect(wait(send(4)).unheard.possible).toBe(4);
    expect(wait(understand(send(4), 'a')).unheard.possible).toBe(0);
    expect(wait(sound(understand(send(4), 'a'), 'a', 'es', 1300, true)).unheard.possible).toBe(0);
  });

  it('is told at the end of its stream, whether or not its text had come', () => {
    expect(cutsAtEnd(wait(understand(send(4), 'a')), FORGOTTEN_MS)).toEqual(never('es', 'fr'));
    const written = text(sound(understand(send(4), 'a'), 'a', 'es', 1300, true), 'a', 'fr');
    expect(cutsAtEnd(wait(written), FORGOTTEN_MS)).toEqual(never('fr'));
  });

  it('is not told before it is forgotten, where it was said, or where it was a noise', () => {
    expect(told(send(8, understand(send(4), 'a')))).toEqual([]);
    const both = sound(sound(understand(send(4), 'a'), 'a', 'es', 1300, true), 'a', 'fr', 1300, true);
    expect(told(wait(both))).toEqual([]);
    expect(told(wait(sound(understand(send(4), 'a'), 'a', null, 1300, true)))).toEqual([]);
    expect(told(wait(understand(send(1), 'a')))).toEqual([]);
  });

  it('is told in the languages that were wanted when it was said', () => {
    expect(told(wait(retarget(understand(send(4), 'a'), ['de'])))).toEqual(never('es', 'fr'));
    // What comes after the change counts, in whichever language, and nobody knows which of two was spoken before it.
    const late = sound(retarget(understand(send(4), 'a'), ['de']), 'a', 'es', 1300, true);
    expect(told(wait(late))).toEqual([]);
    const half = sound(understand(send(4), 'a'), 'a', 'es', 1300, true);
    expect(told(wait(retarget(half, ['de'])))).toEqual([]);
    expect(told(wait(understand(send(4, retarget(send(0), ['de'])), 'a')))).toEqual(never('de'));
  });
});
