import { describe, expect, it } from 'vitest';
import { cutsAtEnd, judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, owesSpeech, unspoken } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { proven, send, sound, text, understand } from './two-languages.ts';

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
      expect([judgeCuts(log, 10_100).cuts, cutsAtEnd(log, 10_100)]).toEqual([[], []]);
    // But one that was being spoken as its stream ended is as long as what was said, or not much shorter.
    expect(cutsAtEnd(first(1700), 5500)).toEqual([{ ...told, playedMs: 1700 }]);
    for (const log of [first(1900), first(200, true)]) expect(cutsAtEnd(log, 5500)).toEqual([]);
    // Of one that has paused more may have been to come.
    expect(cutsAtEnd(first(1200), 9000)).toEqual([{ ...told, playedMs: 1200 }]);
    expect(cutsAtEnd(first(1400), 9000)).toEqual([]);
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
    expect(judgeCuts(text(first, 'a', 'es'), 25_100).cuts).toMatchObject([{ language: 'es', playedMs: 0 }]);
    const untold = sound(understand(send(4, emptyReplayLog(['es'])), 'a'), 'a', 'es', 4000, true);
    expect(judgeCuts(text(untold, 'a', 'es'), 25_100).cuts).toEqual([]);
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
    // The voice was heard at 5 s: until 20 s later it may come to this one yet.
    expect(judgeCuts(silent('a', proven()), 24_900)).toMatchObject({ again: [], cuts: [] });
    const once = judgeCuts(silent('a', proven()), 25_100);
    expect(once.cuts).toEqual([]);
    expect(once.again.map(({ again, said }) => ({ again, said }))).toEqual(
      Array.from({ length: 7 }, () => ({ again: true, said: ['fr'] })),
    );
    // A voice that is gone does not come back by that: what is missing behind it is told.
    const next = judgeCuts(silent('b', once.log), 24_100);
    expect(next).toMatchObject({ again: [], cuts: [{ language: 'es', playedMs: 0 }] });
    const heard = sound(next.log, 'c', 'es', 1000, true);
    expect(judgeCuts(silent('d', heard), 25_100)).toMatchObject({ cuts: [], again: { length: 7 } });
    // What comes late of the first try is not heard beside the second.
    expect(noteSound(once.log, { id: 'a', language: 'es', ms: 200, last: false }, 25_000).isRepeat).toBe(
      true,
    );
    // Nor is its text one of another sentence that never sounds.
    expect(judgeCuts(text(once.log, 'a', 'fr'), 60_000)).toMatchObject({ again: [], cuts: [] });
  });

  it('is no missing one where the service speaks long after it writes, unless it has gone on to the next', () => {
    const written = (log: ReplayLog, id: string, at: number): ReplayLog =>
      noteText(understand(send(4, log), id), { id, language: 'es', letters: 60 }, at);
    const a = written(emptyReplayLog(['es']), 'a', 1000);
    const queued = written(written(sound(a, 'a', 'es', 3900, true, 22_000), 'b', 3000), 'c', 4000);
    expect(judgeCuts(queued, 24_100)).toMatchObject({ again: [], cuts: [] });
    const passed = sound(queued, 'c', 'es', 3900, true, 24_200);
    expect(judgeCuts(passed, 24_300)).toMatchObject({ again: { length: 7 }, cuts: [] });
  });

  it('tells of the language that was cut where the other is said once more', () => {
    const told = text(text(understand(send(4, proven()), 'a'), 'a', 'es'), 'a', 'fr');
    const { again, cuts } = judgeCuts(sound(told, 'a', 'fr', 2500), 25_100);
    expect(again.map(({ said }) => said)).toEqual(Array.from({ length: 7 }, () => ['fr']));
    expect(cuts).toMatchObject([{ language: 'fr', playedMs: 2500 }]);
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
