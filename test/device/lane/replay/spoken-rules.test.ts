/** Rules 9 to 14 of docs/lane.md, "What a broken stream owes": what is spoken, sent again, forgotten and counted. */
import { describe, expect, it } from 'vitest';
import { notePartial } from '../../../../src/device/lane/replay/claims.ts';
import { settleEnd } from '../../../../src/device/lane/replay/missing.ts';
import { owedChunks, owesSpeech } from '../../../../src/device/lane/replay/owed.ts';
import type { ReplayLog } from '../../../../src/device/lane/replay/record.ts';
import { repeatCutSentences } from '../../../../src/device/lane/replay/repeat.ts';
import { emptyReplayLog, retarget } from '../../../../src/device/lane/replay/replay-log.ts';
import { noteSound } from '../../../../src/device/lane/replay/spoken.ts';
import {
  type Event,
  KEPT_MS,
  owed,
  play,
  send,
  sound,
  type Table,
  TWO,
  translate,
  trusted,
  understand,
  upTo,
} from './story.ts';

describe('rule 9: a sentence is spoken when its parts are over or half of its length came', () => {
  // 40 letters are 2.6 s at 65 ms a letter.
  it.each([
    ['its end is marked', 2000, true, false],
    ['more than half came without an end', 1400, false, false],
    ['less than half came without an end', 1200, false, true],
    ['less than half came with an end', 200, true, true],
  ])('is judged correctly when %s', (_, ms, last, isOwed) => {
    const log = play([send('ssssssqqqqq'), understand('a'), translate('a', 40), sound('a', ms, last)]);
    expect(owesSpeech(log)).toBe(isOwed);
  });

  it('measures the pace of the voice on three sentences', () => {
    const slow = ['a', 'b', 'c'].flatMap((id) => [
      send('ssssqqqqq'),
      understand(id),
      translate(id, 20),
      sound(id, 4000),
    ]);
    const log = play([
      ...slow,
      send('ssssqqqqq'),
      understand('d'),
      translate('d', 20),
      sound('d', 1400, false),
    ]);
    expect(owesSpeech(log)).toBe(true);
  });

  it('owes a sentence with times whose parts cover less than 80 % of it', () => {
    const log = play([
      send(`${'s'.repeat(20)}qqqqq`),
      understand('a', [0, 6.4]),
      translate('a', 30, { part: '1', seconds: [0, 3.2] }),
      sound('a', 2000, true, { part: '1' }),
    ]);
    expect(owed(log)).toEqual(upTo(10, 22));
  });
});

describe('rule 10: sound without an id speaks everything that is claimed', () => {
  const table: Table = [
    ['speech that has a transcript', [send('ssssqqqqq'), understand(null), sound(null, 900)], []],
    [
      'no speech that was sent after the transcript',
      [send('ssssqqqqq'), understand(null), send('ssss'), sound(null, 900)],
      upTo(9, 12),
    ],
    [
      'no speech of a sentence without an id when the sound has one',
      [send('ssssqqqqq'), understand(null), sound('a', 900)],
      upTo(0, 6),
    ],
    ['speech before the last pause when no text was sent', [send('ssssqqqqqss'), sound(null, 900)], [9, 10]],
    [
      'no further speech when the same sound continues within a second',
      [send('ssssqqqqq'), sound(null, 900, false), send('ss'), sound(null, 900)],
      [9, 10],
    ],
  ];
  it.each(table)('settles %s', (_, events, chunks) => {
    expect(owed(play(events))).toEqual(chunks);
  });
});

