import { describe, expect, it } from 'vitest';
import type { BacklogChunk } from '../../../../src/core/uplink/backlog.ts';
import type { ReplayLog } from '../../../../src/core/uplink/replay/record.ts';
import {
  emptyReplayLog,
  noteSent,
  noteSilence,
  unspoken,
} from '../../../../src/core/uplink/replay/replay-log.ts';
import { noteSound } from '../../../../src/core/uplink/replay/spoken.ts';
import { noteTranslated, noteUnderstood } from '../../../../src/core/uplink/replay/understood.ts';

const CHUNK_MS = 320;
const EMPTY_LOG = emptyReplayLog(['es']);

function hear(log: ReplayLog, id: string | null, at: number): ReplayLog {
  return noteSound(log, { id, language: 'es', ms: 1000, last: true }, at).log;
}

/**
 * s: speech, q: a quiet room, r: a room too loud to be told from speech for sure, d: speech with a short pause,
 * m: muted, f: our own silence; a number in the middle is what the service says then.
 */
function tell(story: string, log: ReplayLog = EMPTY_LOG, from = 0): ReplayLog {
  let at = from;
  return [...story].reduce((told, letter) => {
    at += 320;
    if (letter === 'f') return noteSilence(told, CHUNK_MS, at);
    if (letter === 'U') return noteUnderstood(told, { id: 'a', span: null });
    if (letter === 'V') return noteUnderstood(told, { id: 'b', span: null });
    if (letter === 'T') return noteTranslated(told, { id: 'a', span: null });
    if (letter === 'A') return hear(told, 'a', at);
    if (letter === 'B') return hear(told, 'b', at);
    if (letter === 'X') return hear(told, null, at);
    const pcm = letter === 'm' ? null : Uint8Array.of(1);
    const voiced = 'srd'.includes(letter);
    const loudestDb = { s: -18, d: -18, r: -24 }[letter] ?? -60;
    const levels = { loudestDb, quietestDb: letter === 'd' ? -60 : loudestDb };
    const chunk: BacklogChunk = { seq: at / 320, capturedAt: at, pcm, voiced, levels, queued: false };
    return noteSent(told, chunk, CHUNK_MS, at);
  }, log);
}

/** What would be said again, in the letters of the story. */
function again(story: string): string {
  return unspoken(tell(story))
    .map(({ pcm, voiced }) => (pcm === null ? 'm' : voiced ? 's' : 'q'))
    .join('');
}

describe('what a stream has been sent and not spoken', () => {
  it.each([
    ['nothing, from a quiet room', 'qqqqqq', ''],
    ['speech with the pauses in it', 'qqssqsqqqqqq', 'ssqsqqq'],
    ['muted chunks as pauses', 'ssmsmmmm', 'ssmsmmm'],
    ['two sentences', 'ssqqqqssqqqq', 'ssqqqssqqq'],
    ['all of it, understood or not', 'ssqqqUss', 'ssqqqss'],
    ['none of it, spoken', 'ssqqqUA', ''],
    ['none of it, spoken without a name', 'ssqqqUX', ''],
    ['what was said since', 'ssqqqUssA', 'ss'],
    ['what another sentence does not tell', 'ssqqqUB', 'ssqqq'],
    ['the second of two', 'ssqqqUssqqqVA', 'ssqqq'],
    ['both, by the second name only where the first came, too', 'ssqqqUssqqqVB', 'ssqqq'],
    ['the first of two of which word comes late', 'sssqqqssqqqUVB', 'sssqqq'],
    ['the second of two of which word comes late', 'sssqqqssqqqUVA', 'ssqqq'],
    ['the first of two of which word comes late, and a noise before it', 'sqqqsssqqqssqqqUVB', 'sqqqsssqqq'],
    ['all of it, where word of a second comes and there was but one', 'sqqqsssqqqUVB', 'sqqqsssqqq'],
    ['none of it, after a noise that the service never had a word for', 'sqqqqqqqqqqqqssssssssdUA', ''],
    ['all of it, where the noise is too short ago', 'sqqqssssdUA', 'sssss'],
    ['what followed the last breath, where the service ended sooner than we', 'ssqqssUA', 'ss'],
    ['none of it, where there was no breath: the service has cut it', 'ssssssssssUA', ''],
    ['none of it, where only a loud room followed', 'ssrrUA', ''],
    ['none of it, where the pause had just begun', 'sssdssssdUA', ''],
    ['none of it, where a pause was too short for a chunk', 'ssssdssUA', ''],
    ['none of it, where another breath was long ago', 'ssqsssssssssdUA', ''],
    ['what followed a breath of which word may come yet', 'ssqsssssdUA', 'ssssss'],
    ['none of it, where a breath was too long ago to be what ended it', 'ssqsssssssssUA', ''],
    ['none of it, where a loud room hides the pause', 'ssssrrsssUA', ''],
    ['all of a beginning, where an older sentence was meant', 'ssqqqssssssUA', 'ssssss'],
    ['nothing that our own silence ended', 'ssssfUA', ''],
    ['a new sentence after our own silence', 'ssssfssUA', 'ss'],
    ['none of it, by a service that only tells the translation', 'ssqqqTA', ''],
    ['what followed, by a service that only tells the translation', 'ssqqqTssqA', 'ssq'],
    ['none of it, by a service that tells nothing', 'ssqqqA', ''],
    ['what followed the sound of a service that tells nothing', 'ssqqqAssqqqAAA', 'ssqqq'],
    ['none of two, by a service that tells nothing', 'ssqqqAssqqqB', ''],
    ['none of two, by a service without names that tells nothing', 'ssqqqXssqqqX', ''],
    ['what a translation says of a service that tells what it has understood', 'ssqqqUAssqqqTA', 'ssqqq'],
    ['none of it, where the sound comes before the word that it was understood', 'ssqqqAU', ''],
    ['none of it, where sound without a name comes before that word', 'ssqqqUXqqqssqqqXXV', ''],
    ['a sentence that the rest of the sound before it does not tell', 'ssqqqUXssXqqqV', 'ssqqq'],
    ['what followed, where the sound comes before that word', 'ssqqqAssqqqU', 'ssqqq'],
    ['what followed a sentence that the service cut in two', 'ssqqqUVAssqqqBB', 'ssqqq'],
    ['nothing for silence after nothing', 'ffq', ''],
    ['nothing, where there is word of what nobody has said', 'qqqU', ''],
  ])('%s: %s', (_, story, expected) => {
    expect(again(story)).toBe(expected);
  });

  it('is forgotten after a time, by sound and by silence', () => {
    const log = tell('ssqqq');
    const later = 33_000;
    expect(unspoken(tell('q', log, later - 4000))).toHaveLength(5);
    expect(unspoken(tell('q', log, later))).toEqual([]);
    expect(unspoken(tell('f', log, later))).toEqual([]);
    expect(unspoken(tell('s', log, later))).toHaveLength(1);
  });

  it('is over with our own silence, so that what the service leaves out of its edges is no rest', () => {
    const understood = noteUnderstood(tell('ssssf'), { id: 'a', span: { fromMs: 0, toMs: 1000 } });
    expect(unspoken(hear(understood, 'a', 3000))).toEqual([]);
  });

  it('is bounded, in one sentence and in many', () => {
    expect(unspoken(tell('s'.repeat(500)))).toHaveLength(90);
    const many = unspoken(tell('sqqq'.repeat(22) + 's'.repeat(8)));
    expect(many.length).toBeLessThanOrEqual(90);
    expect(many.at(-1)?.voiced).toBe(true);
  });
});
