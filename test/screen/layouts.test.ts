import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { noticeIn } from '../../src/device/desk/notice.ts';
import { WORDED_LANGUAGES, wordingOf } from '../../src/device/screen/wording.ts';
import type { ScreenSnapshot, ScreenStatus } from '../../src/protocol/screen.ts';
import { SCREEN_LAYOUTS, type ScreenLayout } from '../../src/protocol/screen-size.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const STATES: Readonly<Record<string, ScreenStatus>> = {
  listening: { kind: 'listening' },
  speaking: { kind: 'speaking' },
  translating: { kind: 'translating' },
  muted: { kind: 'muted' },
  standby: { kind: 'standby' },
  connection: { kind: 'offline', cause: 'connection' },
  microphone: { kind: 'offline', cause: 'microphone' },
  closed: { kind: 'closed', until: '2026-11-30T08:00:00.000Z' },
};

const NOTICES = ['en', 'es', 'ar'].map((language) => noticeIn(language, {}));

const TALK = {
  en: 'My daughter uses a wheelchair. Is there a lift to the second floor?',
  es: 'Mi hija usa silla de ruedas. ¿Hay ascensor al segundo piso?',
  ar: 'ابنتي تستخدم كرسيًا متحركًا. هل يوجد مصعد إلى الطابق الثاني؟',
  zh: '我女儿坐轮椅。有电梯到二楼吗？我们想看展览。',
  ja: '娘は車椅子を使っています。二階へ行くエレベーターはありますか。',
  th: 'ลูกสาวของฉันใช้รถเข็น มีลิฟต์ไปชั้นสองไหม',
  ko: '제 딸은 휠체어를 사용합니다. 2층으로 가는 엘리베이터가 있나요?',
} as const;

function talk(target: keyof typeof TALK): Partial<ScreenSnapshot> {
  return {
    level: 6,
    help: { state: 'none', by: null, mayCall: true },
    lanes: [
      {
        id: 'main',
        source: 'en',
        targets: [target],
        offer: ['es', 'fr', 'ar', 'zh'],
        visitor: target,
        typing: [{ from: 'en', into: target }],
        turn: null,
        repeatable: [],
        volume: 80,
      },
    ],
    texts: [
      { language: 'en', text: TALK.en, breaks: false, isSpoken: false, number: 1 },
      { language: target, text: TALK[target], breaks: false, isSpoken: false, number: 2 },
    ],
  };
}

/** Turns to the next part after 0.5 s in place of 6 s. */
const FASTER = `const every = window.setInterval;
  window.setInterval = (callback, ms) => every(callback, ms === 6000 ? 500 : ms);`;

const BOTH = ['source', 'target'] as const;
const BOTH_WAYS = [
  { from: 'en', into: 'es' },
  { from: 'es', into: 'en' },
];

/** Parts whose text does not fit into them. */
const CLIPPED = `[...document.querySelectorAll('.state > :first-child, .line, button, .turn span, .turn abbr, .help, .parts')]
  .filter((part) => part.getClientRects().length > 0 && !part.matches('.gone'))
  .filter((part) => {
    const box = part.getBoundingClientRect();
    const inside = (part.closest('.status, .body, .bar, dialog, .panel') ?? document.body).getBoundingClientRect();
    return part.scrollWidth > part.clientWidth + 1 && !part.matches('.parts') && getComputedStyle(part).display !== 'inline'
      || box.left < inside.left - 1 || box.right > inside.right + inside.width * 0.05
      || box.top < inside.top - 1 || box.bottom > inside.bottom + 1;
  })
  .map((part) => part.className + ': ' + part.textContent)`;

/** Languages with the widest rows, the most rows, or letters that stand out of their line. */
const KEYED = ['de', 'fr', 'cs', 'ru', 'ar', 'hi', 'th', 'vi', 'ja', 'ko'];
/** Keys that are outside, cut, or too small for a finger. */
const CUT_KEYS = `[...document.querySelectorAll('.keys button')]
  .filter((key) => {
    const { left, right, bottom, width, height } = key.getBoundingClientRect();
    const isOutside = left < 0 || right > innerWidth || bottom > innerHeight;
    return isOutside || key.scrollWidth > key.clientWidth || Math.min(width, height) < 30;
  })
  .map((key) => key.textContent + key.ariaLabel)`;

