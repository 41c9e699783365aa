import { describe, expect, it } from 'vitest';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import { emptyReplayLog, noteSent } from '../../../../src/core/uplink/replay/replay-log.ts';
import { judgeCuts, noteSound, noteText } from '../../../../src/core/uplink/replay/spoken.ts';
import { compareSound } from '../../../../src/core/uplink/replay/twins.ts';
import { noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

const CHUNK_MS = 320;
const LETTERS = 60;
const PIECE_MS = 200;

const piece = (tag: number): Uint8Array => Uint8Array.from({ length: 64 }, (_, at) => (at * (tag + 1)) % 251);

/** Which of these pieces come once more, of a stream that sends them in this order. */
function twinsOf(tags: readonly number[]): number[] {
  let last: readonly Uint8Array[] = [];
  return tags.filter((tag) => {
    const compared = compareSound(last, piece(tag));
    last = compared.lastSounds;
    return compared.isTwin;
  });
}

/** A sentence that somebody says, and that is spoken in a number of pieces. */
function say(log: ReplayLog, id: string, pieces: number, isTwin: boolean): ReplayLog {
  let said = log;
  for (let index = 0; index < 8; index++) {
    const seq = Math.round(said.sentMs / CHUNK_MS);
    const chunk = { seq, capturedAt: 0, pcm: Uint8Array.of(1, 1), voiced: index < 5, queued: false };
    said = noteSent(said, chunk, CHUNK_MS, said.sentMs);
  }
  said = noteUnderstood(said, { id, span: null });
  said = noteText(said, { id, language: 'es', letters: LETTERS }, said.sentMs);
  for (let index = 1; index <= pieces; index++) {
    const last = index === pieces;
    said = noteSound(said, { id, language: 'es', ms: PIECE_MS, last, isTwin }, said.sentMs).log;
  }
  return said;
}

describe('sound that comes twice', () => {
  it('is known by its bits, also where pieces have changed places', () => {
    expect(twinsOf([1, 1, 2, 2, 3, 3])).toEqual([1, 2, 3]);
    expect(twinsOf([1, 2, 1, 2, 3])).toEqual([1, 2]);
    expect(twinsOf([1, 2, 3, 4])).toEqual([]);
    expect(twinsOf([1, 2, 3, 4, 5, 1])).toEqual([]);
  });

  it('is no silence', () => {
    const silence = new Uint8Array(64);
    expect(compareSound([silence], silence).isTwin).toBe(false);
    expect(compareSound([new Uint8Array()], new Uint8Array()).isTwin).toBe(false);
  });

  it.each([
    ['is no measure of how long a sentence lasts: the next one is whole', true, 0],
    ['would make the next one a stub, if it were one', false, 5],
  ])('%s', (_, isTwin, again) => {
    let log = emptyReplayLog(['es']);
    for (const id of ['a', 'b', 'c']) log = say(log, id, 40, isTwin);
    log = say(log, 'd', 15, false);
    const judged = judgeCuts(log, log.sentMs + 30_000);
    expect(judged.again.filter(({ voiced }) => voiced)).toHaveLength(again);
    expect(log.pace.sentences).toBe(isTwin ? 1 : 3);
  });
});
