/** The console where no stream works: behind a proxy that holds it back, or in many windows of one browser. */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import {
  buildConsole,
  findings,
  LOOKS,
  NO_BROWSER,
  openBrowser,
  screenshot,
  wideParts,
} from './console-page.ts';
import { FakeConsole } from './fake-console.ts';
import { rowFor, rowsFor } from './fleet-fixtures.ts';

let browser: Browser;
const WINDOWS = 7;
const textOf = (page: Page): Promise<string> => page.$eval('body', (body) => body.textContent);
const rowCount = (page: Page): Promise<number> => page.$$eval('[aria-rowindex]', (rows) => rows.length);

async function openFake(isHeld: boolean): Promise<FakeConsole> {
  const fake = new FakeConsole({ rows: rowsFor(40), files: await buildConsole() });
  fake.isHeld = isHeld;
  await fake.open();
  return fake;
}

describe(`the console without a stream${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('says that it connects, then why it does not, and shows snapshots meanwhile', async () => {
    const fake = await openFake(true);
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 800 });
    await page.goto(fake.url);
    await page.waitForFunction(() => document.body.textContent.includes('Connecting'));
    const early = await textOf(page);
    expect(early).not.toMatch(/Problems|No device/);
    expect(fake.asks).toBe(0);
    await screenshot(page, 'console-connecting');
    await page.waitForFunction(() => document.querySelectorAll('[aria-rowindex]').length > 5);
    expect(await page.$eval('.banner', (banner) => banner.textContent)).toMatch(/proxy.*every 5 seconds/);
    expect(await page.$eval('.counts .bad b', (count) => count.textContent)).toBe('10');
    for (const [look, how] of Object.entries(LOOKS)) {
      await setLookWithoutStream(page, how);
      await screenshot(page, `console-held-${look}`);
      expect(await findings(page), look).toEqual([]);
      expect(await wideParts(page), look).toEqual([]);
    }
    // What changes comes with the next snapshot, and a filter at once.
    fake.rows.set('museum/kiosk-00001', rowFor(1, { status: 'ready', isProblem: false, reasons: [] }));
    await page.waitForFunction(() => document.querySelector('.counts .bad b')?.textContent === '9');
    await page.type('[type=search]', 'kiosk-00007');
    await page.waitForFunction(() => document.querySelectorAll('[aria-rowindex]').length < 4);
    expect(fake.openStreams).toBe(0);
    // Neither works.
    await fake.close();
    await page.waitForFunction(() =>
      document.querySelector('.banner')?.textContent?.includes('No connection'),
    );
    await page.close();
  });

  it('works in seven windows of one browser, which has six connections', async () => {
    const fake = await openFake(false);
    const context = await browser.createBrowserContext();
    const pages: Page[] = [];
    for (let count = 0; count < WINDOWS; count += 1) {
      const page = await context.newPage();
      pages.push(page);
      // Windows beside each other, not tabs: those that are hidden give their streams back.
      await (await page.createCDPSession()).send('Emulation.setFocusEmulationEnabled', { enabled: true });
      await page.goto(fake.url);
      await page.waitForFunction(() => document.querySelectorAll('[aria-rowindex]').length > 5);
    }
    expect(fake.openStreams).toBe(4);
    const banners = await Promise.all(pages.map((page) => page.$$eval('.banner', (found) => found.length)));
    expect(banners.reduce((sum, one) => sum + one, 0)).toBe(WINDOWS - 4);
    // A window that closes leaves its stream to another one.
    await pages[0]?.close();
    await expect.poll(() => fake.openStreams).toBe(4);
    const left = pages.slice(1);
    await expect
      .poll(async () => {
        const found = await Promise.all(left.map((page) => page.$$eval('.banner', ({ length }) => length)));
        return found.filter((length) => length > 0).length;
      })
      .toBe(WINDOWS - 5);
    expect(await Promise.all(left.map(rowCount))).not.toContain(0);
    await context.close();
    await fake.close();
  });
});

/** Without waiting for a stream that is held back. */
async function setLookWithoutStream(page: Page, how: (typeof LOOKS)[keyof typeof LOOKS]): Promise<void> {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: how.isDark ? 'dark' : 'light' }]);
  await page.setViewport(how.size);
  await new Promise((painted) => setTimeout(painted, 300));
}