/** The language with the longest words on its buttons, and usual ones. */
const WORDIEST = (() => {
  const length = (language: string): number => {
    const { type, repeat, staff, end } = wordingOf(language);
    return `${type}${repeat}${staff}${end}`.length;
  };
  const [longest = 'de'] = [...WORDED_LANGUAGES].sort((a, b) => length(b) - length(a));
  return [...new Set(['en', 'de', 'fr', longest])];
})();

const namesOf = (page: Page, buttons: string) =>
  page.$$eval(buttons, (all) => all.map((one) => one.ariaLabel));

describe(`the page in a browser${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  /** The languages of each status line: those of its readers. */
  const STATUS_IN = { one: [['es', 'en']], beside: [['en'], ['es']], facing: [['es'], ['en']] };
  const sizes = { one: 150, beside: 150, facing: 150 } as const;
  const cases = SCREEN_LAYOUTS.flatMap((layout) =>
    Object.keys(STATES).map((state) => [layout, state] as const),
  );

  it.each(cases)('shows the layout %s when the state is %s', async (layout: ScreenLayout, state) => {
    const status = STATES[state] ?? { kind: 'listening' };
    const hasText = ['listening', 'speaking', 'translating', 'muted', 'connection'].includes(state);
    const given = hasText ? talk('es') : { ...talk('es'), texts: [] };
    const shown = await showPage(browser, files, { ...given, layout, heightMm: sizes[layout], status });
    await screenshot(shown.page, `${layout}-${state}`);
    expect(await shown.page.$eval('.status', (line) => line.getAttribute('data-kind'))).toBe(status.kind);
    expect(
      await shown.page.$$eval('.state', (all) =>
        all.map((one) => [...one.querySelectorAll('bdi')].map(({ lang }) => lang)),
      ),
    ).toEqual(STATUS_IN[layout]);
    expect(await shown.page.evaluate(CLIPPED)).toEqual([]);
    expect(shown.complaints).toEqual([]);
    await shown.close();
  });

  it.each(['ar', 'zh', 'ja', 'th', 'ko'] as const)(
    'shows captions when the language is %s',
    async (target) => {
      const shown = await showPage(browser, files, talk(target));
      await screenshot(shown.page, `beside-${target}`);
      expect(await shown.page.evaluate(CLIPPED)).toEqual([]);
      const panel = await shown.page.$eval(`.body[lang="${target}"]`, (body) => [
        getComputedStyle(body).direction,
        body.querySelectorAll('.line').length,
      ]);
      expect(panel).toEqual([target === 'ar' ? 'rtl' : 'ltr', expect.any(Number)]);
      await shown.close();
    },
  );

  it.each([
    [800, 480, 86, 'beside'],
    [800, 480, 86, 'one'],
    [1920, 1080, 300, 'one'],
    [1920, 1080, 300, 'beside'],
    [720, 1280, 270, 'facing'],
    [1024, 600, 147, 'facing'],
  ] as const)(
    'fits a screen of %i x %i and %i mm in the layout %s',
    async (width, height, heightMm, layout) => {
      const shown = await showPage(browser, files, { ...talk('es'), layout, heightMm }, { width, height });
      await screenshot(shown.page, `${layout}-${width}x${height}`);
      expect(await shown.page.evaluate(CLIPPED)).toEqual([]);
      await shown.close();
    },
  );

  const BUTTON_SIZES = [
    [1280, 800],
    [1024, 600],
    [800, 480],
    [1920, 1080],
    [390, 844],
  ] as const;
  it.each(
    BUTTON_SIZES.flatMap(([width, height]) => WORDIEST.map((source) => [width, height, source] as const)),
  )('has whole words on its buttons on %i x %i in the language %s', async (width, height, source) => {
    const visitor = source === 'en' ? 'es' : 'en';
    const typing = [
      { from: source, into: visitor },
      { from: visitor, into: source },
    ];
    const lane = { id: 'main', source, targets: [visitor], offer: ['es', 'fr', 'de'], visitor };
    const given = {
      layout: 'beside',
      lanes: [{ ...lane, typing, turn: null, repeatable: [], volume: 80 }],
    } as const;
    const { page, close } = await showPage(browser, files, given, { width, height });
    await screenshot(page, `buttons-${source}-${width}x${height}`);
    const buttons = await page.$$eval('.bar button:not(.step)', (all) =>
      all.map((button) => {
        const word = button.querySelector('span');
        const { left, right } = button.getBoundingClientRect();
        return {
          isInside: left >= 0 && right <= innerWidth,
          hasWord: word !== null && word.getClientRects().length > 0,
          isWhole: word === null || word.scrollWidth <= word.clientWidth,
        };
      }),
    );
    // A telephone may have room for signs only.
    const hasWord = width > 400 ? true : expect.any(Boolean);
    expect(buttons).toEqual(buttons.map(() => ({ isInside: true, hasWord, isWhole: true })));
    await close();
  });

  it.each([
    ['one', 'hold', 'listening', 1280, 720, 150, ['Español', 'English']],
    [
      'beside',
      'hold',
      'muted',
      1280,
      720,
      150,
      ['Hold and speak: English', 'Mantenga pulsado y hable: Español'],
    ],
    // Columns of this screen would be too narrow.
    ['beside', 'button', 'standby', 800, 480, 86, ['Español', 'English']],
    [
      'facing',
      'hold',
      'muted',
      1024,
      600,
      147,
      ['Mantenga pulsado y hable: Español', 'Hold and speak: English'],
    ],
    ['facing', 'button', 'listening', 720, 1280, 270, ['Hablar: Español', 'Speak: English']],
  ] as const)(
    'has buttons that say who speaks in the layout %s with "%s" and the state %s on %i x %i',
    async (layout, mode, state, width, height, heightMm, names) => {
      const { lanes: [lane] = [] } = talk('es');
      if (lane === undefined) throw new Error('no lane');
      const turn = { mode, speakers: BOTH, speaker: 'target', isOpen: state !== 'muted' } as const;
      const lanes = [{ ...lane, turn, typing: BOTH_WAYS }];
      const given = { ...talk('es'), layout, heightMm, lanes, notices: NOTICES };
      const texts = state === 'listening' ? talk('es').texts : [];
      const shown = await showPage(
        browser,
        files,
        { ...given, texts: texts ?? [], status: { kind: state } },
        { width, height },
      );
      await screenshot(shown.page, `${layout}-${mode}-${state}`);
      expect(await shown.page.evaluate(CLIPPED)).toEqual([]);
      expect(await namesOf(shown.page, 'button.turn')).toEqual(names);
      await shown.close();
    },
  );

  it.each([
    ['one', 1280, 720, 150],
    ['beside', 800, 480, 86],
    ['facing', 1024, 600, 147],
  ] as const)(
    'has one button to speak in the layout %s where one direction is interpreted on %i x %i',
    async (layout, width, height, heightMm) => {
      const { lanes: [lane] = [] } = talk('es');
      if (lane === undefined) throw new Error('no lane');
      const turn = { mode: 'hold', speakers: ['source'], speaker: 'source', isOpen: false } as const;
      const given = { ...talk('es'), layout, heightMm, lanes: [{ ...lane, turn }], notices: NOTICES };
      const status = { kind: 'muted' } as const;
      const shown = await showPage(browser, files, { ...given, texts: [], status }, { width, height });
      await screenshot(shown.page, `${layout}-push-to-talk`);
      expect(await shown.page.evaluate(CLIPPED)).toEqual([]);
      expect(await namesOf(shown.page, 'button.turn')).toEqual([expect.stringMatching(/English$/)]);
      await shown.close();
    },
  );

  it.each([
    ['beside', 1280, 720, 150, ['Type: English', 'Escribir: Español']],
    ['facing', 1024, 600, 147, ['Escribir: Español', 'Type: English']],
    ['one', 800, 480, 86, ['Escribir: Español']],
  ] as const)(
    'has typing in its own language for each half of the layout %s',
    async (layout, width, height, heightMm, names) => {
      const { lanes: [lane] = [] } = talk('es');
      if (lane === undefined) throw new Error('no lane');
      const given = { ...talk('es'), layout, heightMm, lanes: [{ ...lane, typing: BOTH_WAYS }] };
      const { page, fake, close } = await showPage(browser, files, given, { width, height });
      await screenshot(page, `${layout}-typing`);
      expect(await page.evaluate(CLIPPED)).toEqual([]);
      expect(await namesOf(page, '[aria-label^="Type:"], [aria-label^="Escribir:"]')).toEqual(names);
      await page.click('[aria-label="Escribir: Español"]');
      await settle(page);
      await screenshot(page, `${layout}-typing-dialog`);
      expect(await page.$eval('dialog', (dialog) => dialog.scrollHeight <= dialog.clientHeight)).toBe(true);
      expect(await page.$eval('dialog input', (input) => input.getAttribute('placeholder'))).toBe(
        '\u200eEspañol → English',
      );
      // Upside down where its reader is on the other side.
      const isTurned = await page.$eval('dialog', (dialog) => getComputedStyle(dialog).rotate === '180deg');
      expect(isTurned).toBe(layout === 'facing');
      for (const key of ['Ñ', 'o']) await (await page.waitForSelector(`.keys ::-p-text(${key})`))?.click();
      await page.click('button[aria-label="Decirlo"]');
      await expect
        .poll(() => fake.actions.filter((action) => action.do !== 'touch'))
        .toEqual([{ do: 'say', lane: 'main', language: 'es', text: 'Ño' }]);
      await page.waitForFunction(() => document.querySelector('dialog') === null);
      for (const status of [
        { kind: 'offline', cause: 'microphone' },
        { kind: 'closed', until: null },
      ] as const) {
        fake.change({ status });
        await settle(page);
        expect(await namesOf(page, '.bar button'), status.kind).toEqual([]);
      }
      await close();
    },
  );

  it.each([
    [800, 480, 86],
    [600, 1024, 154],
  ])('has room for each key of every language on %i x %i', async (width, height, heightMm) => {
    const { lanes: [lane] = [] } = talk('es');
    if (lane === undefined) throw new Error('no lane');
    const { page, fake, close } = await showPage(browser, files, { heightMm }, { width, height });
    for (const source of KEYED) {
      fake.change({ lanes: [{ ...lane, source, typing: [{ from: source, into: 'es' }] }] });
      await settle(page);
      await page.click('.bar .keyboard');
      await page.waitForSelector('dialog[open] .keys');
      for (const isShifted of [false, true]) {
        if (isShifted)
          await page.$eval('.keys [aria-pressed]', (key) => (key as HTMLElement).click()).catch(() => null);
        await settle(page);
        await screenshot(page, `keys-${source}-${width}-${isShifted}`);
        expect(await page.evaluate(CUT_KEYS), source).toEqual([]);
      }
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => document.querySelector('dialog') === null);
    }
    await close();
  });

  it('shows the names of languages in their dialog where buttons say who speaks', async () => {
    const { lanes: [lane] = [] } = talk('es');
    if (lane === undefined) throw new Error('no lane');
    const turn = { mode: 'button', speakers: BOTH, speaker: 'source', isOpen: true } as const;
    const { page, close } = await showPage(browser, files, { ...talk('es'), lanes: [{ ...lane, turn }] });
    await page.click('nav button[aria-label="Idioma: Español"]');
    await settle(page);
    await screenshot(page, 'turns-language');
    const shown = await page.$$eval('dialog button span', (names) =>
      names.filter((name) => name.getClientRects().length > 0).map((name) => name.textContent),
    );
    expect(shown).toEqual(['Español', 'Français', 'العربية', '中文', 'Cancelar']);
    await close();
  });

  it('changes the language of typing where one panel is for both', async () => {
    const { lanes: [lane] = [] } = talk('es');
    if (lane === undefined) throw new Error('no lane');
    const given = { ...talk('es'), layout: 'one', lanes: [{ ...lane, typing: BOTH_WAYS }] } as const;
    const { page, fake, close } = await showPage(browser, files, given);
    await page.click('[aria-label="Escribir: Español"]');
    await settle(page);
    await page.click('dialog button[aria-label="English"]');
    await settle(page);
    await screenshot(page, 'one-typing-english');
    await page.keyboard.type('Hello');
    await page.click('button[aria-label="Speak it"]');
    await expect
      .poll(() => fake.actions.filter((action) => action.do !== 'touch'))
      .toEqual([{ do: 'say', lane: 'main', language: 'en', text: 'Hello' }]);
    await close();
  });

  it('says nothing about the language when the service detects it', async () => {
    const { lanes: [lane] = [] } = talk('es');
    if (lane === undefined) throw new Error('no lane');
    const typing = [{ from: 'auto', into: 'es' }];
    const given = { ...talk('es'), lanes: [{ ...lane, source: 'auto', typing }] };
    const { page, complaints, close } = await showPage(browser, files, given);
    await page.click('.bar .keyboard');
    await settle(page);
    await screenshot(page, 'beside-auto');
    expect(await page.$eval('dialog input', (input) => input.getAttribute('placeholder'))).toBe(
      '\u200e→ Español',
    );
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(['es', 'ar'] as const)(
    'shows all of the notice in "%s", part by part where there is no room for it',
    async (target) => {
      const size = { width: 800, height: 480 };
      const notices = NOTICES.map((notice) => ({ ...notice, text: notice.text.repeat(4) }));
      const given = { ...talk(target), texts: [], heightMm: 86, notices };
      const shown = await showPage(browser, files, given, size, (page) => page.evaluateOnNewDocument(FASTER));
      const place = `.body[lang="${target}"] .parts`;
      const [parts, line, size0] = await shown.page.$eval(place, (box) => [
        Math.round(box.scrollWidth / box.clientWidth),
        Number.parseFloat(getComputedStyle(box).lineHeight),
        box.clientHeight,
      ]);
      await screenshot(shown.page, `notice-${target}-part-1`);
      expect(parts).toBeGreaterThan(1);
      expect(size0).toBeGreaterThanOrEqual((line ?? 0) - 1);
      const seen = new Set<number>();
      await expect
        .poll(
          async () =>
            seen.add(await shown.page.$eval(place, ({ scrollLeft }) => Math.round(scrollLeft))).size,
        )
        .toBe(parts);
      await screenshot(shown.page, `notice-${target}-part-2`);
      await shown.close();
    },
  );

  it('has letters of 0.7 degrees at least in all that is said, and in what to do', async () => {
    const shown = await showPage(browser, files, { ...talk('es'), texts: [] });
    const sizes: number[] = [];
    const note = async (change: Parameters<typeof shown.fake.change>[0]): Promise<void> => {
      shown.fake.change(change);
      await settle(shown.page);
      const found = await shown.page.$$eval('.line, .help, .trouble, .invitation', (parts) =>
        parts.map((part) => Number.parseFloat(getComputedStyle(part).fontSize)),
      );
      expect(found.length).toBeGreaterThan(1);
      sizes.push(...found);
    };
    await note({ status: { kind: 'standby' } });
    await note({ status: { kind: 'offline', cause: 'microphone' } });
    await note({ status: { kind: 'closed', until: '2026-11-30T08:00:00.000Z' } });
    await note({ status: { kind: 'listening' }, texts: talk('es').texts ?? [] });
    // A capital H of Noto Sans or DejaVu Sans, in millimetres on this screen of 150 mm and 720 px.
    const capitalMm = Math.min(...sizes) * 0.7 * (150 / 720);
    expect(Math.atan(capitalMm / 2 / 700) * 2 * (180 / Math.PI)).toBeGreaterThanOrEqual(0.7);
    await shown.close();
  });

  it('shows dialogs for the language and for typing', async () => {
    const shown = await showPage(browser, files, talk('es'));
    const { page } = shown;
    await page.click('.bar button[aria-label="Idioma: Español"]');
    await settle(page);
    await screenshot(page, 'dialog-language');
    expect(await page.evaluate(CLIPPED)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.click('.bar button[aria-label="Type: English"]');
    await settle(page);
    await screenshot(page, 'dialog-typing');
    expect(await page.$eval('dialog', (dialog) => dialog.scrollHeight <= dialog.clientHeight)).toBe(true);
    await page.keyboard.press('Escape');
    const [lane] = talk('es').lanes ?? [];
    if (lane === undefined) throw new Error('no lane');
    shown.fake.change({ lanes: [{ ...lane, offer: ['es'] }] });
    await settle(page);
    // There is nothing to choose.
    expect(await namesOf(page, '.bar button')).toEqual([
      'Repeat',
      'Quieter',
      'Louder',
      'Type: English',
      'Call staff',
      'End',
      'Repetir',
      'Más bajo',
      'Más alto',
      'Llamar al personal',
      'Terminar',
    ]);
    await shown.close();
  });
});
