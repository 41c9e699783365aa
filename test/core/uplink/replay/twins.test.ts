import { describe, expect, it } from 'vitest';
import { judgeCuts } from '../../../../src/core/uplink/replay/cut-off.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, noteSent } from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { compareSound, type HeardSound, type SoundOf } from '../../../../src/core/uplink/replay/twins.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

const CHUNK_MS = 320;
const LETTERS = 60;
const PIECE_MS = 200;

const piece = (tag: number): Uint8Array =>
  Uint8Array.from({ length: 64 }, (_, at) => (at * at * (tag + 1)) % 251);
const SENTENCE = { id: 'a', language: 'es' };
const NAMELESS = { id: null, language: null };

/** Which of these pieces come once more, of a stream that sends them in this order. */
function twinsOf(tags: readonly number[], of: SoundOf = SENTENCE): number[] {
  let heard: readonly HeardSound[] = [];
  return tags.filter((tag) => {
    const compared = compareSound(heard, of, piece(tag));
    ({ heard } = compared);
    return compared.isTwin;
  });
}
const isTwinOf = (pcm: Uint8Array, before: SoundOf = SENTENCE): boolean =>
  compareSound(compareSound([], before, pcm).heard, SENTENCE, pcm).isTwin;

/** A sentence that somebody says, and that is spoken in a number of pieces. @param twice how each of them comes once more */
function say(
  log: ReplayLog,
  id: string | null,
  pieces: number,
  twice?: 'known' | 'unknown',
  end = true,
): ReplayLog {
  let said = log;
  for (let index = 0; index < 8; index++) {
    const seq = Math.round(said.sentMs / CHUNK_MS);
    const chunk = { seq, capturedAt: 0, pcm: Uint8Array.of(1, 1), voiced: index < 5, queued: false };
    said = noteSent(said, chunk, CHUNK_MS, said.sentMs);
  }
  said = noteUnderstood(said, { id, span: null });
  said = noteText(said, { id, language: 'es', letters: LETTERS }, said.sentMs);
  for (let index = 1; index <= pieces; index++) {
    const last = end && index === pieces;
    const sound = { id, language: 'es', ms: PIECE_MS, last };
    const next = { ...sound, isTwin: twice === 'known', last };
    if (twice !== undefined) said = noteSound(said, { ...sound, last: false }, said.sentMs).log;
    said = noteSound(said, next, said.sentMs).log;
  }
  return said;
}

describe('sound that comes twice', () => {
  it('is known by its bits, wherever in its sentence it comes again', () => {
    expect(twinsOf([1, 1, 2, 2, 3, 3])).toEqual([1, 2, 3]);
    expect(twinsOf([1, 2, 1, 2, 3])).toEqual([1, 2]);
    expect(twinsOf([1, 2, 3, 4])).toEqual([]);
    expect(twinsOf([1, 2, 3, 4, 5, 1])).toEqual([1]);
  });

  it('is known right behind it where it has no name', () => {
    expect(twinsOf([1, 2, 1, 2, 3], NAMELESS)).toEqual([1, 2]);
    expect(twinsOf([1, 2, 3, 4, 5, 1], NAMELESS)).toEqual([]);
  });

  it('is of one sentence, in one language', () => {
    expect(isTwinOf(piece(1))).toBe(true);
    expect(isTwinOf(piece(1), { id: 'b', language: 'es' })).toBe(false);
    expect(isTwinOf(piece(1), { id: 'a', language: 'fr' })).toBe(false);
  });

  it('is no silence, and no tone', () => {
    expect(isTwinOf(new Uint8Array(64))).toBe(false);
    expect(isTwinOf(new Uint8Array())).toBe(false);
    expect(isTwinOf(Uint8Array.from({ length: 64 }, (_, at) => (at >> 1) % 10))).toBe(false);
  });

  it.each([
    ['is no measure of how long a sentence lasts: the next one is whole', 'known', 0],
    ['would make the next one a stub, if it were one', 'unknown', 5],
  ] as const)('%s', (_, twice, again) => {
    let log = emptyReplayLog(['es']);
    for (const id of ['a', 'b', 'c']) log = say(log, id, 20, twice);
    log = say(log, 'd', 15);
    const judged = judgeCuts(log, log.sentMs + 30_000);
    expect(judged.again.filter(({ voiced }) => voiced)).toHaveLength(again);
    expect(log.pace.sentences).toBe(twice === 'known' ? 1 : 3);
  });

  it.each([
    ['with a name', 'a'],
    ['without one', null],
  ])('makes a translation that is cut off no longer, %s', (_, id) => {
    const cut = say(emptyReplayLog(['es']), id, 9, 'known', false);
    expect(judgeCuts(cut, cut.sentMs + 30_000).again).not.toEqual([]);
    const whole = say(emptyReplayLog(['es']), id, 20, 'known', false);
    expect(judgeCuts(whole, whole.sentMs + 30_000)).toMatchObject({ again: [], cuts: [] });
  });

  it('is compared in as many steps as it is long: silence that ends in a click', () => {
    const pcm = new Uint8Array(1_000_000);
    pcm[pcm.length - 2] = 100;
    expect(isTwinOf(pcm)).toBe(true);
  });

  it('is told as it was heard once', () => {
    const log = say(emptyReplayLog(['es'], 3), 'a', 12, 'known', false);
    expect(judgeCuts(log, log.sentMs + 30_000).cuts).toEqual([
      { language: 'es', playedMs: 2400, expectedMs: 3900 },
    ]);
  });

  it('is nothing new where the sentence has come to its end', () => {
    const log = say(emptyReplayLog(['es'], 3), 'a', 20);
    const sound = { id: 'a', language: 'es', ms: PIECE_MS, last: false, isTwin: true };
    expect(noteSound(log, sound, log.sentMs).log).toBe(log);
  });
});
