import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { screenBeatSchema } from '../../src/protocol/screen.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

/** Runs the page's timers of 5 s each 50 ms. */
const FASTER = `const every = window.setInterval;
  window.setInterval = (callback, ms) => every(callback, ms === 5000 ? 50 : ms);`;
/** The page is a day older than it is. */
const A_DAY_OLDER = `const now = performance.now.bind(performance);
  performance.now = () => now() + 24 * 3_600_000;`;

const show = (script: string, status: 'standby' | 'listening' = 'listening') =>
  showPage(browser, files, { status: { kind: status } }, { width: 1280, height: 720 }, (page: Page) =>
    page.evaluateOnNewDocument(script),
  );

async function ageOf(url: string): Promise<number | null> {
  const answer = await fetch(`${url}/beat`);
  return screenBeatSchema.parse(await answer.json()).ageMs;
}

describe('the beat of the page', needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser.close());

  it('goes on while the page paints, and stops when it does not', async () => {
    const { url, page, close } = await show(FASTER);
    await expect.poll(() => ageOf(url)).toBeLessThan(1000);
    await page.waitForResponse((response) => response.url() === `${url}/beat`);
    // Timers run on, frames do not: the picture is frozen.
    await page.evaluate(
      'window.paint = window.requestAnimationFrame; window.requestAnimationFrame = () => 0',
    );
    await expect.poll(() => ageOf(url), { interval: 200 }).toBeGreaterThan(2000);
    await page.evaluate('window.requestAnimationFrame = window.paint');
    await expect.poll(() => ageOf(url)).toBeLessThan(1000);
    await close();
  });

  it('stops when the page has used up its memory, and another page goes on', async () => {
    // As on the device; src/adapters/screen/browser.ts has the same.
    const small = await openBrowser('--js-flags=--max-old-space-size=64');
    const shown = await showPage(small, files, {}, { width: 1280, height: 720 }, (page: Page) =>
      page.evaluateOnNewDocument(FASTER),
    );
    await expect.poll(() => ageOf(shown.url)).toBeLessThan(1000);
    const crashed = new Promise((resolve) => shown.page.once('error', resolve));
    const eat = 'for (const eaten = []; ; ) eaten.push(new Array(100_000).fill({}).map(() => ({})))';
    shown.page.evaluate(eat).catch(() => {});
    expect(String(await crashed)).toContain('crashed');
    await expect.poll(() => ageOf(shown.url), { interval: 200 }).toBeGreaterThan(2000);
    const another = await small.newPage();
    await another.goto(shown.url);
    await expect.poll(() => ageOf(shown.url)).toBeLessThan(1000);
    await small.close();
    await shown.close().catch(() => {});
  });

  it('loads the page again when the agent has started again, which knows the page no more', async () => {
    const { url, page, close } = await show(FASTER);
    await page.evaluate('window.isOld = true');
    await page.evaluate('document.querySelector("meta[name=page-token]").content = "of an earlier run"');
    await expect.poll(() => page.evaluate('window.isOld').catch(() => true)).toBeUndefined();
    await expect.poll(() => ageOf(url)).toBeLessThan(1000);
    await close();
  });

  it('loads the page again after a day when the kiosk is in standby', async () => {
    const { page, fake, close } = await show(`${FASTER} ${A_DAY_OLDER}`);
    await page.evaluate('window.isOld = true');
    await page.waitForResponse((response) => response.url().endsWith('/beat'));
    await page.waitForResponse((response) => response.url().endsWith('/beat'));
    expect(await page.evaluate('window.isOld')).toBe(true);
    fake.change({ status: { kind: 'standby' } });
    await expect.poll(() => page.evaluate('window.isOld').catch(() => true)).toBeUndefined();
    await close();
  });

  it('does not load a page again that is younger', async () => {
    const { page, close } = await show(FASTER, 'standby');
    await page.evaluate('window.isOld = true');
    for (const _beat of [1, 2, 3]) await page.waitForResponse((response) => response.url().endsWith('/beat'));
    expect(await page.evaluate('window.isOld')).toBe(true);
    await close();
  });
});
