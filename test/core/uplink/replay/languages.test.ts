import { describe, expect, it } from 'vitest';
import type { BacklogChunk } from '../../../../src/core/uplink/backlog.ts';
import { judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import { coverBySound, notePartial } from '../../../../src/core/uplink/replay/interim.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import {
  emptyReplayLog,
  noteSent,
  noteSilence,
  owesSpeech,
  retarget,
  unspoken,
} from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText, owesRest } from '../../../../src/core/uplink/replay/spoken.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';
import { CHUNK_MS, proven, send, sound, TARGETS, TEXT, text, understand } from './two-languages.ts';

describe('a sentence for two languages', () => {
  it('is owed until both have been spoken', () => {
    const one = sound(understand(send(4), 'a'), 'a', 'es', 1000, true);
    expect(owesSpeech(one)).toBe(true);
    expect(unspoken(one).map(({ said }) => said)).toEqual(Array(7).fill(['es']));
    expect(unspoken(sound(one, 'a', 'fr', 1000, true))).toEqual([]);
  });

  it('is left out on the next stream in the language in which it was said', () => {
    const back = unspoken(sound(understand(send(4), 'a'), 'a', 'es', 1000, true));
    const next = understand(send(4, emptyReplayLog(TARGETS), { said: back[0]?.said ?? [] }), 'b');
    expect(noteSound(next, { id: 'b', language: 'es', ms: 200, last: false }, 9000).isRepeat).toBe(true);
    expect(noteSound(next, { id: 'b', language: 'fr', ms: 200, last: false }, 9000).isRepeat).toBe(false);
    expect(owesSpeech(sound(next, 'b', 'fr', 1000, true))).toBe(false);
  });

  it('is taken as spoken in both by sound whose language is not told', () => {
    expect(owesSpeech(sound(understand(send(4), 'a'), 'a', null, 1000, true))).toBe(false);
  });

  it('is told apart by the primary language where the service writes the tag in another way', () => {
    const one = sound(understand(send(4), 'a'), 'a', 'ES-419', 1000, true);
    expect(unspoken(one)[0]?.said).toEqual(['es']);
  });
});

describe('a sentence that was said before in one of two languages', () => {
  const repeated = send(4, emptyReplayLog(TARGETS), { said: ['fr'] });

  it('is understood by itself, however late: it is not said again in that language, and what follows is owed', () => {
    const late = understand(send(9, repeated), 'a');
    expect(noteSound(late, { id: 'a', language: 'fr', ms: 1000, last: true }, 9000).isRepeat).toBe(true);
    const said = sound(sound(late, 'a', 'es', 1000, true), 'a', 'fr', 1000, true);
    const owed = unspoken(said).filter(({ voiced }) => voiced);
    expect(owed.map(({ seq }) => seq)).toEqual([...Array(9).keys()].map((index) => index + 7));
  });

  it('is the same behind a noise', () => {
    const late = understand(send(9, send(4, send(1), { said: ['fr'] })), 'a');
    expect(noteSound(late, { id: 'a', language: 'fr', ms: 1000, last: true }, 9000).isRepeat).toBe(true);
  });

  it('is understood by itself behind speech that was never said: not a word of it is heard in its place', () => {
    const late = understand(send(9, send(4), { said: ['fr'], again: true, late: true }), 'a');
    const first = sound(sound(late, 'a', 'es', 1000, true), 'a', 'fr', 1000, true);
    const next = understand(first, 'b');
    expect(noteSound(next, { id: 'b', language: 'fr', ms: 1000, last: true }, 9000).isRepeat).toBe(true);
    expect(unspoken(sound(next, 'b', 'es', 1000, true))).toEqual([]);
  });

  it('is another behind speech that was never said', () => {
    const late = understand(send(9, send(4, send(2), { said: ['fr'] })), 'a');
    expect(noteSound(late, { id: 'a', language: 'fr', ms: 1000, last: true }, 9000).isRepeat).toBe(false);
  });

  it('is no part of what a service without texts says behind the next sentence: in doubt it is heard', () => {
    const speak = (chunks: number, log: ReplayLog, told: Partial<BacklogChunk>): ReplayLog =>
      Array.from({ length: chunks }).reduce<ReplayLog>((sent) => {
        const seq = Math.round(sent.sentMs / CHUNK_MS);
        const chunk = { seq, capturedAt: 0, pcm: Uint8Array.of(1, 1), voiced: true, queued: false, ...told };
        return noteSent(sent, chunk, CHUNK_MS, sent.sentMs);
      }, log);
    const both = (log: ReplayLog, id: string): ReplayLog =>
      sound(sound(log, id, 'es', 1000, true), id, 'fr', 1000, true);
    const first = both(speak(12, emptyReplayLog(TARGETS), { said: ['es'] }), 'a');
    // It has cut running speech, of which the rest may still come; then there is a pause of ours, and speech that was never said.
    const paused = [1, 2, 3].reduce((log) => noteSilence(log, CHUNK_MS, log.sentMs), first);
    const next = both(speak(9, paused, {}), 'b');
    expect(noteSound(next, { id: 'c', language: 'es', ms: 1000, last: true }, 9000).isRepeat).toBe(false);
    expect(noteSound(first, { id: 'b', language: 'es', ms: 1000, last: true }, 9000).isRepeat).toBe(true);
  });

  it('is muted also in the part that comes when it seemed to have been said to its end', () => {
    const part = (log: ReplayLog, language: string, number: string) =>
      noteSound(log, { id: 'a', part: number, language, ms: 1000, last: true }, 9000);
    const first = part(part(repeated, 'es', '0').log, 'fr', '0');
    expect(first).toMatchObject({ isRepeat: true, log: { sentences: [] } });
    const second = part(first.log, 'fr', '1');
    expect(second.isRepeat).toBe(true);
    expect(part(first.log, 'es', '1').isRepeat).toBe(false);
    // What comes late of the text of a part that had ended makes no sentence that was never spoken.
    const late = noteText(second.log, { id: 'a', part: '0', language: 'es', letters: 60 }, 10_000);
    expect(judgeCuts(late, 60_000)).toMatchObject({ again: [], cuts: [] });
  });

  it('may be several of that kind', () => {
    const two = understand(send(2, repeated, { said: ['fr'] }), 'a');
    expect(unspoken(sound(two, 'a', 'es', 1000, true))).toEqual([]);
  });
});

