import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../../src/cli/demo/display-text.ts';
import { renderFrame, type Size } from '../../../src/cli/demo/live-frame.ts';
import { follow, SILENT_METER } from '../../../src/cli/demo/live-meter.ts';
import type { Exchange } from '../../../src/cli/demo/model.ts';
import { PHASE_NAMES } from '../../../src/protocol/phases.ts';
import { testAnyText } from './live-frame-tests.ts';
import { account, exchange, frameOf, liveModel, PLAIN } from './made-up.ts';

const USUAL: Size = { columns: 80, rows: 24 };
const LONG = 'I would like to know everything that there is to know about it. '.repeat(20);
const JAPANESE =
  '今日は博物館は何時に閉まりますか。それから、車椅子で二階まで上がれるエレベーターはありますか。';

const loudMeter = follow(SILENT_METER, -20, 1000);
const busy = liveModel({
  elapsedMs: 72_400,
  phase: 'live',
  inputMeter: loudMeter,
  outputMeter: follow(loudMeter, -96, 1500),
  backlogMs: 320,
  exchanges: [
    exchange(0, 'Good morning.', 'Buenos días.'),
    exchange(1, JAPANESE, 'El museo. '.repeat(30)),
    exchange(2, LONG, LONG),
  ],
  notices: [
    { seq: 0, atMs: 100, text: 'requests a token from the backend (start)' },
    { seq: 1, atMs: 2900, text: `session ${'x'.repeat(200)} is live` },
  ],
});
const busyAccount = account({
  captured: 225,
  sent: 201,
  silenced: 13,
  trimmed: 7,
  dropped: 3,
  held: 1,
  sessions: 2,
  played_ms: 12_340,
  capture_to_wire_ms: { p50: 0.41, p99: 1.93, max: 2, count: 200 },
  wire_to_speaker_ms: { p50: 12.2, p99: 1234.5, max: 2000, count: 20 },
});

/** The rows from the heading of the captions to the next heading. */
function captionsOf(rows: readonly string[]): string[] {
  const from = rows.findIndex((row) => row.includes(' heard and translated '));
  const to = rows.findIndex((row) => row.includes(' latency and chunks '));
  return rows.slice(from + 1, to);
}

describe('size of the frame', () => {
  it.each([60, 80, 100])('is exact at %i columns', (columns) => {
    const rows = renderFrame(busy, busyAccount, { columns, rows: 24 }, PLAIN);
    const rules = rows.filter((row) => row.includes('───'));
    expect(rows).toHaveLength(23);
    expect(rules).toHaveLength(3);
    for (const rule of rules) expect(displayWidth(rule)).toBe(columns - 1);
    // Title, meters and latencies reach the right margin, and no row exceeds it.
    for (const label of ['Dragoman demo', 'microphone', 'loudspeaker', 'mic to wire', 'wire to ear']) {
      expect(displayWidth(rows.find((row) => row.includes(label)) ?? ''), label).toBe(columns - 1);
    }
    for (const row of rows) expect(displayWidth(row), row).toBeLessThan(columns);
  });

  it('is at most 100 columns wide, because longer lines are hard to read', () => {
    const rows = renderFrame(busy, busyAccount, { columns: 200, rows: 24 }, PLAIN);
    expect(Math.max(...rows.map(displayWidth))).toBe(99);
  });

  it('truncates rows and does not wrap them below 60 columns', () => {
    const rows = renderFrame(busy, busyAccount, { columns: 40, rows: 24 }, PLAIN);
    expect(rows).toHaveLength(23);
    expect(Math.max(...rows.map(displayWidth))).toBe(39);
  });

  it('leaves one row free at any height, and drops the least important parts first', () => {
    const has = (rows: number, text: string): boolean =>
      renderFrame(busy, busyAccount, { columns: 80, rows }, PLAIN).some((row) => row.includes(text));
    for (let rows = 2; rows <= 60; rows++) {
      const frame = renderFrame(busy, busyAccount, { columns: 80, rows }, PLAIN);
      expect(frame.length).toBeLessThanOrEqual(rows - 1);
      expect(frame[0]).toContain('Dragoman demo');
    }
    expect(has(24, 'captured =')).toBe(true);
    expect(has(16, 'captured =')).toBe(false);
    expect(has(16, 'microphone')).toBe(true);
    expect(has(8, 'microphone')).toBe(false);
    expect(has(8, 'live')).toBe(true);
  });

  it('keeps the addresses of the pages under the title at any height', () => {
    const pages = [
      'kiosk     http://127.0.0.1:8484/',
      'console   http://127.0.0.1:8300/',
      'Ctrl-C ends the demo.',
    ];
    for (const rows of [8, 16, 24, 50]) {
      const frame = renderFrame({ ...busy, pages }, busyAccount, { columns: 80, rows }, PLAIN);
      expect(frame.slice(1, 4).map((row) => row.trim())).toEqual(pages);
      expect(frame.length).toBeLessThanOrEqual(rows - 1);
    }
  });

  it('has a constant number of rows whatever the captions contain', () => {
    for (const rows of [18, 24, 30, 50]) {
      const empty = renderFrame(liveModel(), account(), { columns: 80, rows }, PLAIN);
      expect(renderFrame(busy, busyAccount, { columns: 80, rows }, PLAIN)).toHaveLength(empty.length);
    }
  });
});

