import { describe, expect, it } from 'vitest';
import type { BacklogChunk } from '../../../../src/core/uplink/backlog.ts';
import { cutsAtEnd, judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import {
  emptyReplayLog,
  noteSent,
  owesSpeech,
  retarget,
  unspoken,
} from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText, owesRest } from '../../../../src/core/uplink/replay/spoken.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

const CHUNK_MS = 320;
const TARGETS = ['es', 'fr'];
/** About 4 s of speech. */
const TEXT = 'Buenos días, quisiera dos entradas para la exposición, por fav'.length;

function send(chunks: number, log = emptyReplayLog(TARGETS), told: Partial<BacklogChunk> = {}): ReplayLog {
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
const understand = (log: ReplayLog, id: string): ReplayLog => noteUnderstood(log, { id, span: null });
const text = (log: ReplayLog, id: string, language: string, letters = TEXT): ReplayLog =>
  noteText(log, { id, language, letters }, 4000);
const sound = (
  log: ReplayLog,
  id: string,
  language: string | null,
  ms: number,
  last = false,
  at = 5000,
): ReplayLog => noteSound(log, { id, language, ms, last }, at).log;
/** A sentence that has been translated to its end in one language, so that this service is known to say where one ends. */
function proven(log = emptyReplayLog(TARGETS)): ReplayLog {
  const told = text(text(understand(send(3, log), 'p'), 'p', 'es'), 'p', 'fr');
  return sound(sound(told, 'p', 'es', 4000, true), 'p', 'fr', 4000, true);
}

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

  it('owes no more when the first part has been said, and leaves nothing behind when both have', () => {
    const one = late();
    expect(owesSpeech(one)).toBe(false);
    expect(sound(sound(one, 'b', 'es', 300, true), 'b', 'fr', 300, true).pieces).toEqual([]);
  });
});

