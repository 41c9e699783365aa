import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import type { ScreenLane, ScreenMenuItem, ScreenSnapshot } from '../../src/protocol/screen.ts';
import { SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const [LANE] = SNAPSHOT.lanes as [ScreenLane];
const IDLE: Partial<ScreenSnapshot> = {
  lanes: [{ ...LANE, offer: ['es', 'de', 'fr'] }],
  help: { state: 'none', by: null, mayCall: true },
  isTalking: false,
};
const TALK: Partial<ScreenSnapshot> = { ...IDLE, isTalking: true };
const HOLD: Partial<ScreenSnapshot> = {
  ...TALK,
  lanes: [
    { ...LANE, turn: { mode: 'hold', speakers: ['source', 'target'], speaker: 'source', isOpen: false } },
  ],
};
const named = (page: Page): Promise<(string | null)[]> =>
  page.$$eval('[data-named]', (all) =>
    all
      .filter((one) => getComputedStyle(one).outlineStyle === 'solid')
      .map((one) => one.getAttribute('aria-label') ?? one.textContent),
  );
const size = (page: Page) => page.evaluate(() => ({ width: innerWidth, height: innerHeight }));
/** Rests a finger at the lower edge, at this share of its width. */
async function rest(page: Page, ms: number, share = 0.5, fromBottom = 4): Promise<void> {
  const { width, height } = await size(page);
  await page.mouse.move(share * (width - 1), height - fromBottom);
  await page.mouse.down();
  await new Promise((resolve) => setTimeout(resolve, ms));
  await page.mouse.up();
}

describe(`the spoken menu on the page${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('opens with two seconds anywhere on the lower edge, and presses no button there', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    const open = { do: 'menu', lane: 'main', key: 'open' };
    await rest(page, 2300, 0);
    await rest(page, 2300, 1);
    const end = await page.$eval('[data-visitors] .end', (one) => one.getBoundingClientRect().x);
    const { width } = await size(page);
    await rest(page, 2300, (end + 20) / width, 30);
    await expect.poll(() => fake.actions.filter((one) => one.do !== 'touch')).toEqual([open, open, open]);
    await close();
  });

  it('leaves the keyboard its clicks after a touch there', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    await rest(page, 2300);
    await page.focus('[data-visitors] .end');
    await page.keyboard.press('Enter');
    await expect.poll(() => fake.actions.filter((one) => one.do === 'end')).toHaveLength(1);
    await close();
  });

  it('does not open with a short touch, a touch above the edge, or a finger that leaves it', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    await rest(page, 500, 0.5, 2);
    await rest(page, 2300, 0.5, 300);
    const { width, height } = await size(page);
    await page.mouse.move(width / 2, height - 4);
    await page.mouse.down();
    await page.mouse.move(width / 2, height - 300);
    await new Promise((resolve) => setTimeout(resolve, 2300));
    await page.mouse.up();
    expect(fake.actions.filter((one) => one.do === 'menu')).toEqual([]);
    await close();
  });

  it('does not open with a button that is held to speak', async () => {
    const { page, fake, close } = await showPage(browser, files, HOLD);
    // As in a layout whose last row holds the button.
    const x = await page.$eval('.turn', (one) => {
      if (!(one instanceof HTMLElement)) throw new Error('no button');
      one.style.position = 'fixed';
      one.style.bottom = '0';
      const { left, width } = one.getBoundingClientRect();
      return left + width / 2;
    });
    const { width } = await size(page);
    await rest(page, 2300, x / width);
    await expect.poll(() => fake.actions.length).toBeGreaterThan(1);
    expect(fake.actions.filter((one) => one.do !== 'turn')).toEqual([]);
    await close();
  });

  it('is "next" with a touch and "choose" with a second while it is open', async () => {
    const { page, fake, close } = await showPage(browser, files, {
      ...TALK,
      menu: { lane: 'main', item: 'begin' },
    });
    await rest(page, 50);
    await rest(page, 1300);
    const keys = () => fake.actions.map((one) => (one.do === 'menu' ? one.key : one.do));
    await expect.poll(keys).toEqual(['next', 'choose']);
    const end = await page.$eval('[data-visitors] .end', (one) => one.getBoundingClientRect().toJSON());
    const { width, height } = await size(page);
    await rest(page, 50, (end.x + end.width / 2) / width, height - end.bottom + 4);
    await expect.poll(keys).toEqual(['next', 'choose', 'next']);
    fake.change({ menu: null });
    await settle(page);
    await rest(page, 50, (end.x + end.width / 2) / width, height - end.bottom + 4);
    await expect.poll(keys).toEqual(['next', 'choose', 'next', 'end']);
    await close();
  });

  it('marks what it names, in the visitor’s panel alone, and on the page of languages', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    const labels: (string | null)[][] = [];
    const items: ScreenMenuItem[] = ['repeat', 'quieter', 'louder', 'language', 'help', 'end'];
    for (const item of items) {
      fake.change({ menu: { lane: 'main', item } });
      await settle(page);
      labels.push(await named(page));
    }
    expect(labels.map((all) => all.length)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(labels.flat()).toEqual([
      'Repetir',
      'Más bajo',
      expect.any(String),
      expect.stringContaining('Español'),
      expect.any(String),
      'Terminar',
    ]);
    await screenshot(page, 'menu-talk');
    fake.change({ isTalking: false, menu: { lane: 'main', item: 'language:de' } });
    await settle(page);
    expect(await named(page)).toEqual(['Deutsch']);
    await screenshot(page, 'menu-idle');
    fake.change({ menu: null });
    await settle(page);
    expect(await named(page)).toEqual([]);
    await close();
  });
});
