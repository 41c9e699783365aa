import type { Browser, ElementHandle, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import type { ScreenSnapshot } from '../../src/protocol/screen.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

/** A screen with a touch, on which people type a language; the other one is English. */
async function typing(
  language: string,
  snapshot: Partial<ScreenSnapshot> = {},
  [width, height]: readonly [number, number] = [800, 480],
) {
  const lane = {
    id: 'main',
    source: 'en',
    targets: [language],
    offer: [],
    visitor: language,
    typing: [
      { from: language, into: 'en' },
      { from: 'en', into: language },
    ],
    turn: null,
    volume: 80,
    repeatable: [],
  };
  const given = { lanes: [lane], heightMm: 150, ...snapshot };
  const shown = await showPage(browser, files, given, { width, height, hasTouch: true });
  const { page } = shown;
  await page.tap(`.panel:has(.body[lang="${language}"]) .keyboard`);
  await page.waitForSelector('dialog input:focus');
  return shown;
}

const typed = (page: Page) => page.$eval('dialog input', (input) => input.value);
const isFieldFocused = (page: Page) =>
  page.$eval('dialog input', (input) => input === document.activeElement);
const variants = (page: Page) =>
  page.$$eval('.variants button', (all) => all.map(({ textContent }) => textContent).join(''));

const keyOf = (page: Page, sign: string) => buttonOf(page, '.keys .row > button', sign);
const variantOf = (page: Page, sign: string) => buttonOf(page, '.variants button', sign);

/** The button with a sign, which may change with the letter before it. */
async function buttonOf(page: Page, place: string, sign: string): Promise<ElementHandle<Element>> {
  const found = await page.waitForFunction(
    (buttons, text) => [...document.querySelectorAll(buttons)].find((one) => one.textContent === text),
    {},
    place,
    sign,
  );
  const button = found.asElement();
  if (button === null) throw new Error(`no "${sign}" in ${place}`);
  return button as ElementHandle<Element>;
}

async function tapAll(page: Page, signs: readonly string[]): Promise<void> {
  for (const sign of signs) await (await keyOf(page, sign)).tap();
}

/** Puts a finger on a key and waits until its other letters are there. */
async function hold(page: Page, sign: string) {
  const middle = await middleOf(await keyOf(page, sign));
  const finger = await page.touchscreen.touchStart(middle.x, middle.y);
  await page.waitForSelector('.variants');
  return finger;
}

async function middleOf(element: ElementHandle<Element>): Promise<{ x: number; y: number }> {
  const box = await element.boundingBox();
  if (box === null) throw new Error('not on the screen');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

describe(`the keyboard on the screen${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('begins a sentence with a capital, and shift is for one letter', async () => {
    const { page, close } = await typing('es');
    await tapAll(page, ['¿', 'H', 'a', 'y']);
    await page.tap('[aria-label="Espacio"]');
    await page.tap('[aria-label="Mayúsculas"]');
    await tapAll(page, ['A', 's', 'c', '?']);
    await page.tap('[aria-label="Espacio"]');
    await tapAll(page, ['N']);
    await page.tap('[aria-label="Borrar"]');
    // No capital, because shift says so.
    await page.tap('[aria-label="Mayúsculas"]');
    await tapAll(page, ['n', 'o', '.']);
    expect(await typed(page)).toBe('¿Hay Asc? no.');
    expect(await isFieldFocused(page)).toBe(true);
    await close();
  });

  it('writes at the cursor, and replaces what is selected', async () => {
    const { page, close } = await typing('de');
    await page.keyboard.type('Wo ist Lift');
    const select = (from: number, to: number) =>
      page.$eval('dialog input', (input, start, end) => input.setSelectionRange(start, end), from, to);
    await select(7, 7);
    await tapAll(page, ['d', 'e', 'r', '-']);
    expect(await typed(page)).toBe('Wo ist der-Lift');
    await page.tap('[aria-label="Löschen"]');
    await page.tap('[aria-label="Leertaste"]');
    expect(await typed(page)).toBe('Wo ist der Lift');
    await select(0, 2);
    await page.tap('[aria-label="Löschen"]');
    expect(await typed(page)).toBe(' ist der Lift');
    await tapAll(page, ['W', 'o']);
    expect(await typed(page)).toBe('Wo ist der Lift');
    await close();
  });

  it('makes Korean syllables, and adds marks to the letter before them', async () => {
    const korean = await typing('ko');
    await tapAll(korean.page, ['ㅎ', 'ㅗ', 'ㅏ', 'ㅈ', 'ㅏ', 'ㅇ', 'ㅅ', 'ㅣ', 'ㄹ', '?']);
    expect(await typed(korean.page)).toBe('화장실?');
    await korean.close();
    const japanese = await typing('ja');
    await tapAll(japanese.page, ['て', '\u309b', 'ん', 'わ', '。']);
    expect(await typed(japanese.page)).toBe('でんわ。');
    await japanese.close();
  });

  it('offers the letters of the language when a key is held, and takes the one to which the finger slides', async () => {
    const { page, close } = await typing('fr');
    await tapAll(page, ['C', 'a', 'f']);
    const finger = await hold(page, 'e');
    await screenshot(page, 'typing-held');
    expect(await variants(page)).toMatch(/^éèêë/);
    const { x, y } = await middleOf(await variantOf(page, 'é'));
    await finger.move(x, y);
    await page.waitForSelector('.variants .pointed');
    await finger.end();
    await expect.poll(() => page.$('.variants')).toBeNull();
    expect(await typed(page)).toBe('Café');
    expect(await isFieldFocused(page)).toBe(true);
    await close();
  });

  it('keeps the letters open for a second touch when the finger leaves, and types no other letter', async () => {
    const { page, close } = await typing('fr');
    await tapAll(page, ['O', 'u']);
    await (await hold(page, 'u')).end();
    await settle(page);
    expect(await typed(page)).toBe('Ou');
    await (await variantOf(page, 'ù')).tap();
    await expect.poll(() => page.$('.variants')).toBeNull();
    expect(await typed(page)).toBe('Ouù');
    // A touch elsewhere closes them and does what it does.
    await (await hold(page, 'e')).end();
    await tapAll(page, ['s']);
    await expect.poll(() => page.$('.variants')).toBeNull();
    expect(await typed(page)).toBe('Ouùs');
    await close();
  });

  it('types the letter that was touched when the finger slides off its key', async () => {
    const { page, close } = await typing('de');
    const from = await middleOf(await keyOf(page, 'Q'));
    const finger = await page.touchscreen.touchStart(from.x, from.y);
    await finger.move(from.x + 150, from.y + 60);
    await finger.end();
    await expect.poll(() => typed(page)).toBe('Q');
    // Two thumbs: the second letter begins before the first one ends.
    const [one, two] = [await middleOf(await keyOf(page, 'a')), await middleOf(await keyOf(page, 'b'))];
    const first = await page.touchscreen.touchStart(one.x, one.y);
    const second = await page.touchscreen.touchStart(two.x, two.y);
    await first.end();
    await second.end();
    await expect.poll(() => typed(page)).toBe('Qab');
    await close();
  });

  it.each([
    ['beside', 'de', 'A', 800, 480],
    ['beside', 'cs', 'O', 600, 1024],
    ['facing', 'de', 'A', 800, 480],
    ['facing', 'it', 'O', 1024, 600],
    ['beside', 'ar', 'ا', 800, 480],
    ['facing', 'ar', '٠', 800, 480],
  ] as const)(
    'shows the letters of a key above it and on the screen: %s, %s, %s on %i x %i',
    async (layout, language, sign, width, height) => {
      const { page, close } = await typing(language, { layout }, [width, height]);
      const finger = await hold(page, sign);
      await screenshot(page, `typing-held-${layout}-${language}-${width}`);
      const boxes = await page.$$eval('.variants button', (all) =>
        all.map((button) => button.getBoundingClientRect().toJSON() as DOMRect),
      );
      for (const box of boxes) {
        expect(Math.min(box.left, box.top)).toBeGreaterThanOrEqual(0);
        expect(box.right).toBeLessThanOrEqual(width);
        expect(box.bottom).toBeLessThanOrEqual(height);
        expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(30);
      }
      const below = await middleOf(await keyOf(page, sign));
      const above = await middleOf((await page.$('.variants button')) as ElementHandle<Element>);
      // Turned, it is above for the reader.
      expect(layout === 'facing' ? above.y > below.y : above.y < below.y).toBe(true);
      await finger.move(above.x, above.y);
      await finger.end();
      await expect.poll(async () => (await typed(page)).length).toBe(1);
      expect(await typed(page)).not.toBe(sign);
      await close();
    },
  );

  it('offers the letters by a mouse and by the arrow keys', async () => {
    const { page, close } = await typing('fr');
    const { x, y } = await middleOf(await keyOf(page, 'E'));
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.waitForSelector('.variants');
    const to = await middleOf(await variantOf(page, 'È'));
    await page.mouse.move(to.x, to.y);
    await page.mouse.up();
    await expect.poll(() => typed(page)).toBe('È');
    const key = await keyOf(page, 'e');
    await key.focus();
    await page.keyboard.press('ArrowUp');
    await page.waitForSelector('.variants button:focus');
    for (const press of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'Enter'] as const)
      await page.keyboard.press(press);
    await expect.poll(() => typed(page)).toBe('Èè');
    expect(await key.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press('ArrowUp');
    await page.waitForSelector('.variants button:focus');
    // The dialog stays.
    await page.keyboard.press('Escape');
    await expect.poll(() => page.$('.variants')).toBeNull();
    await page.keyboard.press('Enter');
    await expect.poll(() => typed(page)).toBe('Èèe');
    await close();
  });

  it('returns the focus to the button that opened it, and keeps the text in another language', async () => {
    const { page, close } = await typing('de', { layout: 'one' });
    await page.keyboard.type('Museum');
    await page.tap('dialog button[aria-label="English"]');
    await page.waitForSelector('.keys[lang="en"]');
    expect(await typed(page)).toBe('Museum');
    expect(await isFieldFocused(page)).toBe(true);
    await tapAll(page, ['y']);
    expect(await typed(page)).toBe('Museumy');
    for (const closing of ['Escape', 'Cancel']) {
      if (closing === 'Escape') await page.keyboard.press('Escape');
      else await page.tap('dialog .bar button');
      await page.waitForFunction('document.querySelector("dialog") === null');
      await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('keyboard');
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog input:focus');
      expect(await typed(page)).toBe('');
    }
    await close();
  });

  it('says that a keyboard is needed where it cannot write the language, and takes what that types', async () => {
    const { page, fake, close } = await typing('zh');
    expect(await page.$eval('.keys', ({ textContent }) => textContent)).toBe(
      '输入这种语言需要键盘。请询问工作人员。',
    );
    expect(await page.$('.keys button')).toBeNull();
    await page.keyboard.sendCharacter('电梯在哪里？');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => fake.actions.at(-1))
      .toEqual({ do: 'say', lane: 'main', language: 'zh', text: '电梯在哪里？' });
    await close();
  });
});
