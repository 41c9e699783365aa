/** Rules 1 to 8 of docs/lane.md, "What a broken stream owes": which speech a sentence claims. */
import { describe, expect, it } from 'vitest';
import { owedChunks, owesSpeech } from '../../../../src/device/lane/replay/owed.ts';
import { emptyReplayLog } from '../../../../src/device/lane/replay/replay-log.ts';
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
  understand,
  upTo,
} from './story.ts';

describe('rule 1: voiced chunks are kept until they are spoken', () => {
  const table: Table = [
    ['a quiet room', [send('qqqqqq')], []],
    ['speech with its short pauses, and 0.96 s of the pause after it', [send('qqssqsqqqqqq')], upTo(2, 8)],
    ['muted chunks as pauses', [send('ssmsmmmm')], upTo(0, 6)],
    ['two stretches of speech', [send('ssqqqqqssqqqqq')], [...upTo(0, 4), ...upTo(7, 11)]],
    ['speech before silence that the agent inserted', [send('ssfffff')], [0, 1]],
  ];
  it.each(table)('keeps the voiced chunks of %s', (_, events, chunks) => {
    expect(owed(play(events))).toEqual(chunks);
  });
});

describe('rule 2: a final text claims speech for a sentence', () => {
  it('claims by the transcript, and not by the later translation', () => {
    const log = play([
      send('ssssqqqqq'),
      understand('a'),
      send('ssssqqqqq'),
      translate('a', 20),
      sound('a', 1300),
    ]);
    expect(owed(log)).toEqual(upTo(9, 15).filter((seq) => seq < 16));
  });

  it('claims by the translation when no transcript is sent', () => {
    expect(owed(play([send('ssssqqqqq'), translate('a', 20), sound('a', 1300)]))).toEqual([]);
  });

  it('claims by the sound when no text was sent', () => {
    expect(owed(play([send('ssssqqqqq'), sound('a', 1300)]))).toEqual([]);
  });

  it('claims only once when a text is sent twice', () => {
    const log = play([
      send('ssssqqqqq'),
      understand('a'),
      send('ssssqqqqq'),
      understand('a'),
      sound('a', 1300),
    ]);
    expect(owed(log)).toEqual([9, 10, 11, 12, 13, 14, 15]);
  });
});

describe('rule 3: with times a sentence claims its samples and the edges near them', () => {
  const table: Table = [
    [
      'the middle of running speech',
      [send('s'.repeat(20)), understand('a', [0, 3]), sound('a', 900)],
      ['9:10', ...upTo(10, 19)],
    ],
    [
      'an edge of 0.5 s when the stretch is over',
      [send('ssssssssssqqqqq'), understand('a', [0.5, 2.7]), sound('a', 900)],
      [],
    ],
    [
      'no edge that is 0.8 s long',
      [send('ssssssssssqqqqq'), understand('a', [0, 2.4]), sound('a', 900)],
      ['7:8', 8, 9, 10, 11, 12],
    ],
    [
      'no edge when speech continues after the sentence',
      [send('ssssssssss'), understand('a', [0, 2.7]), sound('a', 900)],
      ['8:9', 9],
    ],
  ];
  it.each(table)('settles %s', (_, events, chunks) => {
    expect(owed(play(events))).toEqual(chunks);
  });
});

describe('rule 4: speech before the times of a sentence that nothing claims was ignored', () => {
  it('is not sent again, and is counted in each language', () => {
    const log = play(
      [send('ssssssqqqqqssssqqqqq'), understand('a', [3.6, 4.8])],
      emptyReplayLog(TWO, KEPT_MS),
    );
    expect(owed(log)[0]).toBe(11);
    expect(log.unspoken).toMatchObject([
      { language: 'es', ms: 1920 },
      { language: 'fr', ms: 1920 },
    ]);
  });

  it('is not counted when it is shorter than a second', () => {
    expect(play([send('ssqqqqqssssqqqqq'), understand('a', [2.3, 3.5])]).unspoken).toEqual([]);
  });
});

