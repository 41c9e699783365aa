import { describe, expect, it } from 'vitest';
import type { BacklogChunk } from '../../../../src/core/uplink/backlog.ts';
import { coverBySound, notePartial } from '../../../../src/core/uplink/replay/interim.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, noteSent, unspoken } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound } from '../../../../src/core/uplink/replay/spoken.ts';
import { reanchor } from '../../../../src/core/uplink/replay/times.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

const CHUNK_MS = 320;

/** s: speech, q: a pause; a chunk each. */
function send(story: string, log: ReplayLog = emptyReplayLog(['es'])): ReplayLog {
  return [...story].reduce((sent, letter) => {
    const seq = Math.round(sent.sentMs / CHUNK_MS);
    const pcm = new Uint8Array(32).fill(1);
    const chunk: BacklogChunk = { seq, capturedAt: sent.sentMs, pcm, voiced: letter === 's', queued: false };
    return noteSent(sent, chunk, CHUNK_MS, sent.sentMs);
  }, log);
}

type Told = readonly [from: number, to: number] | null;
const spanOf = (told: Told) => (told === null ? null : { fromMs: told[0] * 1000, toMs: told[1] * 1000 });
/** An interim text has come. */
const write = (log: ReplayLog, id: string, told: Told, letters = 10): ReplayLog =>
  notePartial(log, { id, letters, span: spanOf(told) }, log.sentMs);
const sound = (log: ReplayLog, id: string, last = true): ReplayLog =>
  coverBySound(log, noteSound(log, { id, language: 'es', ms: 500, last }, log.sentMs).log, id);
const understand = (log: ReplayLog, id: string, from: number, to: number): ReplayLog =>
  noteUnderstood(log, { id, span: spanOf([from, to]) });
const again = (log: ReplayLog): readonly number[] => unspoken(log).map(({ seq }) => seq);

/** Two sentences without a pause between them: the service has cut one long sentence at 1.6 s. */
const both = (story = 's'.repeat(9)): ReplayLog => write(write(send(story), 'a', [0, 1.4]), 'b', [1.6, 2.8]);

