import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { wordingOf } from '../../src/device/screen/wording.ts';
import type { ScreenSnapshot } from '../../src/protocol/screen.ts';
import { SCREEN_LAYOUTS } from '../../src/protocol/screen-size.ts';
import { needs } from '../needs.ts';
import { findings } from './axe.ts';
import { buildPage, NO_BROWSER, openBrowser, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const TALK: Partial<ScreenSnapshot> = {
  lanes: [
    {
      id: 'main',
      source: 'en',
      targets: ['ar'],
      offer: ['es', 'ar', 'zh'],
      visitor: 'ar',
      typing: [{ from: 'en', into: 'ar' }],
      turn: null,
      repeatable: [],
      volume: 80,
    },
  ],
  texts: [
    { language: 'en', text: 'Where is the lift?', breaks: false, isSpoken: false, number: 1 },
    { language: 'ar', text: 'أين المصعد؟', breaks: false, isSpoken: false, number: 2 },
  ],
};

const nameOfFocus = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.tagName);

describe(`access to the page${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it.each(SCREEN_LAYOUTS)('has no finding of axe in the layout %s', async (layout) => {
    for (const status of [
      { kind: 'listening' },
      { kind: 'standby' },
      { kind: 'offline', cause: 'connection' },
    ] as const) {
      const shown = await showPage(browser, files, { ...TALK, layout, status });
      expect(await findings(shown.page)).toEqual([]);
      await shown.close();
    }
  });

  it('has no finding of axe in its dialogs', async () => {
    const { page, close } = await showPage(browser, files, TALK);
    for (const name of ['اللغة: العربية', 'Type: English']) {
      await page.click(`.bar button[aria-label="${name}"]`);
      await settle(page);
      expect(await findings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await settle(page);
    }
    await close();
  });

  it('can be used by keyboard alone', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    const names: unknown[] = [];
    const edges = new Set<unknown>();
    for (let press = 0; press < 14; press++) {
      await page.keyboard.press('Tab');
      names.push(await nameOfFocus(page));
      edges.add(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'));
    }
    expect([...edges]).toEqual(['solid']);
    expect(names).toEqual([
      'Large letters, High contrast',
      'About this interpreter',
      'Repeat',
      'Quieter',
      'Louder',
      'Type: English',
      'End',
      `${wordingOf('ar').largeLetters}, ${wordingOf('ar').highContrast}`,
      'عن هذا المترجم',
      'إعادة',
      'أخفض',
      'أعلى',
      'اللغة: العربية',
      'إنهاء',
    ]);
    await page.keyboard.press('Enter');
    await expect.poll(() => fake.actions).toEqual([{ do: 'end' }]);
    await page.focus('button[aria-label="Type: English"]');
    await page.keyboard.press('Enter');
    await settle(page);
    expect(await nameOfFocus(page)).toBe('Type: English');
    await page.keyboard.type('Where is the lift?');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => fake.actions.at(-1))
      .toEqual({ do: 'say', lane: 'main', language: 'en', text: 'Where is the lift?' });
    await expect.poll(() => page.$('dialog')).toBeNull();
    await close();
  });

  it('can be used by touch alone', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK, {
      width: 1280,
      height: 720,
      hasTouch: true,
    });
    await page.tap('button[aria-label="Louder"]');
    await expect.poll(() => fake.actions).toEqual([{ do: 'louder', lane: 'main' }]);
    await page.tap('button[aria-label="اللغة: العربية"]');
    await settle(page);
    expect(
      await page.$$eval('.choices button', (all) => all.map((one) => [one.lang, one.ariaPressed])),
    ).toEqual([
      ['es', 'false'],
      ['ar', 'true'],
      ['zh', 'false'],
    ]);
    await page.tap('dialog button[aria-label="إلغاء"]');
    await expect.poll(() => page.$('dialog')).toBeNull();
    await page.tap('button[aria-label="اللغة: العربية"]');
    await settle(page);
    await page.tap('dialog button[lang="zh"]');
    await expect.poll(() => fake.actions.at(-1)).toEqual({ do: 'language', lane: 'main', language: 'zh' });
    await page.tap('button[aria-label="Type: English"]');
    await settle(page);
    await page.tap('.keys ::-p-text(Q)');
    await page.tap('dialog button[aria-label="Cancel"]');
    await expect.poll(() => page.$('dialog')).toBeNull();
    await page.tap('button[aria-label="Type: English"]');
    await settle(page);
    for (const key of ['H', 'o', 'i']) await (await page.waitForSelector(`.keys ::-p-text(${key})`))?.tap();
    await page.tap('[aria-label="Delete"]');
    await page.tap('button[aria-label="Speak it"]');
    await expect
      .poll(() => fake.actions.at(-1))
      .toEqual({ do: 'say', lane: 'main', language: 'en', text: 'Ho' });
    const isOff = async (volume: number) => {
      fake.change({ lanes: TALK.lanes?.map((lane) => ({ ...lane, volume })) ?? [] });
      await settle(page);
      return page.$eval('button[aria-label="Louder"]', (button) => button.ariaDisabled);
    };
    expect([await isOff(99), await isOff(100)]).toEqual(['false', 'true']);
    await close();
  });

  it.each([
    ['Louder', wordingOf('en').loudest],
    ['أعلى', wordingOf('ar').loudest],
  ] as const)('says why a button is off when %s is touched at its end, for a while', async (name, why) => {
    const lanes = TALK.lanes?.map((lane) => ({ ...lane, volume: 100 })) ?? [];
    const { page, fake, close } = await showPage(browser, files, { ...TALK, lanes });
    const button = `button[aria-label="${name}"]`;
    const reasons = () =>
      page.$$eval('.reason:not(:empty)', (all) => all.map((one) => one.textContent ?? ''));
    expect(await reasons()).toEqual([]);
    await page.tap(button);
    await expect.poll(reasons).toEqual([why]);
    const places = await page.$eval(button, (one) => {
      const reason = [...document.querySelectorAll('.reason')].find(({ textContent }) => textContent !== '');
      const [box, panel, touched] = [reason, one.closest('.panel'), one].map((part) =>
        part?.getBoundingClientRect(),
      );
      if (box === undefined || panel === undefined || touched === undefined) throw new Error('not shown');
      return {
        role: reason?.role,
        direction: reason === undefined ? '' : getComputedStyle(reason).direction,
        isInPanel: box.left >= panel.left && box.right <= panel.right,
        isAbove: box.bottom <= touched.top + 1 && box.bottom > touched.top - touched.height,
        isNear: box.left <= touched.right && box.right >= touched.left,
      };
    });
    const direction = name === 'Louder' ? 'ltr' : 'rtl';
    expect(places).toEqual({ role: 'status', direction, isInPanel: true, isAbove: true, isNear: true });
    await expect.poll(reasons).toEqual([]);
    expect(fake.actions).toEqual([]);
    await close();
  });

  it('speaks again what there is to repeat, when nothing is spoken, and says why it does not', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    const [lane] = TALK.lanes ?? [];
    if (lane === undefined) throw new Error('no lane');
    const reasons = () =>
      page.$$eval('.reason:not(:empty)', (all) => all.map((one) => one.textContent ?? ''));
    const isOff = () =>
      page.$$eval('[aria-label="Repeat"], [aria-label="إعادة"]', (all) => all.map((one) => one.ariaDisabled));
    expect(await isOff()).toEqual(['true', 'true']);
    await page.tap('[aria-label="إعادة"]');
    await expect.poll(reasons).toEqual([wordingOf('ar').nothingToRepeat]);
    fake.change({ lanes: [{ ...lane, repeatable: ['ar'] }] });
    await settle(page);
    expect([await isOff(), await reasons()]).toEqual([['true', 'false'], []]);
    await page.tap('[aria-label="إعادة"]');
    await expect.poll(() => fake.actions).toEqual([{ do: 'repeat', lane: 'main', language: 'ar' }]);
    fake.change({ status: { kind: 'speaking' } });
    await settle(page);
    expect(await isOff()).toEqual(['true', 'true']);
    await page.tap('[aria-label="Repeat"]');
    await expect.poll(reasons).toEqual([wordingOf('en').stillSpeaking]);
    expect(fake.actions).toHaveLength(1);
    await close();
  });

  it('shows the volume to each reader, and changes it by touch', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    const shown = () => page.$$eval('.amount', (all) => all.map((one) => one.textContent));
    expect(await shown()).toEqual(['80%', new Intl.NumberFormat('ar', { style: 'percent' }).format(0.8)]);
    await page.tap('[aria-label="Quieter"]');
    await expect.poll(() => fake.actions).toEqual([{ do: 'quieter', lane: 'main' }]);
    const offAt = async (volume: number) => {
      fake.change({ lanes: TALK.lanes?.map((lane) => ({ ...lane, volume })) ?? [] });
      await settle(page);
      const [first] = await shown();
      return [first, await page.$eval('[aria-label="Quieter"]', (one) => one.ariaDisabled)];
    };
    expect([await offAt(11), await offAt(10), await offAt(5)]).toEqual([
      ['11%', 'false'],
      ['10%', 'true'],
      ['5%', 'true'],
    ]);
    await close();
  });

  it('turns by touch where a button says who speaks', async () => {
    const [lane] = TALK.lanes ?? [];
    if (lane === undefined) throw new Error('no lane');
    const turn = { mode: 'button', speakers: ['source', 'target'], speaker: 'source', isOpen: true } as const;
    const { page, fake, close } = await showPage(
      browser,
      files,
      { ...TALK, lanes: [{ ...lane, turn }] },
      { width: 1280, height: 720, hasTouch: true },
    );
    expect(await findings(page)).toEqual([]);
    expect(await page.$$eval('button.turn', (all) => all.map((one) => one.ariaPressed))).toEqual([
      'true',
      'false',
    ]);
    await page.tap('button.turn[lang="ar"]');
    await expect
      .poll(() => fake.actions)
      .toEqual([{ do: 'turn', lane: 'main', speaker: 'target', held: true }]);
    fake.change({ lanes: [{ ...lane, turn: { ...turn, speaker: 'target' } }] });
    await expect
      .poll(() => page.$$eval('button.turn', (all) => all.map((one) => one.ariaPressed)))
      .toEqual(['false', 'true']);
    await close();
  });

  it('says that a text was not spoken, and speaks it when it is sent again', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    fake.refuseWith({ code: 'busy', message: 'later' });
    await page.click('button[aria-label="Type: English"]');
    await settle(page);
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.$eval('dialog [role="status"]', (line) => line.textContent))
      .toBe('That did not work.');
    fake.refuseWith(null);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.$('dialog')).toBeNull();
    const said = { do: 'say', lane: 'main', language: 'en', text: 'Hello' };
    expect(fake.actions.filter((action) => action.do === 'say')).toEqual([said, said]);
    await close();
  });

  it('moves nothing when the reader wants less motion', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    await page.evaluate(`globalThis.moves = 0;
      const { animate } = Element.prototype;
      Element.prototype.animate = function (...words) { globalThis.moves += 1; return animate.apply(this, words); };`);
    let number = 2;
    const movesAfterASentence = async (): Promise<unknown> => {
      number += 1;
      fake.change({ texts: [{ language: 'en', text: 'And then?', breaks: true, isSpoken: true, number }] });
      await settle(page);
      return page.evaluate('globalThis.moves');
    };
    expect(await movesAfterASentence()).toBe(1);
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    expect(await movesAfterASentence()).toBe(1);
    await close();
  });

  it('marks each text with its language', async () => {
    const { page, close } = await showPage(browser, files, TALK);
    const marks = await page.$$eval('.line', (lines) =>
      lines.map((line) => [line.closest('[lang]')?.getAttribute('lang'), line.firstElementChild?.tagName]),
    );
    expect(marks).toEqual([
      ['en', 'BDI'],
      ['ar', 'BDI'],
    ]);
    await close();
  });
});