describe('phase', () => {
  const phaseRow = (phase: (typeof PHASE_NAMES)[number], columns = 80): string =>
    frameOf({ phase }, { columns, rows: 24 })[1] ?? '';

  it('names the broker while the broker is disconnected', () => {
    const words = (broker: 'awaited' | 'up' | 'gone') =>
      frameOf({ phase: 'acquiring', broker }, { columns: 80, rows: 24 })[2];
    expect(words('awaited')).toContain('waits for the broker');
    expect(words('gone')).toContain('waits for the broker');
    expect(words('up')).toContain('from the backend');
  });

  it('shows the current phase among the steps', () => {
    expect(phaseRow('acquiring')).toBe(' ● acquiring  ○ connecting  ○ configuring  ○ live');
    expect(phaseRow('configuring')).toBe(' ✓ acquiring  ✓ connecting  ● configuring  ○ live');
    expect(phaseRow('live')).toBe(' ✓ acquiring  ✓ connecting  ✓ configuring  ● live');
  });

  it('shows other phases at the end of the row', () => {
    expect(phaseRow('waiting')).toMatch(
      /^ ○ acquiring {2}○ connecting {2}○ configuring {2}○ live +● waiting$/,
    );
    expect(phaseRow('parked')).toContain('● parked');
    expect(phaseRow('draining')).toContain('✓ live');
  });

  it.each(PHASE_NAMES)('shows %s with its explanation at 60 columns', (phase) => {
    const rows = frameOf({ phase }, { columns: 60, rows: 24 });
    expect(rows[1]).toContain(`● ${phase}`);
    expect(rows[2]?.trim().length).toBeGreaterThan(5);
    expect(rows[2]).not.toContain('…');
  });

  it('shows that it catches up', () => {
    const words = (backlogMs: number) => frameOf({ phase: 'live', backlogMs }, USUAL)[2];
    expect(words(320)).toContain('real time');
    expect(words(5000)).toContain('catch up');
  });
});