describe('rule 11: owed speech goes to the next stream, with the languages in which it was spoken', () => {
  it('tags a chunk with the language in which its sentence was spoken', () => {
    const log = play([send('ssssqqqqq'), understand('a'), sound('a', 900)], emptyReplayLog(TWO, KEPT_MS));
    expect(owedChunks(log).map(({ said }) => said)).toEqual(Array(7).fill(['es']));
  });

  it('does not play a language again when every chunk of the sentence has its tag', () => {
    const log = play(
      [send('ssss', { said: ['es'] }), send('qqqqq'), understand('b')],
      emptyReplayLog(TWO, KEPT_MS),
    );
    const repeat = (language: string): boolean =>
      noteSound(log, { id: 'b', part: null, language, ms: 900, last: true }, log.sentMs).isRepeat;
    expect([repeat('es'), repeat('fr')]).toEqual([true, false]);
  });

  it('marks a chunk when speech before it was already translated', () => {
    const log = play([
      send('ssssqqqqq'),
      send('ssssqqqqq'),
      understand('a', [0, 1.28]),
      send('ssssqqqqq'),
      understand('b', [2.88, 4.16]),
      sound('b', 900),
    ]);
    const marked = owedChunks(log).filter(({ apart }) => apart === true);
    expect(marked.map(({ seq }) => seq)).toEqual([18]);
  });

  it('leaves out a language that is no longer wanted', () => {
    const log = play([send('ssssqqqqq'), understand('a'), sound('a', 900)], emptyReplayLog(TWO, KEPT_MS));
    expect(owedChunks(retarget(log, ['es']))).toEqual([]);
    expect(owedChunks(retarget(log, ['fr']))).toHaveLength(7);
  });
});

describe('rule 12: a sentence that is cut off is sent again, at most once', () => {
  const cut = (ms: number, last = false): readonly Event[] => [
    send('ssssssqqqqq'),
    understand('a'),
    translate('a', 40),
    ...(ms > 0 ? [sound('a', ms, last)] : []),
  ];
  const after = (log: ReplayLog, ms: number): number => repeatCutSentences(log, log.sentMs + ms).again.length;

  it.each([
    ['less than half came, 5 s ago', 200, 5000, 9],
    ['less than half came, 4 s ago', 200, 4000, 0],
    ['more than half came', 1500, 20_000, 0],
    ['nothing came and its language was never spoken', 0, 20_000, 0],
  ])('sends the right chunks again when %s', (_, ms, waited, chunks) => {
    expect(after(play(cut(ms)), waited)).toBe(chunks);
  });

  it.each([
    [19_000, 0],
    [20_000, 9],
  ])('sends a sentence without sound again 20 s after its text, not before: %i ms', (waited, chunks) => {
    const text = play(cut(0));
    const other = play([send('ssssqqqqq'), understand('b'), sound('b', 900)], text);
    expect(repeatCutSentences(other, text.sentMs + waited).again).toHaveLength(chunks);
  });

  it('counts a sentence in a language that is never spoken, and does not send it again', () => {
    const log = play(
      [
        send('ssssssqqqqq'),
        understand('a'),
        translate('a', 40, { language: 'fr' }),
        send('q'),
        sound('a', 900),
      ],
      emptyReplayLog(TWO, KEPT_MS),
    );
    expect(repeatCutSentences(log, log.sentMs + 19_000).log).toBe(log);
    const { log: judged, again } = repeatCutSentences(log, log.sentMs + 20_000);
    expect(again).toEqual([]);
    expect(judged.unspoken).toMatchObject([{ language: 'fr', ms: 1920 }]);
  });

  it('does not send a sentence a third time, and counts its missing part', () => {
    const log = play([send('ssssss', { again: true }), ...cut(200).slice(1)]);
    const { log: judged, again } = repeatCutSentences(log, log.sentMs + 5000);
    expect(again).toEqual([]);
    expect(judged.unspoken).toMatchObject([{ language: 'es', sentence: 'a' }]);
    expect(judged.unspoken[0]?.ms).toBeCloseTo(1920 * (1 - 200 / 2600));
    expect(repeatCutSentences(judged, log.sentMs + 60_000).log).toBe(judged);
  });

  it('does not play late sound of a sentence that is sent again', () => {
    const { log } = repeatCutSentences(play(cut(200)), 60_000);
    const late = { id: 'a', part: null, language: 'es', ms: 900, last: true };
    expect(noteSound(log, late, 60_000)).toMatchObject({ isRepeat: true });
  });

  it('counts the rest of a sentence without an end mark when the service marks every end', () => {
    const log = play(cut(2000), trusted());
    expect(repeatCutSentences(log, log.sentMs + 5000)).toMatchObject({
      again: [],
      log: { unspoken: [{ language: 'es' }] },
    });
  });
});

