import { describe, expect, it } from 'vitest';
import { cutsAtEnd, judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, retarget, unspoken } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { CHUNK_MS, LETTERS, say, send, sound, text, translated } from './nameless-service.ts';

const TOLD = { playedMs: 0, expectedMs: LETTERS * 65 };

describe('a translation without a name of which no sound comes', () => {
  const cuts = (log: ReplayLog, at: number) => judgeCuts(log, at).cuts;

  it('is told half a minute after its text, once', () => {
    expect(cuts(translated(), 32_900)).toEqual([]);
    const { cuts: told, again, log } = judgeCuts(translated(), 33_100);
    expect(told).toEqual([{ language: 'es', ...TOLD }]);
    expect(again).toEqual([]);
    expect(cuts(log, 90_000)).toEqual([]);
  });

  it('is owed where the stream ends before that, and not told', () => {
    expect(unspoken(translated())).toHaveLength(7);
    expect(cutsAtEnd(translated(), 20_000)).toEqual([]);
    // Too old to be said again, and not yet told.
    const old = send(translated(), 0, 92);
    expect(unspoken(old)).toEqual([]);
    expect(cuts(old, 32_000)).toEqual([]);
    expect(cutsAtEnd(old, 32_000)).toEqual([{ language: 'es', ...TOLD }]);
  });

  it('is not told of a service that has spoken before its text came', () => {
    const ahead = text(sound(say(emptyReplayLog(['es']), 4), 4000, 3300), 3500);
    expect(cuts(text(say(ahead, 1), 9000), 60_000)).toEqual([]);
  });

  it('is not told where its text comes behind sound that was long enough for it', () => {
    const both = sound(say(translated(), 4), 8000, 3300);
    expect(cuts(text(both, 4700), 60_000)).toEqual([]);
    expect(cuts(text(sound(say(translated(), 4), 4000, 3300), 4700), 60_000)).toHaveLength(1);
  });

  it.each([
    [10, 4700, 0],
    [10, 6500, 1],
    [40, 4700, 1],
  ])(
    'with %i letters, %i ms after a sound of 4 s began that was promised, is told: %i',
    (letters, at, count) => {
      const spoken = sound(translated(), 4000, 3300);
      const behind = noteText(say(spoken, 4), { id: null, language: 'es', letters }, at);
      expect(cuts(behind, 60_000)).toHaveLength(count);
    },
  );

  it('is not told where sound went on behind its text: it may have been spoken with that', () => {
    const going = sound(text(sound(translated(), 2000, 3300), 3400), 2000, 3900);
    expect(cuts(going, 60_000)).toEqual([]);
  });

  describe('and is passed by when the next one is spoken', () => {
    const next = (ms: number, at: number): ReplayLog => sound(text(say(translated(), 4), at), ms, at + 300);

    it.each([
      ['told where that is no longer than its own text promises', 4000, 14_000, 1],
      ['not told where that is as long as both', 8000, 14_000, 0],
      ['not told where it was awaited for less than 10 s: it may be late', 4000, 12_500, 0],
    ])('is %s', (_, ms, at, count) => {
      expect(cuts(next(ms, at), 32_900).filter(({ playedMs }) => playedMs === 0)).toEqual([]);
      const told = judgeCuts(next(ms, at), 33_100);
      expect(told.cuts.filter(({ playedMs }) => playedMs === 0)).toHaveLength(count);
      expect(cuts(told.log, 90_000)).toEqual([]);
    });

    it('is told as the stream ends: it is not said once more', () => {
      expect(unspoken(next(4000, 14_000))).toEqual([]);
      expect(cutsAtEnd(next(4000, 14_000), 19_500)).toEqual([{ language: 'es', ...TOLD }]);
    });

    it('counts what is spoken behind that, and what promises it', () => {
      const two = next(4000, 14_000);
      expect(cuts(sound(two, 4000, 14_900), 33_100)).toEqual([]);
      const three = sound(text(say(two, 4), 22_000), 4000, 22_300);
      expect(cuts(three, 33_100)).toEqual([{ language: 'es', ...TOLD }]);
      // What comes twice makes nothing longer.
      const twin = noteSound(
        two,
        { id: null, language: null, ms: 4000, last: false, isTwin: true },
        14_900,
      ).log;
      expect(cuts(twin, 33_100)).toEqual([{ language: 'es', ...TOLD }]);
    });
  });
});

