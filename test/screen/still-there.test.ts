import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const SAID = [
  { language: 'en', text: 'Where is the lift?', breaks: false, isSpoken: true, number: 1 },
  { language: 'es', text: '¿Dónde está el ascensor?', breaks: false, isSpoken: false, number: 2 },
];
const TOUCH = { do: 'touch', lane: 'main' };
const questions = (page: Page): Promise<string[]> =>
  page.$$eval('.still-there p', (texts) => texts.map(({ textContent }) => textContent ?? ''));
const seconds = (page: Page): Promise<number[]> =>
  page.$$eval('.still-there b', (places) => places.map(({ textContent }) => Number(textContent)));

describe(
  `the question before a conversation ends${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`,
  needs(NO_BROWSER),
  () => {
    beforeAll(async () => {
      [browser, files] = await Promise.all([openBrowser(), buildPage()]);
    });
    afterAll(() => browser?.close());

    it('is asked in the language of each side, counts down, and goes when the end is no longer near', async () => {
      const { page, fake, close } = await showPage(browser, files, { texts: SAID });
      expect(await questions(page)).toEqual([]);
      fake.change({ endsInMs: 19_500 });
      await settle(page);
      expect(await questions(page)).toEqual(['Are you still there?', '¿Sigue ahí?']);
      const [first = 0, second] = await seconds(page);
      expect(first).toBe(second);
      expect(first).toBeGreaterThan(10);
      expect(first).toBeLessThanOrEqual(20);
      await expect.poll(async () => (await seconds(page))[0]).toBeLessThan(first);
      await screenshot(page, 'still-there');
      fake.change({ endsInMs: null });
      await settle(page);
      expect(await questions(page)).toEqual([]);
      await close();
    });

    it('is answered by a touch anywhere, by a key, and by its button, once each', async () => {
      const { page, fake, close } = await showPage(browser, files, { texts: SAID, endsInMs: 19_500 });
      await page.mouse.click(300, 300);
      await page.mouse.click(300, 320);
      await expect.poll(() => fake.actions).toEqual([TOUCH]);
      fake.change({ endsInMs: null });
      await settle(page);
      // Nobody has asked.
      await page.mouse.click(300, 300);
      await page.keyboard.press('Tab');
      fake.change({ endsInMs: 19_500 });
      await settle(page);
      await page.keyboard.press('Tab');
      await expect.poll(() => fake.actions).toEqual([TOUCH, TOUCH]);
      fake.change({ endsInMs: null });
      await settle(page);
      fake.change({ endsInMs: 19_500 });
      await settle(page);
      // As a screen reader presses it.
      await page.$eval('.still-there button', (button) => (button as HTMLElement).click());
      await expect.poll(() => fake.actions).toEqual([TOUCH, TOUCH, TOUCH]);
      await close();
    });

    it('is answered by the next touch when the agent refused the first', async () => {
      const { page, fake, close } = await showPage(browser, files, { texts: SAID, endsInMs: 19_500 });
      fake.refuseWith({ code: 'stopped', message: 'the lane is stopped' });
      const refused = page.waitForResponse((response) => response.url().endsWith('/do'));
      await page.mouse.click(300, 300);
      await refused;
      fake.refuseWith(null);
      await settle(page);
      await page.mouse.click(300, 300);
      await expect.poll(() => fake.actions).toEqual([TOUCH, TOUCH]);
      await close();
    });

    it('stands in a dialog, too, and typing answers it', async () => {
      const { page, fake, close } = await showPage(browser, files, { texts: SAID });
      await page.click('.panel.source [data-look="keyboard"], .panel.source .bar button:has(+ button)');
      await page.waitForSelector('dialog[open]');
      await expect.poll(() => fake.actions).toEqual([TOUCH]);
      fake.change({ endsInMs: 19_500 });
      await settle(page);
      const inDialog = await page.$eval('dialog .still-there p', (text) => {
        const { top, bottom } = text.getBoundingClientRect();
        const found = document.elementFromPoint(innerWidth / 4, (top + bottom) / 2);
        return text.closest('dialog')?.contains(found) === true && bottom <= innerHeight;
      });
      expect(inDialog).toBe(true);
      await page.keyboard.type('H');
      await expect.poll(() => fake.actions).toEqual([TOUCH, TOUCH]);
      await close();
    });

    it.for([
      [800, 480, 'beside'],
      [600, 1024, 'beside'],
      [1280, 800, 'facing'],
      [1024, 600, 'one'],
      [1920, 1080, 'beside'],
    ] as const)('is whole, in two scripts, on %i x %i %s', async ([width, height, layout]) => {
      const lane = {
        id: 'main',
        source: 'de',
        targets: ['ar'],
        offer: [],
        visitor: 'ar',
        typing: [],
        turn: null,
        volume: 80,
        repeatable: [],
      };
      const { page, close } = await showPage(
        browser,
        files,
        { layout, lanes: [lane], endsInMs: 19_500, texts: [] },
        { width, height },
      );
      await screenshot(page, `still-there-${width}-${layout}`);
      const cut = await page.$$eval('.still-there, .still-there p, .still-there button', (places) =>
        places
          .filter((place) => {
            const { left, right, top, bottom } = place.getBoundingClientRect();
            const panel = place.closest('.panel')?.getBoundingClientRect() ?? new DOMRect();
            const isOut =
              left < panel.left || top < panel.top || right > panel.right || bottom > panel.bottom;
            return isOut || place.scrollWidth > place.clientWidth + 1;
          })
          .map(({ textContent }) => textContent),
      );
      expect(cut).toEqual([]);
      expect(await questions(page)).toHaveLength(2);
      await close();
    });
  },
);
