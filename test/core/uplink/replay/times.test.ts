import { describe, expect, it } from 'vitest';
import type { BacklogChunk } from '../../../../src/core/uplink/backlog.ts';
import { judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, noteSent, unspoken } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { reanchor } from '../../../../src/core/uplink/replay/times.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

const CHUNK_MS = 320;
/** 16 samples of one byte pair each: a sixteenth of a chunk is 20 ms. */
const CHUNK_BYTES = 32;

/** s: speech, q: a pause; a chunk each. */
function send(story: string, log: ReplayLog = emptyReplayLog(['es'])): ReplayLog {
  return [...story].reduce((sent, letter) => {
    const seq = Math.round(sent.sentMs / CHUNK_MS);
    const pcm = new Uint8Array(CHUNK_BYTES).fill(seq + 1);
    const chunk: BacklogChunk = { seq, capturedAt: sent.sentMs, pcm, voiced: letter === 's', queued: false };
    return noteSent(sent, chunk, CHUNK_MS, sent.sentMs);
  }, log);
}

const understand = (log: ReplayLog, id: string, from: number, to: number): ReplayLog =>
  noteUnderstood(log, { id, span: { fromMs: from * 1000, toMs: to * 1000 } });
const speak = (log: ReplayLog, id: string): ReplayLog =>
  noteSound(log, { id, language: 'es', ms: 1000, last: true }, log.sentMs).log;
/** What would be said again: numbers of chunks, and of those in part how many of 16 parts are sound. */
const again = (log: ReplayLog): (number | string)[] =>
  unspoken(log).map(({ seq, pcm }) => {
    const sound = (pcm ?? []).filter((byte) => byte !== 0).length / 2;
    return sound === 16 ? seq : `${seq}:${sound}`;
  });

describe('a sentence that is cut off in running speech, without times', () => {
  const text = (log: ReplayLog, id: string): ReplayLog =>
    noteText(log, { id, language: 'es', letters: 60 }, log.sentMs);
  const cut = (log: ReplayLog, id: string, letters: number): ReplayLog =>
    text(noteUnderstood(log, { id, span: null, letters }), id);
  const stub = (log: ReplayLog, id: string): ReplayLog =>
    noteSound(log, { id, language: 'es', ms: 200, last: false }, log.sentMs).log;

  it('may have lost its end to the next one: what that has said is not said again', () => {
    const two = send('ssssqqqq', stub(cut(send('s'.repeat(20)), 'a', 60), 'a'));
    expect(again(two).slice(0, 24)).toEqual([...Array(24).keys()]);
    const said = speak(noteUnderstood(two, { id: 'b', span: null, letters: 20 }), 'b');
    expect(again(said)).toEqual([...Array(17).keys()]);
  });

  it('may hold all of the next one, whose word comes when nobody speaks any more', () => {
    const one = stub(cut(send('s'.repeat(20)), 'a', 60), 'a');
    const two = noteUnderstood(send('qqq', one), { id: 'b', span: null, letters: 10 });
    expect(again(speak(two, 'b'))).toEqual([...Array(17).keys()]);
  });

  it('is owed whole where the next one is not said either, or began behind a pause', () => {
    const one = stub(cut(send('s'.repeat(20)), 'a', 60), 'a');
    expect(again(one)).toHaveLength(20);
    const later = noteUnderstood(send('qqqqssssqqqq', one), { id: 'b', span: null, letters: 20 });
    expect(again(speak(later, 'b'))).toContain(19);
  });

  it('is said once more without its end while the stream goes on: the next one may begin with that', () => {
    const one = stub(cut(send('s'.repeat(20)), 'a', 60), 'a');
    const two = noteUnderstood(send('ssssqqqq', one), { id: 'b', span: null, letters: 20 });
    const { again: repeated, log } = judgeCuts(two, one.sentMs + 5000);
    expect(repeated.map(({ seq }) => seq)).toEqual([...Array(17).keys()]);
    expect(again(log).slice(0, 7)).toEqual([17, 18, 19, 20, 21, 22, 23]);
    expect(again(speak(log, 'b'))).toEqual([]);
  });

  it('is kept apart from what is owed behind another that was said', () => {
    const owed = stub(cut(send('ssssqqq'), 'a', 60), 'a');
    const said = speak(noteUnderstood(send('sssqqq', owed), { id: 'b', span: null }), 'b');
    const third = unspoken(send('sss', said));
    expect(third.filter(({ apart }) => apart === true).map(({ seq }) => seq)).toEqual([13]);
  });
});