describe('rule 13: speech is forgotten by whole stretches', () => {
  const old = (ms: number): string => 'q'.repeat(Math.ceil(ms / 320));

  it('keeps a stretch whole while its end is younger than 30 s', () => {
    expect(owed(play([send(`${'s'.repeat(20)}${old(28_000)}`)])).length).toBeGreaterThanOrEqual(20);
    expect(owed(play([send(`${'s'.repeat(20)}${old(30_000)}`)]))).toEqual([]);
  });

  it('drops the oldest stretch when more than 30 s are kept', () => {
    const log = play([send(`${'s'.repeat(50)}qqqq${'s'.repeat(50)}`)]);
    expect(owed(log)).toEqual(upTo(54, 103));
  });

  it('drops the beginning of a stretch that is longer than 30 s', () => {
    expect(owed(play([send('s'.repeat(120))]))).toEqual(upTo(27, 119));
  });

  it('keeps 45 s when the setting says so', () => {
    expect(owed(play([send('s'.repeat(150))], emptyReplayLog(['es'], 45_000)))).toHaveLength(140);
  });
});

describe('rule 14: unspoken speech is counted once', () => {
  const forgotten = [send('ssssssqqqqq'), understand('a'), send('q'.repeat(100))];

  it('counts a sentence once when it had a transcript and was forgotten', () => {
    const { unspoken } = play(forgotten, emptyReplayLog(TWO, KEPT_MS));
    expect(unspoken).toEqual([
      { language: 'es', ms: 1920, sentence: 'a' },
      { language: 'fr', ms: 1920, sentence: 'a' },
    ]);
  });

  it('counts speech separately when the service has not reacted to it', () => {
    const log = play([send(`ssssss${'q'.repeat(100)}`)]);
    expect(log).toMatchObject({ unspoken: [], unanswered: { chunks: 6, from: 0, to: 1920 } });
  });

  it('counts no noise: less than three chunks of certain speech', () => {
    expect(play([send(`ss${'q'.repeat(100)}`)]).unanswered).toBeNull();
  });

  it.each([
    ['clean', 1, null],
    ['replayed', 0, null],
    ['stopped', 0, 6],
  ] as const)('counts an owed sentence at the end of a stream (%s)', (end, sentences, chunks) => {
    const log = play([send('ssssssqqqqq'), understand('a')]);
    const { unspoken, stopped } = settleEnd(log, end);
    expect(unspoken).toHaveLength(sentences);
    expect(stopped?.chunks ?? null).toBe(chunks);
  });

  it.each([
    ['clean', 6, null],
    ['replayed', null, null],
    ['stopped', null, 6],
  ] as const)(
    'counts speech without a transcript at the end of a stream (%s)',
    (end, unanswered, stopped) => {
      const settled = settleEnd(play([send('ssssssqqqqq')]), end);
      expect(settled.unanswered?.chunks ?? null).toBe(unanswered);
      expect(settled.stopped?.chunks ?? null).toBe(stopped);
    },
  );

  it('counts speech at a stop as unspoken in the language without sound', () => {
    const log = play([send('ssssssqqqqq'), understand('a'), sound('a', 900)], emptyReplayLog(TWO, KEPT_MS));
    expect(settleEnd(log, 'stopped')).toMatchObject({
      unspoken: [{ language: 'fr', ms: 1920 }],
      stopped: null,
    });
  });

  /** Scores of a voice detector, one per chunk: it is sure above 0. */
  const scored = (scores: readonly number[]): readonly Event[] =>
    scores.map((score) =>
      send('s', {
        levels: { loudestDb: -20, quietestDb: -50, isSpeech: true, talk: { score, roomDb: -50 } },
      }),
    );
  const partial: Event = (log) => notePartial(log, { id: 'a', letters: 9 }, log.sentMs);

  it.each([
    ['the detector is sure of one chunk in nine', scored([-9, -5, 1, -3, -4, -8, -9, -9, -9]), 9],
    ['the detector is sure of one chunk in twelve', scored([1, ...Array(11).fill(-5)]), null],
    ['the detector is sure of no chunk', scored(Array(9).fill(-5)), null],
    [
      'the detector is sure of no chunk, and partial transcripts arrive',
      [...scored(Array(9).fill(-5)), partial],
      9,
    ],
    ['the stretch is shorter than a second', scored([1, 1]), null],
  ])('counts a stretch as speech or noise when %s', (_, events, chunks) => {
    const log = play([...events, send('q'.repeat(100))]);
    expect(log.unanswered?.chunks ?? null).toBe(chunks);
  });
});