describe('rule 5: times that cannot be true are not used', () => {
  const untrue: readonly (readonly [string, readonly [number, number]])[] = [
    ['run backwards', [3, 2]],
    ['lie after the end of what was sent', [0, 500]],
    ['lie before the beginning', [-3, -1]],
    ['lie before those of the sentence before', [0.2, 1]],
  ];
  const first = [send('ssssssssssqqqqq'), understand('a', [0, 3.2]), sound('a', 900)];

  it.each(untrue)('skips one span whose times %s, and uses the next one', (_, seconds) => {
    const log = play([...first, send('ssssqqqqq'), understand('b', seconds), sound('b', 900)]);
    expect(owed(log)).toEqual([]);
    const next = play([send('s'.repeat(20)), understand('c', [7.68, 10.88]), sound('c', 900)], log);
    expect(owed(next)).toEqual(upTo(34, 43));
  });

  it('ignores all times of the session after three untrue spans', () => {
    const lie = (id: string): readonly Event[] => [send('ssssqqqqq'), understand(id, [9, 1]), sound(id, 900)];
    const log = play([...first, ...lie('b'), ...lie('c'), ...lie('d')]);
    // Running speech: all but its last 1.5 s is claimed, whatever the times say.
    const next = play([send('s'.repeat(20)), understand('e', [13.44, 14.4]), sound('e', 900)], log);
    expect(owed(next)).toEqual(['57:11', 58, 59, 60, 61]);
  });

  it('accepts an overlap of 0.4 s with the sentence before', () => {
    const log = play([...first, send('s'.repeat(10)), understand('b', [2.9, 6.4]), sound('b', 900)]);
    expect(log.times.refused).toBe(0);
  });
});

describe('rule 6: without times a sentence claims speech up to the last pause', () => {
  const table: Table = [
    ['everything when it is quiet now', [send('ssssqqq'), understand('a'), sound('a', 900)], []],
    [
      'up to the pause when speech goes on after it',
      [send('ssssqqss'), understand('a'), sound('a', 900)],
      [6, 7],
    ],
    [
      'all but the last 1.5 s of running speech',
      [send('s'.repeat(30)), understand('a'), sound('a', 900)],
      ['25:11', ...upTo(26, 29)],
    ],
    [
      'everything when a pause is older than 2.6 s and little is open',
      [send('sqsssssssss'), understand('a'), sound('a', 900)],
      ['6:11', 7, 8, 9, 10],
    ],
  ];
  it.each(table)('claims %s', (_, events, chunks) => {
    expect(owed(play(events))).toEqual(chunks);
  });

  it('claims repeated speech separately from new speech', () => {
    const log = play([
      send('ssss', { again: true }),
      send('fff'),
      send('ssss'),
      understand('a'),
      sound('a', 900),
    ]);
    expect(owedChunks(log).map(({ again }) => again ?? false)).toEqual([false, false, false, false]);
  });
});

describe('rule 7: two sentences share speech when nothing is left for the second', () => {
  it.each([
    ['neither is spoken', [], true],
    ['only the first is spoken', [sound('a', 900)], true],
    ['only the second is spoken', [sound('b', 900)], true],
    ['both are spoken', [sound('a', 900), sound('b', 900)], false],
  ])('keeps or drops the shared speech when %s', (_, sounds, isOwed) => {
    const log = play([send('ssssssqqqqq'), understand('a'), understand('b'), ...sounds]);
    expect(owesSpeech(log)).toBe(isOwed);
  });
});

describe('a flood of sentences', () => {
  it('does not make an earlier sentence spoken', () => {
    const flood = Array.from({ length: 40 }, (_, index) => translate(`flood ${index}`, 20));
    const log = play([send('ssssssqqqqq'), understand('a'), ...flood]);
    expect(owed(log)).toEqual(upTo(0, 8));
  });
});

describe('rule 8: a finished part of a translation settles the samples that it covers', () => {
  const begun = [
    send(`${'s'.repeat(20)}qqqqq`),
    understand('a', [0, 6.4]),
    translate('a', 30, { part: '1', seconds: [0, 3.2] }),
    translate('a', 30, { part: '2', seconds: [3.2, 6.4] }),
  ];
  it.each([
    ['the first part is over', [sound('a', 2000, true, { part: '1' })], [...upTo(10, 19), 20, 21, 22]],
    ['the second part is over', [sound('a', 2000, true, { part: '2' })], [...upTo(0, 9), 20, 21, 22]],
    ['both are over', [sound('a', 2000, true, { part: '1' }), sound('a', 2000, true, { part: '2' })], []],
    ['neither is over', [sound('a', 200, false, { part: '1' })], upTo(0, 22)],
  ])('owes the rest when %s', (_, sounds, chunks) => {
    expect(owed(play([...begun, ...sounds]))).toEqual(chunks);
  });
});