describe('a translation that is cut off', () => {
  const begun = (ms: number, last = false): ReplayLog =>
    sound(text(understand(send(4, proven()), 'a'), 'a', 'es'), 'a', 'es', ms, last);
  const whole = (log: ReplayLog): ReplayLog => sound(log, 'a', 'fr', 4000, true);

  it('is owed where the stream ends and less than half of it came', () => {
    expect(unspoken(whole(begun(200)))).toHaveLength(7);
    expect(cutsAtEnd(whole(begun(200)), 5500)).toEqual([]);
  });

  it('is told, and not said again, where more than half of it came', () => {
    expect(unspoken(whole(begun(2500)))).toEqual([]);
    expect(cutsAtEnd(whole(begun(2500)), 5500)).toEqual([
      { language: 'es', playedMs: 2500, expectedMs: 4000 },
    ]);
  });

  it('is told at the end of a stream that fell silent in it so long before that what was said is forgotten', () => {
    const later = (ms: number): ReplayLog => send(100, whole(begun(ms)));
    expect(cutsAtEnd(later(3500), 60_000)).toMatchObject([{ language: 'es', playedMs: 3500 }]);
    expect(cutsAtEnd(later(200), 60_000)).toMatchObject([{ language: 'es', playedMs: 200 }]);
    const said = send(100, whole(begun(3500, true)));
    expect(cutsAtEnd(said, 60_000)).toEqual([]);
    expect(judgeCuts(later(3500), 60_000)).toMatchObject({ again: [], cuts: [{ playedMs: 3500 }] });
  });

  it('is told where no text tells how long it should be, and it is far shorter than what was said', () => {
    const first = (ms: number, last = false): ReplayLog =>
      sound(understand(send(8, emptyReplayLog(['es'])), 'a'), 'a', 'es', ms, last);
    const told = { language: 'es', playedMs: 200, expectedMs: 2560 };
    expect(judgeCuts(first(200), 10_100)).toMatchObject({ again: [], cuts: [told] });
    expect(cutsAtEnd(first(200), 5500)).toEqual([told]);
    // Once is enough.
    expect(judgeCuts(judgeCuts(first(200), 10_100).log, 11_000).cuts).toEqual([]);
    // Languages and voices differ by a factor of three; and a service may say that this was all.
    for (const log of [first(800), first(200, true)])
      expect([judgeCuts(log, 10_100).cuts, cutsAtEnd(log, 5500)]).toEqual([[], []]);
  });

  it('is told where the very first of a session is cut, if one before it told where sentences end', () => {
    const first = (ends: number): ReplayLog =>
      sound(text(understand(send(4, emptyReplayLog(['es'], ends)), 'a'), 'a', 'es'), 'a', 'es', 3900);
    expect(cutsAtEnd(first(1), 5500)).toMatchObject([{ language: 'es', playedMs: 3900 }]);
    expect(proven().endsMarked).toBe(2);
  });

  it('is told where it was cut a moment before, unless so much came that no voice needs more', () => {
    const unproven = (ms: number): ReplayLog =>
      sound(text(understand(send(4, emptyReplayLog(['es'])), 'a'), 'a', 'es'), 'a', 'es', ms);
    expect(cutsAtEnd(unproven(4900), 5500)).toMatchObject([{ language: 'es', playedMs: 4900 }]);
    expect(cutsAtEnd(unproven(4900), 9000)).toEqual([]);
    expect(cutsAtEnd(unproven(5100), 5500)).toEqual([]);
  });

  it('is told where sessions before it have marked three ends, and its own has marked none', () => {
    // Its text promises 3.9 s, and so much came; the end did not.
    const whole = (ends: number): ReplayLog => {
      const understood = understand(send(4, emptyReplayLog(['es'], ends)), 'a');
      return sound(text(understood, 'a', 'es'), 'a', 'es', 4000);
    };
    expect(judgeCuts(whole(3), 10_100).cuts).toMatchObject([{ language: 'es', playedMs: 4000 }]);
    expect(judgeCuts(whole(2), 10_100).cuts).toEqual([]);
  });

  it('is said once more while the stream goes on, in that language only, and then no more', () => {
    const cut = judgeCuts(whole(begun(200)), 10_100);
    expect(cut.cuts).toEqual([]);
    expect(cut.again.map(({ again, said }) => [again, said])).toEqual(Array(7).fill([true, ['fr']]));
    expect(owesSpeech(cut.log)).toBe(false);
    const twice = text(understand(send(4, cut.log, cut.again[0]), 'b'), 'b', 'es');
    const judged = judgeCuts(sound(twice, 'b', 'es', 200, true, 20_000), 25_100);
    expect(judged.again).toEqual([]);
    expect(judged.cuts).toEqual([{ language: 'es', playedMs: 200, expectedMs: 4000 }]);
    expect(judgeCuts(judged.log, 35_000).cuts).toEqual([]);
  });

  it('is said once more without the next sentence, of which word came as late', () => {
    const late = send(2, send(4, emptyReplayLog(['es'])));
    const told = understand(understand(late, 'a'), 'b');
    const cut = sound(text(told, 'a', 'es'), 'a', 'es', 200, true);
    expect(judgeCuts(sound(cut, 'b', 'es', 1000, true), 5500).again.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 7 }, (_, seq) => seq),
    );
  });

  it('is told of its second part, whose text comes when the first one has ended', () => {
    const first = sound(
      text(understand(send(4, emptyReplayLog(['es'])), 'a'), 'a', 'es'),
      'a',
      'es',
      4000,
      true,
    );
    expect(judgeCuts(text(first, 'a', 'es'), 24_100).cuts).toMatchObject([{ language: 'es', playedMs: 0 }]);
    const untold = sound(understand(send(4, emptyReplayLog(['es'])), 'a'), 'a', 'es', 4000, true);
    expect(judgeCuts(text(untold, 'a', 'es'), 24_100).cuts).toEqual([]);
  });

  it('is judged at once where the service says that this was all', () => {
    expect(judgeCuts(whole(begun(200, true)), 5000).again).toHaveLength(7);
  });

  it('is not judged while more may come, nor without its text', () => {
    expect(judgeCuts(whole(begun(200)), 9000).again).toEqual([]);
    const untold = sound(understand(send(4, proven()), 'a'), 'a', 'es', 200, true);
    expect(judgeCuts(untold, 30_000)).toMatchObject({ again: [], cuts: [] });
  });

  /** A sentence of which nothing came in Spanish. */
  const silent = (id: string, log?: ReplayLog): ReplayLog =>
    sound(text(text(understand(send(4, log), id), id, 'es'), id, 'fr'), id, 'fr', 4000, true);

  it('is told where none of it came at all, in a language that the service has not spoken', () => {
    expect(judgeCuts(silent('a'), 23_900)).toMatchObject({ again: [], cuts: [] });
    const judged = judgeCuts(silent('a'), 24_100);
    expect(judged).toMatchObject({ again: [], cuts: [{ language: 'es', playedMs: 0 }] });
    expect(judgeCuts(judged.log, 60_000).cuts).toEqual([]);
  });

  it('is said once more where none of it came and others did; no second one until that language is heard', () => {
    expect(judgeCuts(silent('a', proven()), 23_900)).toMatchObject({ again: [], cuts: [] });
    const once = judgeCuts(silent('a', proven()), 24_100);
    expect(once.cuts).toEqual([]);
    expect(once.again.map(({ again, said }) => ({ again, said }))).toEqual(
      Array.from({ length: 7 }, () => ({ again: true, said: ['fr'] })),
    );
    // A voice that is gone does not come back by that: what is missing behind it is told.
    const next = judgeCuts(silent('b', once.log), 24_100);
    expect(next).toMatchObject({ again: [], cuts: [{ language: 'es', playedMs: 0 }] });
    const heard = sound(next.log, 'c', 'es', 1000, true);
    expect(judgeCuts(silent('d', heard), 24_100)).toMatchObject({ cuts: [], again: { length: 7 } });
    // What comes late of the first try is not heard beside the second.
    expect(noteSound(once.log, { id: 'a', language: 'es', ms: 200, last: false }, 25_000).isRepeat).toBe(
      true,
    );
  });

  it('is told once where more than half came and no end of it', () => {
    const judged = judgeCuts(whole(begun(2500)), 10_100);
    expect(judged).toMatchObject({ again: [], cuts: [{ language: 'es', playedMs: 2500 }] });
    expect(judgeCuts(judged.log, 20_000).cuts).toEqual([]);
  });

  it('is told where the service never says that a sentence ends, if it is too short for any voice', () => {
    const unmarked = (ms: number) => sound(text(understand(send(4), 'a'), 'a', 'es'), 'a', 'es', ms);
    expect(judgeCuts(unmarked(2500), 30_000)).toMatchObject({ again: [], cuts: [{ playedMs: 2500 }] });
    expect(judgeCuts(unmarked(2900), 30_000)).toMatchObject({ again: [], cuts: [] });
  });

  it('is told at the end of a stream that came long after its last sound, likewise', () => {
    const unmarked = (ms: number) => sound(text(understand(send(4), 'a'), 'a', 'es'), 'a', 'es', ms);
    expect(cutsAtEnd(unmarked(2500), 9000)).toMatchObject([{ playedMs: 2500 }]);
    expect(cutsAtEnd(unmarked(2900), 9000)).toEqual([]);
    expect(cutsAtEnd(unmarked(2900), 5500)).toMatchObject([{ playedMs: 2900 }]);
  });

  it("is calculated by the session's own pace after three sentences", () => {
    let log = emptyReplayLog(['es']);
    for (const id of ['1', '2', '3'])
      log = sound(text(understand(send(2, log), id), id, 'es', 100), id, 'es', 13_000, true);
    expect(log.pace).toEqual({ sentences: 3, ms: 39_000, letters: 300 });
    log = sound(text(understand(send(2, log), 'a'), 'a', 'es', 100), 'a', 'es', 6000);
    expect(unspoken(log)).toHaveLength(5);
  });
});

describe('another task on the same stream', () => {
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