describe('a translation without a name of which no sound comes, of a service that writes none down', () => {
  const heard = say(emptyReplayLog(['es']), 4);
  const SAID = { language: 'es', playedMs: 0, expectedMs: 4 * CHUNK_MS };
  const cuts = (log: ReplayLog, at: number) => judgeCuts(log, at).cuts;

  it('is told half a minute after it was understood, by what was said', () => {
    expect(cuts(heard, 30_900)).toEqual([]);
    const { cuts: told, log } = judgeCuts(heard, 31_000);
    expect(told).toEqual([SAID]);
    expect(cuts(log, 90_000)).toEqual([]);
    expect(cuts(sound(heard, 1200, 3300), 90_000)).toEqual([]);
    expect(cuts(say(emptyReplayLog(['es']), 1), 90_000)).toEqual([]);
  });

  it('is told where the next one is spoken for no longer than that was', () => {
    const next = (ms: number): ReplayLog => sound(say(send(heard, 0, 40), 4), ms, 17_500);
    expect(cuts(next(1200), 31_000)).toEqual([SAID]);
    expect(cuts(next(2400), 31_000)).toEqual([]);
    expect(cutsAtEnd(next(1200), 25_000)).toEqual([SAID]);
  });

  it('is told where the lane is not sure of the next one, which is spoken', () => {
    const levels = { loudestDb: -24, quietestDb: -24, isSpeech: false };
    const next = sound(say(send(heard, 0, 40), 4, { levels }), 1200, 17_500);
    expect(cuts(next, 31_000)).toEqual([SAID]);
    expect(cuts(sound(next, 1200, 17_900), 31_000)).toEqual([]);
  });

  it('is told in the language in which it is missing', () => {
    const both = say(emptyReplayLog(['es', 'fr']), 4);
    const one = noteSound(both, { id: null, language: 'fr', ms: 1200, last: false }, 3300).log;
    expect(cutsAtEnd(one, 3500)).toEqual([SAID]);
    const two = noteSound(one, { id: null, language: 'es', ms: 1200, last: false }, 3600).log;
    expect(cutsAtEnd(two, 3700)).toEqual([]);
    expect(cuts(two, 90_000)).toEqual([]);
  });

  it('is not told where words are made of what is no speech', () => {
    const levels = { loudestDb: -24, quietestDb: -24, isSpeech: false };
    expect(cuts(say(emptyReplayLog(['es']), 8, { levels }), 90_000)).toEqual([]);
  });
});

describe('translations without names into two languages', () => {
  const textIn = (log: ReplayLog, language: string, at: number): ReplayLog =>
    noteText(log, { id: null, language, letters: LETTERS }, at);
  const soundIn = (log: ReplayLog, language: string, ms: number, at: number): ReplayLog =>
    noteSound(log, { id: null, language, ms, last: false }, at).log;
  const written = textIn(textIn(say(emptyReplayLog(['es', 'fr']), 4), 'es', 3000), 'fr', 3000);
  const SPEECH_MS = 4 * CHUNK_MS;

  it('are told where one is cut off, and not said once more: the other has been spoken', () => {
    const cut = soundIn(soundIn(written, 'es', 4000, 3300), 'fr', 320, 3400);
    expect(judgeCuts(cut, 8300)).toMatchObject({ again: [], cuts: [] });
    const { again, cuts, log } = judgeCuts(cut, 8500);
    expect(again).toEqual([]);
    expect(cuts).toEqual([{ language: 'fr', playedMs: 320, expectedMs: LETTERS * 65 }]);
    expect(judgeCuts(log, 90_000).cuts).toEqual([]);
    expect(unspoken(cut)).toEqual([]);
    expect(cutsAtEnd(cut, 3500)).toEqual(cuts);
    const first = judgeCuts(soundIn(soundIn(written, 'es', 320, 3300), 'fr', 4000, 3400), 8500);
    expect(first).toMatchObject({ again: [], cuts: [{ language: 'es', playedMs: 320 }] });
  });

  it('are told where only one is spoken, as the stream ends or a minute later', () => {
    const one = soundIn(written, 'es', 4000, 3300);
    const told = [{ language: 'fr', ...TOLD }];
    expect(cutsAtEnd(one, 3500)).toEqual(told);
    expect(judgeCuts(one, 62_900).cuts).toEqual([]);
    expect(judgeCuts(one, 63_100).cuts).toEqual(told);
    // Nothing of either came: it is owed.
    expect(cutsAtEnd(written, 3500)).toEqual([]);
  });

  it('are told where one is missing, and the next is spoken in both, one behind the other', () => {
    const one = soundIn(written, 'es', 4000, 3300);
    const next = textIn(textIn(say(one, 4), 'es', 15_000), 'fr', 15_000);
    const both = soundIn(soundIn(next, 'es', 4000, 15_300), 'fr', 4000, 15_600);
    expect(judgeCuts(both, 63_100).cuts).toEqual([{ language: 'fr', ...TOLD }]);
  });

  it('are whole where one is spoken behind the other, however long that takes', () => {
    let log = written;
    for (let at = 3300; at <= 9000; at += 300) log = soundIn(log, 'es', 200, at);
    // Of which text that is to be is known all the same.
    const cut = judgeCuts(soundIn(log, 'fr', 320, 9300), 15_000).cuts;
    expect(cut).toEqual([{ language: 'fr', playedMs: 320, expectedMs: LETTERS * 65 }]);
    for (let at = 9300; at <= 15_000; at += 300) log = soundIn(log, 'fr', 200, at);
    expect(judgeCuts(log, 90_000)).toMatchObject({ again: [], cuts: [] });
  });

  it('are not told in a language that is not wanted any more', () => {
    const one = soundIn(written, 'es', 4000, 3300);
    const { cuts, log } = judgeCuts(retarget(one, ['es']), 63_100);
    expect(cuts).toEqual([]);
    expect(cutsAtEnd(log, 63_100)).toEqual([]);
  });

  describe('of a service that writes nothing down', () => {
    const heard = send(emptyReplayLog(['es', 'fr']), 4, 3);

    it('are told where only one is spoken, by what was said', () => {
      const one = soundIn(heard, 'es', 1200, 3300);
      const told = [{ language: 'fr', playedMs: 0, expectedMs: SPEECH_MS }];
      expect(cutsAtEnd(one, 3500)).toEqual(told);
      expect(judgeCuts(one, 33_100).cuts).toEqual([]);
      expect(judgeCuts(one, 33_400).cuts).toEqual(told);
    });

    it.each(['es', 'fr'])('are told where %s is cut off', (language) => {
      const other = language === 'es' ? 'fr' : 'es';
      for (const both of [
        soundIn(soundIn(heard, other, 1200, 3300), language, 300, 3400),
        soundIn(soundIn(heard, language, 300, 3300), other, 1200, 3400),
      ])
        expect(judgeCuts(both, 8500)).toMatchObject({
          again: [],
          cuts: [{ language, playedMs: 300, expectedMs: SPEECH_MS }],
        });
    });

    it('are whole where both are spoken', () => {
      const both = soundIn(soundIn(heard, 'es', 1200, 3300), 'fr', 1200, 3400);
      expect(judgeCuts(both, 90_000).cuts).toEqual([]);
      expect(cutsAtEnd(both, 90_000)).toEqual([]);
    });

    it('owe nothing in a language that was not wanted when it was said', () => {
      const wider = soundIn(retarget(send(emptyReplayLog(['es']), 4, 3), ['es', 'fr']), 'es', 1200, 3300);
      expect(judgeCuts(wider, 90_000).cuts).toEqual([]);
    });
  });
});

