import { describe, expect, it } from 'vitest';
import { consoleText, isForConsole } from '../../../src/cli/screen/console-text.ts';
import { createConsoleView } from '../../../src/cli/screen/console-view.ts';
import type { ReadSnapshot } from '../../../src/protocol/screen-events.ts';

const SNAPSHOT: ReadSnapshot = {
  status: { kind: 'listening' },
  level: 3,
  lanes: [{ id: 'main', source: 'en', targets: ['es'], turn: null }],
  notices: [
    { language: 'en', text: 'A computer interprets.' },
    { language: 'es', text: 'Interpreta un ordenador.' },
  ],
  texts: [],
};
const said = (language: string, text: string, number = 1) => ({
  language,
  text,
  breaks: false,
  isSpoken: false,
  number,
});

function open(snapshot: Partial<ReadSnapshot> = {}) {
  const view = createConsoleView(80, () => new Date(2026, 0, 15, 9).getTime());
  view.begin({ ...SNAPSHOT, ...snapshot });
  let now = 1000;
  return {
    view,
    rows(afterMs = 0): string[] {
      now += afterMs;
      return view.look(now).rows.map(String);
    },
  };
}

describe('the screen on a text console', () => {
  it('invites in both languages before anything is said, with the level', () => {
    const rows = open().rows();
    expect(rows[0]).toBe(`${'Español: Escuchando'.padEnd(68)}[###       ]`);
    expect(rows).toContain('Hable, por favor. Interpreta un ordenador.');
    expect(rows).toContain(`${'English: Listening'.padEnd(68)}[###       ]`);
    expect(rows).toContain('Please speak. A computer interprets.');
  });

  it('says which button to hold, and no notice that the owner has switched off', () => {
    const lanes = [{ id: 'main', source: 'en', targets: ['es'], turn: { mode: 'hold' as const } }];
    const rows = open({ lanes, notices: [], status: { kind: 'muted' } }).rows();
    expect(rows).toContain('Hold the button and speak.');
  });

  it('shows two lines for each language, and moves whole lines when there is more', () => {
    const { view, rows } = open();
    const words = Array.from({ length: 60 }, (_, index) => `word${index} `).join('');
    view.take({ texts: [said('es', '¿Hay ascensor?'), said('en', words, 2)] });
    const first = rows();
    expect(first.filter((row) => row.startsWith('word'))).toHaveLength(2);
    expect(first).toContain('¿Hay ascensor?');
    const [, second = ''] = first.filter((row) => row.startsWith('word'));
    let later = first;
    for (let step = 0; step < 60 && later.join() === first.join(); step++) later = rows(1000);
    expect(later.filter((row) => row.startsWith('word'))).toHaveLength(2);
    expect(later.find((row) => row.startsWith('word'))).toBe(second);
  });

  it('forgets the words at the end of the conversation', () => {
    const { view, rows } = open({ texts: [said('es', 'Mi hija usa silla de ruedas.')] });
    expect(rows().join()).toContain('silla de ruedas');
    view.take({ conversation: 2 });
    expect(rows().join()).not.toContain('silla');
  });

  it.each([
    [{ kind: 'offline', cause: 'microphone' }, 'The microphone is off. Please ask the staff.'],
    [{ kind: 'closed', until: null }, 'English: Closed'],
    [{ kind: 'closed', until: new Date(2026, 0, 15, 18).toISOString() }, 'Opens 18:00'],
    [{ kind: 'closed', until: new Date(2026, 0, 16, 8).toISOString() }, 'Opens 2026-01-16 08:00'],
    [{ kind: 'muted' }, 'English: Muted'],
  ] as const)('says what to do when the status is %j', (status, text) => {
    expect(open({ status }).rows().join('\n')).toContain(text);
  });

  it('says that there is no connection when the agent does not answer', () => {
    const { view, rows } = open();
    view.lost();
    expect(rows().join('\n')).toContain('English: No connection');
    expect(rows()).toContain('Please wait, or ask the staff.');
  });

  it.each([
    ['ar', 'Arabic', 'ابنتي'],
    ['zh', 'Chinese', '我女儿坐轮椅'],
  ])('says so when it has no letters of the language %s', (language, name, text) => {
    const lanes = [{ id: 'main', source: 'en', targets: [language], turn: null }];
    const rows = open({ lanes, texts: [said(language, text)] }).rows();
    expect(rows[0]).toBe(name);
    expect(rows.join()).toContain('has no letters for this language');
    expect(rows.join()).not.toContain(text);
  });

  it('keeps every row within the console, whatever comes', () => {
    const hostile = `\u001b[2J\u001b]0;title\u0007${'x'.repeat(500)} \u202eevil\u2066 \u0000\r\n日本 😀 e\u0301`;
    const { view, rows } = open({ lanes: [{ id: 'main', source: 'uk', targets: ['el'], turn: null }] });
    view.take({ texts: [said('el', hostile), said('uk', hostile, 2)] });
    for (let step = 0; step < 20; step++)
      for (const row of rows(2000)) {
        expect(row.length).toBeLessThanOrEqual(80);
        expect(row).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]*$/u);
      }
  });
});

describe('a text for a console', () => {
  it.each([
    ['Ça va ?', 'Ça va ?'],
    [' c’est déjà e\u0301crit ', ' c’est déjà écrit '],
    ['Доброго дня, Ελλάδα', 'Доброго дня, Ελλάδα'],
    ['x\u001b[31mred\u001b[0m', 'xred'],
    ['東 42 😀', '? 42 ?'],
  ])('of %j is %j', (text, expected) => expect(consoleText(text)).toBe(expected));

  it('is possible in Latin, Greek and Cyrillic letters only', () => {
    expect(['en', 'pl', 'vi', 'el', 'uk', 'sr', 'pt-BR'].filter((one) => !isForConsole(one))).toEqual([]);
    // A service that detects the language may hear any.
    expect(isForConsole('auto')).toBe(true);
    expect(['ar', 'he', 'zh', 'ja', 'ko', 'th', 'hi', 'ka'].filter(isForConsole)).toEqual([]);
  });
});
