import { describe, expect, it } from 'vitest';
import { cutsAtEnd, judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, unspoken } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteTranslated, noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';
import { CHUNK_MS, LETTERS, say, send, sound, text, translated } from './nameless-service.ts';

describe('a translation without a name', () => {
  it('is said once more where less than half of it came, when nothing more of it can come', () => {
    const cut = sound(translated(), 320, 3300);
    expect(judgeCuts(cut, 8000).again).toEqual([]);
    const { again, log, cuts } = judgeCuts(cut, 8400);
    expect(again.map(({ again: once }) => once)).toEqual(Array(7).fill(true));
    expect(cuts).toEqual([]);
    expect(judgeCuts(log, 20_000).again).toEqual([]);
  });

  it('is owed where the stream ends just then', () => {
    expect(unspoken(sound(translated(), 320, 3300))).toHaveLength(7);
    expect(unspoken(sound(translated(), 2500, 3300))).toEqual([]);
  });

  it('is told where it is cut off a second time', () => {
    const { again, cuts } = judgeCuts(sound(translated(['es'], { again: true }), 320, 3300), 8400);
    expect(again).toEqual([]);
    expect(cuts).toEqual([{ language: 'es', playedMs: 320, expectedMs: LETTERS * 65 }]);
  });

  it('is told, and not said again, where the next one sounds before that is clear', () => {
    const two = sound(text(say(sound(translated(), 320, 3300), 4), 5000), 4000, 5300);
    const { again, cuts } = judgeCuts(two, 5400);
    expect(again).toEqual([]);
    expect(cuts).toMatchObject([{ playedMs: 320 }]);
    expect(judgeCuts(two, 12_000).again).toEqual([]);
  });

  it('is said once more without the sentence that may have sounded a moment after it', () => {
    const two = (at: number): ReplayLog => sound(text(say(sound(translated(), 320, 3300), 1), 3600), 300, at);
    expect(unspoken(two(4260)).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    // It went on without a gap: what was understood meanwhile has not been said.
    expect(unspoken(two(3700))).toHaveLength(11);
  });

  it('is not judged by a text of a service that has spoken before its text came', () => {
    // The long text belongs to the sound before it, and the short sound to a text that comes later.
    const ahead = text(sound(say(emptyReplayLog(['es']), 4), 4000, 3300), 3500);
    const short = sound(say(ahead, 1), 600, 6000);
    expect(judgeCuts(short, 12_000)).toMatchObject({ again: [], cuts: [] });
    expect(unspoken(short)).toEqual([]);
  });

  it('is judged by its text again when three in a row had theirs first', () => {
    const ahead = text(sound(say(emptyReplayLog(['es']), 4), 4000, 3300), 3500);
    const again = (sentences: number): number => {
      let log = ahead;
      for (let at = 20_000; at <= 20_000 * sentences; at += 20_000)
        log = sound(text(say(log, 4), at), 4000, at + 300);
      return judgeCuts(sound(text(say(log, 4), 200_000), 320, 200_300), 206_000).again.length;
    };
    expect([again(2), again(3)]).toEqual([0, 7]);
  });

  it('goes on after a gap where no other text has come', () => {
    const whole = sound(sound(translated(), 320, 3300), 3600, 6000);
    expect(judgeCuts(whole, 12_000)).toMatchObject({ again: [], cuts: [] });
  });

  it('is not judged by a text that may have been spoken with the sound before it', () => {
    const late = sound(text(sound(translated(), 2000, 3300), 3400), 2000, 3900);
    const { again } = judgeCuts(sound(late, 320, 6000), 12_000);
    expect(again).toEqual([]);
  });

  it('is not said again where two texts had come before its sound: that may be the first of them, whole', () => {
    const two = text(say(translated(), 4), 3100);
    expect(unspoken(sound(two, 3000, 3300))).toEqual([]);
  });
});

describe('a sentence without a name whose sound comes before its text', () => {
  const seqs = (log: ReplayLog): readonly number[] => unspoken(log).map(({ seq }) => seq);
  /** The first is chunks 0 to 6, the second 7 to 13. */
  const ahead = sound(send(sound(translated(), 2500, 3300), 4, 3), 1500, 9000);

  it('is not said once more where the stream ends before the text', () => {
    expect(seqs(ahead)).toEqual([]);
  });

  it('leaves what was said behind it owed, before its text and after', () => {
    const next = send(ahead, 2, 0);
    expect(seqs(sound(next, 500, 9300))).toEqual([14, 15]);
    expect(seqs(noteUnderstood(next, { id: null, span: null }))).toEqual([14, 15]);
  });

  it('is owed while speech goes on: the sound may be of the sentence before', () => {
    const going = sound(send(sound(translated(), 2500, 3300), 9, 0), 500, 9000);
    expect(seqs(going)).toHaveLength(9);
  });
});

describe.each([[['es']], [['es', 'fr']]])(
  'sound without names in %j that goes on for longer than its texts promise',
  (targets) => {
    const speak = (log: ReplayLog, ms: number, at: number): ReplayLog =>
      noteUnderstood(sound(send(log, 4, 3), ms, at), { id: null, span: null });
    const first = sound(translated(targets), 4000, 3300);

    it('is of the sentence whose text comes next', () => {
      const second = speak(first, 4000, 4200);
      expect(unspoken(second)).toHaveLength(7);
      expect(unspoken(text(second, 6000))).toEqual([]);
      const third = noteUnderstood(send(text(second, 6000), 4, 3), { id: null, span: null });
      expect(unspoken(text(third, 9000))).toHaveLength(7);
    });

    it('is no matter where it is little: voices differ', () => {
      expect(unspoken(text(speak(first, 1500, 4200), 6000))).toHaveLength(7);
    });

    it('is not of what was said after it', () => {
      const long = sound(first, 4000, 3400);
      const second = noteUnderstood(send(send(long, 0, 9), 4, 3), { id: null, span: null });
      expect(unspoken(text(second, 20_000))).toHaveLength(7);
    });

    it('is forgotten with the next sound that begins', () => {
      const second = sound(speak(first, 4000, 4200), 320, 9000);
      const third = noteUnderstood(send(second, 4, 3), { id: null, span: null });
      expect(unspoken(text(third, 9500))).toHaveLength(7);
    });
  },
);

describe('a translation without a name of which more than half came', () => {
  it('is told where it is too short for any voice', () => {
    expect(judgeCuts(sound(translated(), 2400, 3300), 8400)).toMatchObject({
      again: [],
      cuts: [{ playedMs: 2400, expectedMs: LETTERS * 65 }],
    });
    expect(judgeCuts(sound(translated(), 3000, 3300), 8400).cuts).toEqual([]);
  });

  it('is not told where two texts had come before it: it may be one of them, whole', () => {
    const two = text(say(translated(), 4), 3100);
    expect(judgeCuts(sound(two, 4500, 3300), 8400).cuts).toEqual([]);
  });
});

describe('a translation without a name, of a service that writes down nothing else', () => {
  const first = noteTranslated(send(emptyReplayLog(['es']), 4, 3), { id: null, span: null });
  const begun = sound(text(first, 3000), 320, 3300);
  const seqs = (log: ReplayLog): readonly number[] => unspoken(log).map(({ seq }) => seq);

  it('leaves what is said while it sounds owed', () => {
    const going = sound(send(begun, 4, 0), 3600, 4000);
    expect(seqs(going)).toEqual([7, 8, 9, 10]);
    const second = noteTranslated(send(going, 0, 3), { id: null, span: null });
    expect(seqs(sound(text(second, 9000), 4000, 9300))).toEqual([]);
  });

  it('is whatever was said by then where no text has promised it', () => {
    expect(seqs(sound(send(begun, 4, 3), 4000, 9000))).toEqual([]);
  });
});

describe('a translation without a name, of a service that writes nothing down', () => {
  const SPEECH_MS = 4 * CHUNK_MS;
  const heard = send(emptyReplayLog(['es']), 4, 3);
  const cut = sound(heard, 300, 3300);
  const told = [{ language: 'es', playedMs: 300, expectedMs: SPEECH_MS }];

  it('is told where it is much shorter than what was said, when nothing more of it can come', () => {
    expect(judgeCuts(cut, 8200)).toMatchObject({ again: [], cuts: [] });
    const judged = judgeCuts(cut, 8400);
    expect(judged).toMatchObject({ again: [], cuts: told });
    expect(judgeCuts(judged.log, 20_000).cuts).toEqual([]);
  });

  it('is told where the next one sounds before that is clear', () => {
    const two = sound(send(cut, 4, 3), 1200, 6000);
    expect(judgeCuts(two, 6000).cuts).toEqual(told);
    expect(judgeCuts(judgeCuts(two, 6000).log, 20_000).cuts).toEqual([]);
  });

  it('is told where the stream ends', () => {
    expect(cutsAtEnd(cut, 3400)).toEqual(told);
    expect(cutsAtEnd(sound(heard, 320, 3300), 8400)).toEqual([]);
    // One that was being spoken is not much shorter than what was said.
    expect(cutsAtEnd(sound(heard, 320, 3300), 3400)).toMatchObject([
      { playedMs: 320, expectedMs: SPEECH_MS },
    ]);
  });

  it('goes on after a gap in which nobody spoke', () => {
    expect(judgeCuts(sound(cut, 300, 6000), 20_000).cuts).toEqual([]);
  });

  it('is no matter where a loud room was taken for speech', () => {
    const levels = { loudestDb: -24, quietestDb: -24, isSpeech: false };
    const noise = send(emptyReplayLog(['es']), 8, 3, { levels });
    expect(judgeCuts(sound(noise, 300, 3300), 20_000).cuts).toEqual([]);
  });
});

describe('a translation without a name whose stream ends in it', () => {
  it('is told where it is not said once more', () => {
    expect(cutsAtEnd(sound(translated(), 320, 3300), 3400)).toEqual([]);
    const crowded = sound(text(say(sound(translated(), 320, 3300), 4), 5000), 320, 5300);
    expect(cutsAtEnd(crowded, 5400)).toMatchObject([{ playedMs: 320 }]);
    expect(cutsAtEnd(sound(translated(), 2400, 3300), 3400)).toMatchObject([{ playedMs: 2400 }]);
    expect(cutsAtEnd(translated(), 3400)).toEqual([]);
  });
});
