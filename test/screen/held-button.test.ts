import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import type { ScreenLane, ScreenSnapshot } from '../../src/protocol/screen.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const LANE: ScreenLane = {
  id: 'main',
  source: 'en',
  targets: ['es'],
  offer: ['es', 'fr'],
  visitor: 'es',
  turn: null,
  typing: [{ from: 'en', into: 'es' }],
  repeatable: [],
  volume: 80,
};
const TURN = { mode: 'hold', speakers: ['source', 'target'], speaker: 'source', isOpen: true } as const;
const HELD: Partial<ScreenSnapshot> = { lanes: [{ ...LANE, turn: TURN }] };
const BUTTON = 'button.turn[lang="en"]';

/** The page's timers of 2 s, which repeat a held button, run when the test calls them. */
const BY_HAND = `window.held = new Map();
  const every = window.setInterval;
  const clear = window.clearInterval;
  window.setInterval = (callback, ms) => {
    const timer = every(callback, ms === 2000 ? 1e9 : ms);
    if (ms === 2000) window.held.set(timer, callback);
    return timer;
  };
  window.clearInterval = (timer) => {
    window.held.delete(timer);
    clear(timer);
  };`;

/** A page with a button to hold; `again` passes 2 s of its clock. */
async function showHeld() {
  const prepare = (page: Page) => page.evaluateOnNewDocument(BY_HAND);
  const shown = await showPage(browser, files, HELD, undefined, prepare);
  const { page, fake } = shown;
  return {
    ...shown,
    turns: () => fake.actions.flatMap((action) => (action.do === 'turn' ? action.held : [])),
    again: () => page.evaluate('for (const callback of window.held.values()) callback()'),
    timers: () => page.evaluate('window.held.size'),
  };
}

describe(`a held button${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it.each<[string, Partial<ScreenSnapshot>]>([
    ['the lane has no button any more', { lanes: [LANE] }],
    ['another button says who speaks', { lanes: [{ ...LANE, turn: { ...TURN, mode: 'button' } }] }],
    ['the kiosk closes', { status: { kind: 'closed', until: null } }],
    ['the conversation ends', { conversation: 2 }],
  ])('is released when %s', async (_when, change) => {
    const { page, fake, close, turns, again, timers } = await showHeld();
    await page.hover(BUTTON);
    await page.mouse.down();
    await expect.poll(turns).toEqual([true]);
    await again();
    await expect.poll(turns).toEqual([true, true]);
    fake.change(change);
    await expect.poll(turns).toEqual([true, true, false]);
    await settle(page);
    expect(await timers()).toBe(0);
    await page.mouse.move(5, 5);
    await page.mouse.up();
    await settle(page);
    expect(turns()).toEqual([true, true, false]);
    await close();
  });

  it.each<[string, (page: Page) => Promise<unknown>]>([
    ['it is let go', (page) => page.mouse.up()],
    ['the finger slides off it', (page) => page.mouse.move(5, 5)],
    ['the browser takes the finger for another gesture', (page) => tell(page, 'pointercancel')],
  ])('is released when %s, and is not held again by itself', async (_when, letGo) => {
    const { page, close, turns, again, timers } = await showHeld();
    await page.hover(BUTTON);
    await page.mouse.down();
    await expect.poll(turns).toEqual([true]);
    await letGo(page);
    await expect.poll(turns).toEqual([true, false]);
    expect(await timers()).toBe(0);
    await again();
    await settle(page);
    expect(turns()).toEqual([true, false]);
    await close();
  });

  it.each<[string, (page: Page) => Promise<unknown>]>([
    ['it is let go', (page) => page.keyboard.up('Enter')],
    ['the focus leaves the button', (page) => page.focus('button[aria-label="End"]')],
  ])(
    'by the keyboard is pressed once, however long it is held, and released when %s',
    async (_when, letGo) => {
      const { page, close, turns, timers } = await showHeld();
      await page.focus(BUTTON);
      await page.keyboard.down('Enter');
      await expect.poll(turns).toEqual([true]);
      // The browser repeats a key that is down already.
      await page.keyboard.down('Enter');
      await page.keyboard.down('Enter');
      expect(await timers()).toBe(1);
      await letGo(page);
      await expect.poll(turns).toEqual([true, false]);
      expect(await timers()).toBe(0);
      await close();
    },
  );
});

const tell = (page: Page, event: string) =>
  page.$eval(
    BUTTON,
    (button, name) => button.dispatchEvent(new PointerEvent(name, { bubbles: true })),
    event,
  );
