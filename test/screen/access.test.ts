import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import type { ScreenSnapshot } from '../../src/protocol/screen.ts';
import { SCREEN_LAYOUTS } from '../../src/protocol/screen-size.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, settle, showPage } from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RUN_AXE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

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
      volume: 80,
    },
  ],
  texts: [
    { language: 'en', text: 'Where is the lift?', breaks: false, isSpoken: false, number: 1 },
    { language: 'ar', text: 'أين المصعد؟', breaks: false, isSpoken: false, number: 2 },
  ],
};

async function findings(page: Page): Promise<string[]> {
  // The page's own policy forbids scripts from elsewhere, so the debugger runs it.
  await page.evaluate(AXE);
  return (await page.evaluate(RUN_AXE)) as string[];
}

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
    for (let press = 0; press < 8; press++) {
      await page.keyboard.press('Tab');
      names.push(await nameOfFocus(page));
    }
    expect(names).toEqual([
      'About this interpreter',
      'Type: English',
      'Louder',
      'End',
      'عن هذا المترجم',
      'اللغة: العربية',
      'أعلى',
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
    await page.tap('.keys ::-p-text(q)');
    await page.tap('dialog button[aria-label="Cancel"]');
    await expect.poll(() => page.$('dialog')).toBeNull();
    await page.tap('button[aria-label="Type: English"]');
    await settle(page);
    for (const key of ['h', 'o', 'i']) await page.tap(`.keys ::-p-text(${key})`);
    await page.tap('[aria-label="delete"]');
    await page.tap('button[aria-label="Speak it"]');
    await expect
      .poll(() => fake.actions.at(-1))
      .toEqual({ do: 'say', lane: 'main', language: 'en', text: 'ho' });
    const isOff = async (volume: number) => {
      fake.change({ lanes: TALK.lanes?.map((lane) => ({ ...lane, volume })) ?? [] });
      await settle(page);
      return page.$eval('button[aria-label="Louder"]', (button) => (button as HTMLButtonElement).disabled);
    };
    expect([await isOff(99), await isOff(100)]).toEqual([false, true]);
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