describe('meters', () => {
  const meterRow = (db: number, capabilities = PLAIN): string =>
    frameOf({ inputMeter: follow(SILENT_METER, db, 1000) }, USUAL, capabilities).find((row) =>
      row.includes('microphone'),
    ) ?? '';
  const filled = (row: string): number => [...row].filter((sign) => sign === '▆').length;

  it('shows the level as a bar and as a number', () => {
    expect(filled(meterRow(-96))).toBe(0);
    expect(meterRow(-96)).toContain('silent');
    expect(meterRow(-20)).toContain('-20 dBFS');
    expect(filled(meterRow(-30))).toBeCloseTo(filled(meterRow(0)) / 2, -0.5);
    expect(filled(meterRow(0))).toBe(55);
    expect(meterRow(-0.2)).toContain(' 0 dBFS');
  });

  it('holds the peak', () => {
    const meter = follow(follow(SILENT_METER, -10, 1000), -96, 2000);
    const row = frameOf({ inputMeter: meter }, USUAL).find((text) => text.includes('microphone')) ?? '';
    expect(row.indexOf('│')).toBeGreaterThan(row.lastIndexOf('▆') + 5);
  });

  it('uses only ASCII in an ASCII locale', () => {
    const row = meterRow(-20, { colour: false, unicode: false });
    expect(row).toMatch(/^ microphone {3}#+\|?\.+ +-20 dBFS$/);
  });
});

describe('captions', () => {
  it('stand below each other, each with speech and translation', () => {
    const rows = captionsOf(
      frameOf(
        { exchanges: [exchange(0, 'Good morning.', 'Buenos días.'), exchange(1, 'Thank you.')] },
        USUAL,
      ),
    );
    expect(rows).toEqual([
      '   en  Good morning.',
      ' → es  Buenos días.',
      '   en  Thank you.',
      ' →',
      '',
      '',
      '',
    ]);
  });

  it('show the last three at 24 rows, and four with more rows', () => {
    const exchanges = Array.from({ length: 9 }, (_, seq) => exchange(seq, `Said ${seq}.`, `Dicho ${seq}.`));
    const shown = (rows: number): string[] =>
      captionsOf(frameOf({ exchanges }, { columns: 80, rows })).filter((row) => row.includes('Said'));
    expect(shown(24).map((row) => row.trim())).toEqual(['en  Said 6.', 'en  Said 7.', 'en  Said 8.']);
    expect(shown(40)).toHaveLength(4);
  });

  it('wrap long and wide texts to two rows each, within the margin', () => {
    const rows = captionsOf(frameOf({ exchanges: [exchange(0, JAPANESE, LONG)] }, { columns: 60, rows: 24 }));
    expect(rows.filter((row) => row !== '')).toHaveLength(4);
    expect(rows[1]).toMatch(/^ {7}\S/);
    expect(rows[3]).toMatch(/…$/);
    for (const row of rows) expect(displayWidth(row)).toBeLessThan(60);
  });

  it('leave out an older exchange that does not fit whole, never the newest', () => {
    const rows = captionsOf(
      frameOf({ exchanges: [exchange(0, LONG, LONG), exchange(1, LONG, LONG)] }, { columns: 60, rows: 19 }),
    );
    expect(rows.filter((row) => row.includes(' en '))).toHaveLength(1);
    expect(rows.filter((row) => row.includes('→ es'))).toHaveLength(1);
  });

  it('dim a partial text and show its end', () => {
    const growing: Exchange = { ...exchange(0, `${LONG}and this is new`), isFinal: false };
    const plain = captionsOf(frameOf({ exchanges: [growing] }, USUAL));
    expect(plain[0]).toMatch(/^ {3}en {2}…/);
    expect(plain[1]).toMatch(/and this is new…$/);
    const coloured = captionsOf(frameOf({ exchanges: [growing] }, USUAL, { colour: true, unicode: true }));
    expect(coloured[1]?.replaceAll(' ', '')).toContain('\u001b[2meverything');
    const final = captionsOf(
      frameOf({ exchanges: [exchange(0, 'Hello.')] }, USUAL, { colour: true, unicode: true }),
    );
    expect(final[0]).toMatch(/Hello\.$/);
  });

  it('reserve rows for future translations, so that nothing moves', () => {
    const both = { language: 'fr', text: 'Bonjour.', isFinal: true };
    const first = exchange(0, 'Hello.', 'Hola.');
    const exchanges = [{ ...first, translations: [...first.translations, both] }, exchange(1, 'Bye.')];
    const rows = captionsOf(frameOf({ exchanges }, USUAL));
    expect(rows.slice(0, 6)).toEqual([
      '   en  Hello.',
      ' → es  Hola.',
      ' → fr  Bonjour.',
      '   en  Bye.',
      ' →',
      ' →',
    ]);
  });

  it('are aligned when a language has a longer tag', () => {
    const exchanges: Exchange[] = [
      { ...exchange(0, 'Hello.'), translations: [{ language: 'zh-Hant', text: '你好。', isFinal: true }] },
    ];
    expect(captionsOf(frameOf({ exchanges }, USUAL)).slice(0, 2)).toEqual([
      '   en       Hello.',
      ' → zh-Hant  你好。',
    ]);
  });
});

describe('figures', () => {
  it('have fixed positions', () => {
    const places = (rows: readonly string[]): number[] =>
      ['p50', 'p99', 'backlog', 'played', 'captured =', 'held'].map((word) =>
        Math.max(...rows.map((row) => row.indexOf(word))),
      );
    const before = renderFrame(liveModel(), account(), USUAL, PLAIN);
    expect(places(renderFrame(busy, busyAccount, USUAL, PLAIN))).toEqual(places(before));
    expect(places(before).every((place) => place > 0)).toBe(true);
  });

  it('are complete', () => {
    const text = renderFrame(busy, busyAccount, USUAL, PLAIN).join('\n');
    expect(text).toMatch(/sessions {2}2 {4}time {3}1:12/);
    expect(text).toMatch(/mic to wire {2}p50 +0\.4 ms {2}p99 +1\.9 ms +backlog +0\.3 s/);
    expect(text).toMatch(/wire to ear {2}p50 +12\.2 ms {2}p99 +12\d\d ms +played +12\.3 s/);
    expect(text).toMatch(/ 225 +201 +13 +7 +3 +1$/m);
    expect(text).toContain('0:02  session xxx');
  });

  it('are dashes before the first measurement', () => {
    expect(frameOf({}, USUAL).join('\n')).toMatch(/mic to wire {2}p50 +– +p99 +–/);
  });

  it('show the last four notices, oldest first', () => {
    const notices = Array.from({ length: 7 }, (_, seq) => ({ seq, atMs: seq * 61_000, text: `news ${seq}` }));
    const rows = frameOf({ notices }, USUAL);
    expect(rows.slice(-4).map((row) => row.trim())).toEqual([
      '3:03  news 3',
      '4:04  news 4',
      '5:05  news 5',
      '6:06  news 6',
    ]);
  });
});

describe('the output to the terminal', () => {
  const ESCAPE = '\u001b';
  const evil = `${ESCAPE}[2J${ESCAPE}]0;owned\u0007\u009b31m\r\n\u202e<text>\b`;

  it('contains no escape sequences from captions, languages or notices', () => {
    const rows = frameOf(
      {
        exchanges: [{ ...exchange(0, evil, evil), sourceLanguage: evil }],
        notices: [{ seq: 0, atMs: 0, text: evil }],
      },
      USUAL,
    );
    expect(rows.join('')).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    expect(rows.join('')).toContain('<text>');
  });

  it('has colours only on request, and the same text with and without', () => {
    const coloured = renderFrame(busy, busyAccount, USUAL, { colour: true, unicode: true });
    const plain = renderFrame(busy, busyAccount, USUAL, PLAIN);
    expect(plain.join('')).not.toContain(ESCAPE);
    expect(coloured.join('')).toContain(ESCAPE);
    expect(coloured.map((row) => stripVTControlCharacters(row).trimEnd())).toEqual(plain);
  });

  it('is ASCII except for the captions when the locale is not UTF-8', () => {
    const { exchanges: _, ...rest } = busy;
    const rows = frameOf({ ...rest, exchanges: [exchange(0, LONG, LONG)] }, USUAL, {
      colour: false,
      unicode: false,
    });
    expect(rows.join('')).toMatch(/^[\u0020-\u007e]*$/);
  });

  testAnyText(15);
});