describe("a sentence's times, as the service tells them", () => {
  it('say which of two sentences was spoken, however late word of the first comes', () => {
    const both = send('ssqqqsssssssss');
    expect(again(speak(understand(both, 'a', 0, 0.7), 'a'))).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13]);
  });

  it('cut a sentence without a pause to the very sample: the rest is said again, and not a word of what was spoken', () => {
    const log = understand(send('s'.repeat(20)), 'a', 0, 3.3);
    expect(again(speak(log, 'a'))).toEqual(['10:11', 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    const whole = understand(log, 'b', 3.3, 6.4);
    expect(again(speak(speak(whole, 'a'), 'b'))).toEqual([]);
    expect(again(speak(whole, 'b'))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, '10:5']);
  });

  it('are false where they begin long before anybody spoke', () => {
    const speech = send(`${'q'.repeat(10)}${'s'.repeat(12)}`);
    const shifted = understand(speech, 'a', 0.9, 4.3);
    expect(shifted.times.refused).toBe('times that begin long before the speech');
    expect(understand(speech, 'a', 2, 4.3).times.refused).toBeNull();
  });

  it('leave the soft edges of a stretch of speech to it', () => {
    expect(again(speak(understand(send('qsssqqq'), 'a', 0.5, 1.1), 'a'))).toEqual([]);
  });

  it('take for left out what lies well before them, and what they pass over', () => {
    const log = understand(send('sqqqqqsssqqq'), 'a', 1.9, 2.9);
    expect(again(log)).toEqual([6, 7, 8, 9, 10, 11]);
    expect(again(speak(log, 'a'))).toEqual([]);
  });

  it('correct what was taken for the sentence when its sound came before its word', () => {
    const early = noteSound(send('sssqqqss'), { id: 'a', language: 'es', ms: 200, last: false }, 3000).log;
    expect(again(understand(early, 'a', 0, 0.96))).toEqual([6, 7]);
  });

  it.each([
    ['run backwards', 2, 1],
    ['are before the first sample', -2, 1],
    ['lie beyond what was sent', 0, 9],
    ['fall where nobody spoke', 1.1, 1.3],
  ])('are not used again in this session once they %s', (_, from, to) => {
    const log = understand(send('sssqqqqqqq'), 'a', from, to);
    expect(log.times.refused).toMatch(/^times /);
    expect(again(speak(log, 'a'))).toEqual([]);
    const next = send('ssssqss', speak(log, 'a'));
    expect(again(speak(understand(next, 'b', 3.2, 4.5), 'b'))).toEqual([15, 16]);
  });

  it('are refused where they contradict the order of sentences, or span a pause that no sentence has', () => {
    const first = speak(understand(send('sssqqqsssqqq'), 'a', 1.9, 2.9), 'a');
    expect(understand(send('sss', first), 'b', 0.5, 1.5).times.refused).toMatch(/order/);
    const two = send(`sss${'q'.repeat(9)}sssq`);
    expect(understand(two, 'a', 0, 4.8).times.refused).toMatch(/pause/);
  });

  it('are refused where nobody speaks so fast', () => {
    const told = (letters: number): ReplayLog =>
      noteUnderstood(send('sqqqqsssssssqq'), { id: 'a', span: { fromMs: 0, toMs: 200 }, letters });
    expect(told(44).times.refused).toMatch(/too short/);
    expect(again(speak(told(44), 'a'))).toEqual([]);
    expect(told(30).times.refused).toBeNull();
  });

  it('that have no length, before anything was said, are refused', () => {
    expect(understand(send('qqsss'), 'a', 0, 0).times.refused).toMatch(/backwards/);
    expect(understand(send('qqqsss'), 'a', 0, 0.5).times.refused).toMatch(/nobody spoke/);
  });

  it('that end in the middle of speech which has ended since take its rest along, until its own word comes', () => {
    const late = understand(send('sssssssqqq'), 'a', 0, 0.96);
    expect(again(speak(late, 'a'))).toEqual([]);
    expect(again(speak(understand(late, 'b', 0.96, 2.24), 'a'))).toEqual([3, 4, 5, 6, 7, 8, 9]);
  });

  it('do not make it owe again what was said before they came', () => {
    const begun = noteText(send('s'.repeat(20)), { id: 'a', language: 'es', letters: 60 }, 6400);
    const cut = noteSound(begun, { id: 'a', language: 'es', ms: 200, last: false }, 6400).log;
    const late = understand(understand(speak(send('qqq', cut), 'b'), 'a', 0, 3.3), 'b', 3.3, 6.4);
    expect(again(late)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, '10:5']);
    expect(again(noteText(late, { id: 'b', language: 'es', letters: 60 }, 8000))).toEqual(again(late));
  });

  it('take back to the very sample what was taken for the end of the sentence before', () => {
    const late = understand(understand(send('sssssssqqq'), 'a', 0, 1.04), 'b', 1.04, 2.24);
    expect(again(speak(late, 'b'))).toEqual([0, 1, 2, '3:4', 7, 8, 9]);
  });

  it('are neither used nor refused while a new task leaves their zero open, until only one zero fits', () => {
    const old = send('sssqqq');
    const again = { ...old, times: reanchor(old.times, old.sentMs) };
    expect(again.times.zeros).toEqual([0, 1920]);
    const kept = understand(send('sssqqq', again), 'b', 1.92, 2.88);
    expect(kept.times).toMatchObject({ zeros: [0], refused: null });
    const reset = understand(send('sssqqq', speak(understand(again, 'a', 0, 0.96), 'a')), 'b', 0, 0.96);
    expect(reset.times).toMatchObject({ zeros: [1920], refused: null });
    const unclear = understand(send('sssqqqsss', again), 'b', 0, 0.96);
    expect(unclear.times).toMatchObject({ zeros: [0, 1920], refused: null });
  });
});