describe('translations into two languages whose sound tells no language', () => {
  const both = (log: ReplayLog, at: number): ReplayLog =>
    ['es', 'fr'].reduce(
      (told, language) => noteText(told, { id: null, language, letters: LETTERS }, at),
      say(log, 4),
    );
  const written = both(emptyReplayLog(['es', 'fr']), 3000);
  const cutsOf = (log: ReplayLog, at: number) =>
    judgeCuts(log, at).cuts.map(({ language, playedMs, expectedMs }) => [language, playedMs, expectedMs]);

  it('are told together where less than a quarter came, and not said once more', () => {
    const cut = sound(written, 1900, 3300);
    expect(judgeCuts(cut, 8400).again).toEqual([]);
    expect(unspoken(cut)).toEqual([]);
    expect(cutsOf(cut, 8400)).toEqual([['es,fr', 1900, 2 * LETTERS * 65]]);
    expect(cutsAtEnd(cut, 3400)).toHaveLength(1);
  });

  it('are not told where that may be all of one', () => {
    expect(cutsOf(sound(written, 2100, 3300), 90_000)).toEqual([]);
    expect(cutsOf(sound(sound(written, 4000, 3300), 4000, 6500), 90_000)).toEqual([]);
  });

  it('are told where nothing came of them, and the next ones were spoken', () => {
    const next = sound(both(written, 14_000), 8000, 14_300);
    expect(cutsOf(next, 33_100)).toEqual([
      ['es,fr', 0, LETTERS * 65],
      ['es,fr', 0, LETTERS * 65],
    ]);
    expect(cutsOf(sound(both(written, 14_000), 16_000, 14_300), 33_100)).toEqual([]);
    expect(cutsAtEnd(next, 20_000)).toHaveLength(2);
    // The second text of the next one comes behind its first sound.
    const first = noteText(say(written, 4), { id: null, language: 'es', letters: LETTERS }, 14_000);
    const begun = sound(first, 4000, 14_300);
    const second = sound(
      noteText(begun, { id: null, language: 'fr', letters: LETTERS }, 14_400),
      4000,
      14_500,
    );
    expect(cutsOf(second, 33_100)).toHaveLength(2);
  });

  it('are told in each where no sound comes at all', () => {
    expect(cutsOf(written, 33_100).map(([language]) => language)).toEqual(['es', 'fr']);
  });

  it('are not told of a service that has spoken before its texts came', () => {
    const ahead = both(sound(say(emptyReplayLog(['es', 'fr']), 4), 8000, 3300), 3500);
    expect(cutsOf(both(ahead, 12_000), 90_000)).toEqual([]);
    // However short that was.
    const short = both(sound(say(emptyReplayLog(['es', 'fr']), 4), 1900, 3300), 3500);
    expect(cutsOf(short, 90_000)).toEqual([]);
    // And however late they come.
    const late = both(sound(send(emptyReplayLog(['es', 'fr']), 4, 3), 1900, 3300), 9500);
    expect(cutsOf(late, 90_000)).toEqual([]);
  });
});
