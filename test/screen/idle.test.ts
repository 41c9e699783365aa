import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { wordingOf } from '../../src/device/screen/wording.ts';
import type { ScreenLane, ScreenSnapshot } from '../../src/protocol/screen.ts';
import { SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const [LANE] = SNAPSHOT.lanes as [ScreenLane];
const OFFER = ['es', 'fr', 'ar', 'zh', 'de', 'uk', 'ja', 'pt', 'it', 'hi', 'th', 'pl'];
const IDLE: Partial<ScreenSnapshot> = {
  status: { kind: 'standby' },
  isTalking: false,
  lanes: [{ ...LANE, offer: OFFER }],
  notices: OFFER.map((language) => ({ language, text: `The notice in ${language}.` })),
};

describe(
  `the invitation to choose a language${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`,
  needs(NO_BROWSER),
  () => {
    beforeAll(async () => {
      [browser, files] = await Promise.all([openBrowser(), buildPage()]);
    });
    afterAll(() => browser?.close());

    it.each([
      [800, 480, 107],
      [1280, 800, 150],
      [1920, 1080, 200],
      [600, 1024, 180],
    ])(
      'shows twelve languages in their own names, and nothing clipped, on %i x %i',
      async (width, height, heightMm) => {
        const given = { ...IDLE, viewingDistanceMm: 500, heightMm };
        const { page, complaints, close } = await showPage(browser, files, given, { width, height });
        await screenshot(page, `idle-${width}x${height}`);
        const offers = await page.$$eval('.offers button', (all) =>
          all.map((one) => {
            const { top, bottom, left, right } = one.getBoundingClientRect();
            const isInside = top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth;
            return {
              name: one.textContent,
              isWhole: isInside && one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight,
            };
          }),
        );
        expect(offers.map(({ name }) => name).slice(0, 4)).toEqual([
          'Español',
          'Français',
          'العربية',
          '中文',
        ]);
        expect(offers.filter(({ isWhole }) => !isWhole)).toEqual([]);
        expect(complaints).toEqual([]);
        await close();
      },
    );

    it('invites in one offered language after the other, with the notice, and moves nothing', async () => {
      const { page, close } = await showPage(browser, files, IDLE, undefined, (page) =>
        page.evaluateOnNewDocument(`const every = window.setInterval;
        window.setInterval = (callback, ms) => every(callback, ms === 4000 ? 100 : ms);`),
      );
      const seen = new Set<string>();
      const tops = new Set<number>();
      await expect
        .poll(async () => {
          const [words = '', notice = '', top = 0] = await page.evaluate(() => [
            document.querySelector('.question .now')?.textContent ?? '',
            document.querySelector('.notice')?.textContent ?? '',
            document.querySelector('.offers')?.getBoundingClientRect().top ?? 0,
          ]);
          seen.add(`${words} ${notice}`);
          tops.add(Number(top));
          return seen.size;
        })
        .toBe(OFFER.length);
      expect(seen).toContain(`${wordingOf('fr').choose} The notice in fr.`);
      expect(tops.size).toBe(1);
      await close();
    });

    it('begins a conversation in the language that is touched', async () => {
      const { page, fake, close } = await showPage(browser, files, IDLE, {
        width: 800,
        height: 480,
        hasTouch: true,
      });
      await page.tap('.offers button[lang="fr"]');
      await expect.poll(() => fake.actions).toEqual([{ do: 'language', lane: 'main', language: 'fr' }]);
      await page.tap('.offers button[lang="es"]');
      await expect.poll(() => fake.actions.slice(1)).toEqual([{ do: 'touch', lane: 'main' }]);
      fake.change({ isTalking: true, status: { kind: 'listening' } });
      await settle(page);
      expect(await page.$('.idle')).toBeNull();
      expect(await page.$$eval('.invitation', (all) => all.map((one) => one.textContent))).toEqual([
        wordingOf('en').begin,
        wordingOf('es').begin,
      ]);
      fake.change({ isTalking: false, conversation: 2, status: { kind: 'standby' } });
      await settle(page);
      expect(await page.$('.idle')).not.toBeNull();
      await close();
    });

    it('gives way to words, and to trouble', async () => {
      const { page, fake, close } = await showPage(browser, files, IDLE);
      const isIdle = async (): Promise<boolean> => {
        await settle(page);
        return (await page.$('.idle')) !== null;
      };
      expect(await isIdle()).toBe(true);
      fake.change({ status: { kind: 'offline', cause: 'connection' } });
      expect(await isIdle()).toBe(false);
      fake.change({ status: { kind: 'listening' } });
      expect(await isIdle()).toBe(true);
      fake.change({ texts: [{ language: 'es', text: 'Hola.', breaks: true, isSpoken: true, number: 1 }] });
      expect(await isIdle()).toBe(false);
      await close();
    });
  },
);