describe('a sentence that sounds before its text comes', () => {
  it('leaves to the next one what interim texts tell of that', () => {
    expect(again(sound(both(), 'a'))).toEqual([5, 6, 7, 8]);
    expect(again(sound(sound(both(), 'a'), 'b'))).toEqual([]);
  });

  it('leaves it that where the next one was cut off from an interim text that had been longer', () => {
    const log = write(write(send('s'.repeat(9)), 'a', [0, 2.5]), 'b', [1.6, 2.2]);
    expect(again(sound(log, 'a'))).toEqual([5, 6, 7, 8]);
  });

  /** No times: one sentence has been cut in two, the second is being written down. */
  const untimed = (rest: string): ReplayLog =>
    send(rest, write(send('ss', write(send('sssss'), 'a', null, 40)), 'b', null));

  it('leaves to the next one what follows its own interim texts, where those of the next one tell no times', () => {
    expect(again(sound(untimed('ss'), 'a'))).toEqual([4, 5, 6, 7, 8]);
    expect(again(sound(sound(untimed('ss'), 'a'), 'b'))).toEqual([]);
  });

  it.each([
    ['a breath', 'qs', [4, 5, 6, 7, 8]],
    ['a breath that goes on', 'sq', [4, 5, 6, 7, 8]],
  ])('leaves it that whatever pause was heard since: %s', (_, rest, owed) => {
    expect(again(sound(untimed(rest), 'a'))).toEqual(owed);
    expect(again(sound(sound(untimed(rest), 'a'), 'b'))).toEqual([]);
  });

  it('takes all up to a pause where no interim text of another sentence has come', () => {
    expect(again(sound(send('qs', send('ss', write(send('sssss'), 'a', null, 40))), 'a'))).toEqual([8]);
  });

  it.each([
    ['a chunk', 9, [8]],
    ['a chunk', 8, [7, 8]],
    ['two chunks', 7, [6, 7, 8]],
    ['three chunks', 6, [5, 6, 7, 8]],
  ])(
    'leaves to the next one what it had not written down itself when word of it came, and a chunk: %s',
    (_, written, owed) => {
      const own = send('s'.repeat(9 - written), write(send('s'.repeat(written)), 'a', null, 40));
      const ended = sound(own, 'a');
      // Of a sentence that has ended, and behind which nothing has been understood, nothing is said again.
      expect(again(ended)).toEqual([]);
      const next = write(send('ss', ended), 'b', null);
      expect(again(next)).toEqual([...owed, 9, 10]);
      expect(again(sound(next, 'b'))).toEqual([]);
    },
  );

  it('leaves it all that was said behind the last pause, where word of it comes late', () => {
    // By then the pause is too long ago to be taken for its end.
    const late = noteUnderstood(send('s'.repeat(9), send('sssqqq')), { id: 'a', span: null });
    const next = write(send('s', late), 'b', null);
    expect(again(sound(next, 'a'))).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    expect(again(sound(sound(next, 'a'), 'b'))).toEqual([]);
    // So it does where what it had written down began before that pause, as of a service that is late with everything.
    const behind = send(
      's'.repeat(6),
      write(send('sss', write(send('ssssqqq'), 'a', null, 20)), 'a', null, 40),
    );
    const word = write(send('s', noteUnderstood(behind, { id: 'a', span: null })), 'b', null);
    expect(again(sound(word, 'a'))).toEqual([7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  });

  it.each([
    ['a noise', 'qsqqq'],
    ['the end of another one', 'ssssqqq'],
  ])('keeps what it has written down since its last pause, with %s before that', (_, before) => {
    const own = write(send('s'.repeat(9), send(before)), 'a', null, 40);
    const next = write(send('s', noteUnderstood(send('s', own), { id: 'a', span: null })), 'b', null);
    const last = next.sentMs / CHUNK_MS;
    expect(again(sound(next, 'a'))).toEqual([last - 3, last - 2, last - 1]);
  });

  it('leaves it that when the next one is understood, too', () => {
    const next = noteUnderstood(sound(untimed('ss'), 'a'), { id: 'b', span: null });
    expect(again(next)).toEqual([4, 5, 6, 7, 8]);
    expect(again(sound(next, 'b'))).toEqual([]);
  });

  it('is said in one language only, and not what may be of the next one', () => {
    const begun = write(send('sssss', emptyReplayLog(['es', 'fr'])), 'a', null, 40);
    const spoken = sound(send('ss', write(send('ss', begun), 'b', null)), 'a');
    const told = noteUnderstood(noteUnderstood(spoken, { id: 'a', span: null }), { id: 'b', span: null });
    const saidOf = ({ seq, said = [] }: BacklogChunk): unknown => [seq, ...said];
    const first = [0, 1, 2, 3].map((seq) => [seq, 'es']);
    expect(unspoken(told).map(saidOf)).toEqual([...first, [4], [5], [6], [7], [8]]);
  });

  it('leaves it the words, too, that its own whole text has no more', () => {
    const long = write(send('s'.repeat(10)), 'a', null, 50);
    const cut = noteUnderstood(long, { id: 'a', span: null, letters: 25 });
    // Half of what had been written down, and a chunk before that.
    expect(again(sound(write(send('s', cut), 'b', null), 'a'))).toEqual([4, 5, 6, 7, 8, 9, 10]);
  });

  it('leaves it nothing before a pause at which the first one may have ended', () => {
    const begun = write(send('ssssssss'), 'a', null, 30);
    const next = (rest: string): ReplayLog => sound(write(send(rest, begun), 'b', null), 'a');
    expect(again(next('sqqss'))).toEqual([11, 12]);
    expect(again(next('sqss'))).toEqual([7, 8, 9, 10, 11]);
    // Texts of the next one had come before it.
    expect(again(sound(untimed('qqs'), 'a'))).toEqual([4, 5, 6, 7, 8, 9]);
  });

  it('leaves it nothing of that where the texts of the next one tell where it begins', () => {
    const told = write(send('ss', write(send('sssss'), 'a', [0, 1.3], 40)), 'b', [1.76, 2.2]);
    expect(again(sound(told, 'a'))).toEqual([5, 6]);
    // The chunk in which it begins counts from there on.
    expect(unspoken(sound(told, 'a'))[0]?.pcm?.slice(0, 16)).toEqual(new Uint8Array(16));
  });

  it('leaves it 960 ms where it had written down nothing', () => {
    const untold = write(noteUnderstood(send('s'.repeat(9)), { id: 'a', span: null }), 'b', null);
    expect(again(sound(untold, 'a'))).toEqual([6, 7, 8]);
    expect(again(sound(sound(untold, 'a'), 'b'))).toEqual([]);
    // Of a sentence that has ended, and behind which nothing has been understood, nothing is said again.
    expect(again(sound(write(send('s'.repeat(9)), 'a', null), 'a'))).toEqual([]);
  });

  it('takes all where the interim texts of another tell of nothing but what lies before it', () => {
    expect(again(sound(both(), 'b'))).toEqual([]);
  });

  it('takes all where it has no interim text itself: nobody knows which of the two is first', () => {
    expect(again(sound(both(), 'c'))).toEqual([]);
  });

  it('leaves what is being written down to that where it is of none itself and follows one that had such texts', () => {
    // The end of the first was cut off, and written down as a whole only: no interim text of "b" has come.
    const first = sound(write(send('sssssssqqqq'), 'a', [0, 2]), 'a');
    const cut = sound(write(send('ssss', first), 'c', [3.52, 4.6]), 'b');
    expect(again(cut)).toEqual([11, 12, 13, 14]);
    expect(cut.interims.map(({ id }) => id)).toEqual(['c']);
    expect(again(sound(cut, 'c'))).toEqual([]);
  });

  it('takes what lies before that', () => {
    const first = sound(write(send('sssssssqqqq'), 'a', [0, 2]), 'a');
    const cut = sound(write(send('sssqqqqssss', first), 'c', [5.76, 6.9]), 'b');
    expect(again(cut)).toEqual([18, 19, 20, 21]);
  });

  it('leaves it that while a new task leaves the zero of its times open, if only one fits', () => {
    const old = send(`${'s'.repeat(8)}qqqq`);
    const open = { ...old, times: reanchor(old.times, old.sentMs) };
    const log = write(write(send('s'.repeat(9), open), 'a', [3.84, 5.2]), 'b', [5.44, 6.6]);
    expect(log.times.zeros).toHaveLength(2);
    expect(again(sound(log, 'a'))).toEqual([17, 18, 19, 20]);
  });
});

describe('a sentence without times', () => {
  it('has all that was said before word of it, where a pause lies behind no other speech', () => {
    const ended = sound(noteUnderstood(send('sssq'), { id: 'a', span: null }), 'a');
    const log = noteUnderstood(send('qqqqsss', ended), { id: 'b', span: null });
    expect(again(log)).toEqual([8, 9, 10]);
    expect(again(sound(log, 'b'))).toEqual([]);
  });
});

describe('a sentence whose times come when nobody speaks any more', () => {
  it('leaves to the next one what interim texts tell of that', () => {
    const log = sound(understand(both('sssssssssqqq'), 'a', 0, 1.6), 'a');
    expect(again(log)[0]).toBe(5);
  });

  it('leaves the next one what has begun to sound of that', () => {
    const begun = sound(sound(both('sssssssssqqq'), 'a', false), 'b', false);
    expect(begun.interims).toEqual([]);
    const late = understand(begun, 'a', 0, 1.6);
    const owner = (seq: number) => late.pieces.find(({ chunk }) => chunk.seq === seq)?.sentence;
    expect([4, 5, 8].map(owner)).toEqual(['a', 'b', 'b']);
  });

  it('leaves no doubt where it ends, so that what follows has no end in common with the one behind', () => {
    const begun = sound(send('s'.repeat(20)), 'a', false);
    const told = understand(understand(begun, 'a', 0, 3.2), 'b', 3.2, 6.4);
    const third = sound(send('sssqqq', told), 'c');
    expect(again(sound(third, 'a'))).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });

  it('has the soft end behind them where the next one lies within', () => {
    const log = write(both('sssssssssqqq'), 'c', [0.4, 0.8]);
    expect(again(sound(understand(log, 'a', 0, 2.6), 'a'))).toEqual([]);
  });
});
