import { describe, expect, it } from 'vitest';
import type { BacklogChunk } from '../../../../src/core/uplink/backlog.ts';
import { cutsAtEnd, judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, noteSent, unspoken } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { noteTranslated, noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

const CHUNK_MS = 320;
/** A sentence of 6.4 s, and a pause; each of two parts of its translation has 32 letters and sounds for 1.9 s. */
const CHUNKS = 20;
const LETTERS = 32;
const PART_MS = 1900;

function send(log: ReplayLog): ReplayLog {
  return Array.from({ length: CHUNKS + 3 }, (_, index) => index < CHUNKS).reduce((sent, voiced) => {
    const seq = Math.round(sent.sentMs / CHUNK_MS);
    const chunk: BacklogChunk = { seq, capturedAt: 0, pcm: new Uint8Array(32), voiced, queued: false };
    return noteSent(sent, chunk, CHUNK_MS, sent.sentMs);
  }, log);
}

const span = (from: number, to: number) => ({ fromMs: from * 1000, toMs: to * 1000 });
/** The first sentence of a session: the service has understood it. @param timed and tells where it was */
const first = (timed = false, targets: readonly string[] = ['es']): ReplayLog =>
  noteUnderstood(send(emptyReplayLog(targets)), { id: 'a', span: timed ? span(0, 6.4) : null });
/** @param of the seconds that it translates */
const text = (
  log: ReplayLog,
  part: string | null,
  of: [number, number] | null = null,
  at = 7500,
): ReplayLog =>
  noteText(
    log,
    { id: 'a', part, language: 'es', letters: LETTERS, span: of === null ? null : span(...of) },
    at,
  );
const sound = (log: ReplayLog, part: string | null, ms = PART_MS, last = true, at = 8000): ReplayLog =>
  noteSound(log, { id: 'a', part, language: 'es', ms, last }, at).log;
const seqs = (log: ReplayLog): readonly number[] => unspoken(log).map(({ seq }) => seq);
const verdict = (log: ReplayLog, at: number) => {
  const { again, cuts } = judgeCuts(log, at);
  return [again.length, cuts.map(({ playedMs }) => playedMs)];
};

describe('a sentence that is spoken in two parts, the first of a session', () => {
  const begun = (timed = false): ReplayLog => {
    const one = text(first(timed), '0', timed ? [0, 3.2] : null);
    return sound(text(one, '1', timed ? [3.2, 6.4] : null), '0');
  };

  it('has not ended with its first part, where the text of the second has come', () => {
    expect(verdict(begun(), 8000)).toEqual([0, []]);
    const whole = sound(begun(), '1', PART_MS, true, 9000);
    expect(whole.pieces.filter(({ sentence }) => sentence === 'a')).toEqual([]);
    expect(verdict(whole, 40_000)).toEqual([0, []]);
    expect(whole.pace).toEqual({ sentences: 1, ms: 2 * PART_MS, letters: 2 * LETTERS });
  });

  it('tells nothing of the pace with a part whose text comes behind its sound', () => {
    const whole = sound(sound(text(first(), '0'), '0'), '1', PART_MS, true, 9000);
    expect(whole.pace).toMatchObject({ ms: PART_MS, letters: LETTERS });
  });

  it('is told where the first part has no end, the second has, and no text tells how long they should be', () => {
    const cut = sound(sound(first(), '0', PART_MS, false), '1');
    expect(verdict(cut, 12_900)).toEqual([0, []]);
    expect(verdict(cut, 13_100)).toEqual([0, [2 * PART_MS]]);
    expect(verdict(sound(first(), '0', PART_MS, false), 13_100)).toEqual([0, []]);
  });

  it('is told, and not said twice, where the second part is never spoken', () => {
    expect(verdict(begun(), 12_900)).toEqual([0, []]);
    expect(verdict(begun(), 13_100)).toEqual([0, [PART_MS]]);
    expect(cutsAtEnd(begun(), 8100)).toMatchObject([{ playedMs: PART_MS }]);
    expect(seqs(begun())).toEqual([]);
  });

  it('owes no more than the second part where the service tells which seconds they translate', () => {
    expect(seqs(begun(true))).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]);
    expect(cutsAtEnd(begun(true), 8100)).toEqual([]);
    expect(verdict(begun(true), 27_900)).toEqual([0, []]);
    // It is said once more, for this service has a voice.
    expect(verdict(begun(true), 28_100)).toEqual([10, []]);
    expect(seqs(sound(begun(true), '1'))).toEqual([]);
  });

  it('owes the second part before anything but its times tells that there is one', () => {
    const one = sound(text(first(true), '0', [0, 3.2]), '0');
    expect(seqs(one)[0]).toBe(10);
    expect(verdict(one, 30_000)).toEqual([0, []]);
    // What the service says once more of the first part says nothing of the second.
    expect(seqs(sound(one, '0', 200))[0]).toBe(10);
    expect(seqs(sound(text(one, '1', [3.2, 6.4]), '1'))).toEqual([]);
  });

  it('is said once more without the part that was whole', () => {
    const cut = sound(sound(text(text(first(true), '0', [0, 3.2]), '1', [3.2, 6.4]), '0', 200, false), '1');
    const { again } = judgeCuts(cut, 13_100);
    expect(again.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  describe('and cut off in the first part, of which most came', () => {
    const REST = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
    const cut = (ms: number): ReplayLog =>
      sound(text(text(first(true), '0', [0, 3.2]), '1', [3.2, 6.4]), '0', ms, false);

    it('is said once more from the second part on, and told', () => {
      const { again, cuts } = judgeCuts(cut(1500), 13_100);
      expect(again.map(({ seq }) => seq)).toEqual(REST);
      expect(cuts).toEqual([{ language: 'es', playedMs: 1500, expectedMs: LETTERS * 65 }]);
      expect(judgeCuts(cut(1500), 12_900).again).toEqual([]);
    });

    it('is owed from the second part on where nothing but its times tells that there is one', () => {
      const alone = sound(text(first(true), '0', [0, 3.2]), '0', 1500, false);
      expect(seqs(alone)[0]).toBe(10);
      expect(cutsAtEnd(alone, 8100)).toEqual([{ language: 'es', playedMs: 1500, expectedMs: LETTERS * 65 }]);
    });

    it.each([0, 3])('is owed as well where that was judged before, with %i ends marked', (endsMarked) => {
      const alone = sound(text({ ...first(true), endsMarked }, '0', [0, 3.2]), '0', 1500, false);
      const { log, again, cuts } = judgeCuts(alone, 13_100);
      expect(again).toEqual([]);
      expect(cuts).toHaveLength(endsMarked === 0 ? 0 : 1);
      expect(seqs(log)[0]).toBe(10);
      expect(verdict(log, 20_000)).toEqual([0, []]);
      expect(seqs(sound(log, '1'))).toEqual([]);
    });

    it('is owed by a stream that breaks off from the second part on, and told', () => {
      expect(seqs(cut(1500))).toEqual([...REST, 20, 21, 22]);
      expect(cutsAtEnd(cut(1500), 8100)).toMatchObject([{ playedMs: 1500 }]);
      expect(cutsAtEnd(cut(1500), 8100, true)).toHaveLength(1);
    });

    it('is said once more from the third part on where most of the second came as well', () => {
      const two = text(text(first(true), '0', [0, 2]), '1', [2, 4]);
      const begun = sound(sound(text(two, '2', [4, 6.4]), '0', 1100, false), '1', 1100, false);
      expect(seqs(begun)[0]).toBe(12);
      expect(cutsAtEnd(begun, 8100)).toHaveLength(2);
    });

    it('is said once more whole where less than half of that part came', () => {
      expect(seqs(cut(900))[0]).toBe(0);
      expect(cutsAtEnd(cut(900), 8100)).toEqual([]);
      expect(verdict(cut(900), 13_100)).toEqual([CHUNKS, []]);
    });
  });

  it('is one part where nothing but a moment of speech lies behind its times, or they lie elsewhere', () => {
    for (const of of [
      [0, 5.9],
      [2, 3.2],
      [-3, 0.2],
    ] as [number, number][])
      expect(seqs(sound(text(first(true), '0', of), '0'))).toEqual([]);
  });

  it('is one part where the times of the sentence end before its speech does, and those of the part with them', () => {
    const short = noteUnderstood(send(emptyReplayLog(['es'])), { id: 'a', span: span(0, 4.4) });
    expect(seqs(sound(text(short, '0', [0, 4.4]), '0'))).toEqual([]);
  });

  it('is said again whole where next to nothing of either came', () => {
    const stub = sound(text(text(first(), '0'), '1'), '0', 200);
    expect(judgeCuts(stub, 8000).again).toEqual([]);
    expect(judgeCuts(stub, 13_100).again).toHaveLength(CHUNKS + 3);
  });

  it('has ended where its sound names no part', () => {
    const one = sound(text(text(first(), '0'), '1'), null, 2 * PART_MS);
    expect(one.sentences).toEqual([]);
    expect(sound(text(first(), null), '0', PART_MS).sentences).toEqual([]);
  });

  it('owes each language what that has not said', () => {
    const two = text(text(first(true, ['es', 'fr']), '0', [0, 3.2]), '1', [3.2, 6.4]);
    const said = unspoken(sound(two, '0')).map((chunk) => chunk.said ?? []);
    expect(said).toEqual([...Array(10).fill(['es']), ...Array(13).fill([])]);
  });
});

describe('texts that come behind their sound', () => {
  it('tell no cut, in one part or in two', () => {
    const one = text(sound(first(), '0'), '0', null, 18_000);
    expect(verdict(one, 60_000)).toEqual([0, []]);
    const two = text(text(sound(sound(first(), '0'), '1'), '0', null, 18_000), '1', null, 18_100);
    expect(verdict(two, 60_000)).toEqual([0, []]);
  });

  it('tell no cut of a part of one language that sounds when all seemed to be said', () => {
    const soundIn = (log: ReplayLog, language: string, part: string): ReplayLog =>
      noteSound(log, { id: 'a', part, language, ms: PART_MS, last: true }, 8000).log;
    const textIn = (log: ReplayLog, language: string, part: string, of: [number, number]): ReplayLog => {
      const told = noteTranslated(log, { id: 'a', part: { id: part, language }, span: span(...of) });
      return noteText(told, { id: 'a', part, language, letters: LETTERS, span: span(...of) }, 9000);
    };
    // Behind a pause it was said.
    const heard = send(send(emptyReplayLog(['es', 'fr'])));
    let log = soundIn(soundIn(heard, 'es', '0'), 'es', '1');
    for (const language of ['es', 'fr']) log = textIn(log, language, '0', [0, 6.4]);
    log = soundIn(soundIn(log, 'fr', '0'), 'fr', '1');
    for (const language of ['es', 'fr']) log = textIn(log, language, '1', [7.36, 13.76]);
    expect(verdict(log, 60_000)).toEqual([0, []]);
    expect(cutsAtEnd(log, 9100)).toEqual([]);
  });

  it('tell one where their part was never spoken', () => {
    const cut = text(text(sound(first(), '0'), '0', null, 18_000), '1', null, 18_100);
    expect(verdict(cut, 38_200)).toEqual([0, [0]]);
  });

  it('tell which part was spoken, so that the one which was not is said once more', () => {
    const cut = sound(sound(text(first(true), '0', [0, 3.2]), '0', 200, false), '1');
    const told = text(cut, '1', [3.2, 6.4], 9000);
    const { again, cuts } = judgeCuts(told, 13_100);
    expect(again.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(cuts).toEqual([]);
  });

  it('are true where they tell the times of what has been said, for each of two languages', () => {
    let log = send(emptyReplayLog(['es', 'fr']));
    for (const language of ['es', 'fr'])
      log = noteSound(log, { id: 'a', part: '0', language, ms: PART_MS, last: true }, 8000).log;
    log = noteUnderstood(send(log), { id: 'a', span: span(0, 6.4), letters: 60 });
    for (const language of ['es', 'fr'])
      log = noteTranslated(log, { id: 'a', part: { id: '0', language }, span: span(0, 6.4) });
    expect(log.times).toMatchObject({ refused: null, settledMs: 6400 });
    expect(seqs(log)[0]).toBe(CHUNKS + 3);
    const next = noteUnderstood(log, { id: 'b', span: span(7.36, 13.76), letters: 60 });
    expect(next.times.refused).toBeNull();
  });

  it('are refused all the same at a moment at which nobody spoke', () => {
    const said = sound(first(), '0');
    expect(noteUnderstood(said, { id: 'b', span: span(6.5, 7.3) }).times.refused).toMatch(/nobody spoke/);
  });

  it('leave the length of what was said to tell how much of a translation is missing', () => {
    const trusted = { ...first(), endsMarked: 3 };
    const cut = sound(sound(trusted, '0', 200, false), '1', 2400, true, 8500);
    const told = { language: 'es', playedMs: 2600, expectedMs: CHUNKS * CHUNK_MS };
    expect(judgeCuts(cut, 13_600)).toMatchObject({ again: [], cuts: [told] });
    expect(cutsAtEnd(cut, 9000)).toEqual([told]);
    const settled = sound(text({ ...first(true), endsMarked: 3 }, '0', [0, 3.2]), '0');
    const rest = sound(settled, '1', 1000, false, 9000);
    expect(judgeCuts(rest, 14_100).cuts).toEqual([{ ...told, playedMs: 1000, expectedMs: 3200 }]);
  });
});

describe('a service that tells translations only', () => {
  const part = (log: ReplayLog, id: string, from: number, to: number): ReplayLog =>
    text(noteTranslated(log, { id: 'a', part: { id, language: 'es' }, span: span(from, to) }), id, [
      from,
      to,
    ]);

  it('has understood as much as the texts of both parts tell', () => {
    const one = part(send(emptyReplayLog(['es'])), '0', 0, 3.2);
    const two = part(one, '1', 3.2, 6.4);
    expect(seqs(sound(sound(two, '0'), '1'))).toEqual([]);
    expect(seqs(sound(two, '0'))[0]).toBe(10);
  });
});