describe('a stretch that the service has cut in two, and word of both comes when it is over', () => {
  /** Ten chunks, 60 of 100 letters of them in the first; of its Spanish next to nothing came. */
  const late = (letters?: number): ReplayLog => {
    const word = (log: ReplayLog, id: string, known: number): ReplayLog =>
      noteUnderstood(log, { id, span: null, ...(letters === undefined ? {} : { letters: known }) });
    const both = word(word(send(10), 'a', 60), 'b', letters ?? 0);
    return sound(sound(text(both, 'a', 'es'), 'a', 'es', 200), 'a', 'fr', 4000, true);
  };
  const seqs = (log: ReplayLog): readonly number[] => unspoken(log).map(({ seq }) => seq);
  const second = (log: ReplayLog): ReplayLog =>
    sound(sound(log, 'b', 'es', 1000, true), 'b', 'fr', 1000, true);

  it('is owed without its end, where that has been said: by the lengths of the texts, and a second less', () => {
    expect(seqs(second(late(40)))).toEqual([0, 1, 2]);
    expect(seqs(second(late(10)))).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('is owed whole where the end has not been said, or no text tells how long it is', () => {
    expect(seqs(late(40))).toHaveLength(13);
    expect(seqs(second(late()))).toHaveLength(13);
  });

  it('is said once more without its end, which is still to be spoken', () => {
    const { again, log } = judgeCuts(late(40), 20_000);
    expect(again.map(({ seq }) => seq)).toEqual([0, 1, 2]);
    expect(owesSpeech(log)).toBe(true);
  });
});

describe('a sentence that was cut in running speech, of a service that tells no times', () => {
  const speak = (log: ReplayLog, chunks: number): ReplayLog =>
    Array.from({ length: chunks }).reduce<ReplayLog>((sent) => {
      const seq = Math.round(sent.sentMs / CHUNK_MS);
      const chunk = { seq, capturedAt: 0, pcm: Uint8Array.of(1, 1), voiced: true, queued: false };
      return noteSent(sent, chunk, CHUNK_MS, sent.sentMs);
    }, log);
  const saidIn = (log: ReplayLog) => unspoken(log).map(({ said = [] }) => said.join());
  const write = (log: ReplayLog, id: string): ReplayLog => notePartial(log, { id, letters: 10 }, 5000);
  /** Said in one language; the other has been cut off. @param isNext the one behind it is being written down */
  const cut = (isNext: boolean): ReplayLog => {
    const begun = write(speak(emptyReplayLog(TARGETS), 10), 'a');
    const next = isNext ? write(begun, 'b') : begun;
    return sound(text(sound(next, 'a', 'fr', 3000, true), 'a', 'es'), 'a', 'es', 200);
  };

  it('has not said for certain what may be of the next one, where that is being written down', () => {
    expect(saidIn(cut(true))).toEqual([...Array(7).fill('fr'), '', '', '']);
    expect(saidIn(cut(false))).toEqual(Array(10).fill('fr'));
  });

  it('is said once more whole where the next one begins behind a pause', () => {
    const running = understand(speak(emptyReplayLog(TARGETS), 10), 'a');
    const paused = noteSilence(
      noteSilence(noteSilence(running, CHUNK_MS, 3520), CHUNK_MS, 3840),
      CHUNK_MS,
      4160,
    );
    const both = understand(noteSilence(speak(paused, 6), CHUNK_MS, 6400), 'b');
    const { again } = judgeCuts(sound(text(both, 'a', 'es'), 'a', 'es', 200), 20_000);
    expect(again.filter(({ voiced }) => voiced)).toHaveLength(10);
  });
});

describe('a sentence that is said once more, and cut in two then', () => {
  /** Word of both parts comes when all of it has been said, before the sound of the first. */
  const late = (): ReplayLog => {
    const repeated = send(10, emptyReplayLog(TARGETS), { said: ['fr'] });
    const one = noteUnderstood(repeated, { id: 'a', span: null, letters: 60 });
    const two = noteUnderstood(one, { id: 'b', span: null, letters: 10 });
    return sound(sound(text(two, 'a', 'es'), 'a', 'es', 4000, true), 'a', 'fr', 4000, true);
  };

  it('is not heard again in the language in which it was said', () => {
    const repeats = ['es', 'fr'].map(
      (language) => noteSound(late(), { id: 'b', language, ms: 300, last: true }, 6000).isRepeat,
    );
    expect(repeats).toEqual([false, true]);
  });

  it('is not heard again where another sentence has been understood before its end sounds', () => {
    const both = noteUnderstood(send(10, emptyReplayLog(TARGETS), { said: ['fr'] }), {
      id: 'a',
      span: null,
      letters: 60,
    });
    const end = noteUnderstood(both, { id: 'b', span: null, letters: 10 });
    const other = noteUnderstood(send(4, end), { id: 'c', span: null, letters: 30 });
    const first = sound(sound(text(other, 'a', 'es'), 'a', 'es', 4000, true), 'a', 'fr', 4000, true);
    const isRepeat = (id: string, language: string) =>
      noteSound(first, { id, language, ms: 300, last: true }, 6000).isRepeat;
    expect(['es', 'fr'].map((language) => isRepeat('b', language))).toEqual([false, true]);
    expect(['es', 'fr'].map((language) => isRepeat('c', language))).toEqual([false, false]);
  });

  it('is not heard again where no text of its end comes before the sound of that', () => {
    const write = (log: ReplayLog, id: string, fromMs: number, toMs: number): ReplayLog =>
      notePartial(log, { id, letters: 10, span: { fromMs, toMs } }, 5000);
    const both = (log: ReplayLog): ReplayLog =>
      coverBySound(log, sound(sound(log, 'a', 'es', 3000, true), 'a', 'fr', 3000, true), 'a');
    const repeated = both(write(send(10, emptyReplayLog(TARGETS), { said: ['fr'] }), 'a', 0, 2500));
    const next = write(send(4, repeated), 'c', 4160, 5400);
    const end = (language: string) => noteSound(next, { id: 'b', language, ms: 300, last: true }, 6000);
    expect(end('fr').isRepeat).toBe(true);
    expect(end('es').isRepeat).toBe(false);
    expect(unspoken(end('es').log).filter(({ voiced }) => voiced)).toHaveLength(4);
    // Behind what was not said before it is nothing that has been heard.
    const first = both(write(send(10), 'a', 0, 2500));
    const other = write(send(4, first), 'c', 4160, 5400);
    expect(noteSound(other, { id: 'b', language: 'fr', ms: 300, last: true }, 6000).isRepeat).toBe(false);
  });

  it('owes no more when the first part has been said, and leaves nothing behind when both have', () => {
    const one = late();
    expect(owesSpeech(one)).toBe(false);
    expect(sound(sound(one, 'b', 'es', 300, true), 'b', 'fr', 300, true).pieces).toEqual([]);
  });
});

describe('another task on the same stream', () => {
  it('owes nothing to texts that come late, in a language of before', () => {
    const said = sound(sound(understand(send(4), 'a'), 'a', 'es', 4000, true), 'a', 'fr', 3500);
    const late = text(text(retarget(said, ['de']), 'a', 'es'), 'a', 'fr');
    expect(judgeCuts(late, 60_000).cuts).toEqual([]);
    // In the new one, or one that nobody has named, it is to be spoken.
    for (const language of ['de', 'it'])
      expect(judgeCuts(text(retarget(said, ['de']), 'b', language), 60_000).cuts).toHaveLength(1);
  });

  it('does not make it owe again what it has said in the languages before', () => {
    const said = sound(sound(understand(send(4), 'a'), 'a', 'es', 1000), 'a', 'fr', 1000);
    expect(unspoken(retarget(said, ['de']))).toEqual([]);
    expect(unspoken(retarget(understand(send(4), 'a'), ['de']))).toHaveLength(7);
  });

  it('is told where a service that marks ends marks none, and a little is missing', () => {
    const one = (ms: number) => sound(text(understand(send(4, proven()), 'a'), 'a', 'es'), 'a', 'es', ms);
    expect(judgeCuts(one(0.85 * TEXT * 65), 10_100).cuts).toMatchObject([{ language: 'es' }]);
    expect(judgeCuts(one(TEXT * 65), 10_100).cuts).toEqual([]);
  });

  it('is told however long it was, where the session has marked three ends', () => {
    const marked = proven(proven());
    const one = sound(text(understand(send(4, marked), 'a'), 'a', 'es'), 'a', 'es', 1.2 * TEXT * 65);
    expect(judgeCuts(one, 10_100).cuts).toMatchObject([{ language: 'es' }]);
  });

  it('is still to be finished where next to nothing of it came', () => {
    const one = (ms: number) => sound(text(understand(send(4), 'a'), 'a', 'es'), 'a', 'es', ms);
    expect([200, 3000].map((ms) => owesRest(one(ms)))).toEqual([true, false]);
  });
});
