import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundlePage } from '../../scripts/bundle-page.mjs';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { needs } from '../needs.ts';
import { NO_BROWSER, openBrowser, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

/** A clock for the script: `globalThis.later` is added to the page's time. */
const LATER = `globalThis.later = 0;
  const now = performance.now.bind(performance);
  performance.now = () => now() + globalThis.later;`;
const wait = (page: Page, ms: number) => page.evaluate(`globalThis.later += ${ms}`);
/** Whether the visitor's side is looked back at. */
const looksBack = (page: Page) =>
  page.$eval('.panel.target .captions', ({ classList }) => classList.contains('looking-back'));
const topOf = (page: Page) => page.$eval('.panel.target .captions', ({ scrollTop }) => scrollTop);

const TEXTS = ['es', 'en'].flatMap((language, side) =>
  Array.from({ length: 9 }, (_, index) => ({
    language,
    text: 'Buenos días, quisiera dos entradas para la exposición.',
    breaks: true,
    isSpoken: side === 1,
    number: side * 9 + index + 1,
  })),
);

/** A conversation on the page as the demo serves it. */
const show = () =>
  showPage(browser, files, { texts: TEXTS }, undefined, (page) => page.evaluateOnNewDocument(LATER));

describe(`the page of the demo${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    browser = await openBrowser();
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-page-'));
    await bundlePage(folder);
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const script = `${read('screen.js')}\n${read('screen-demo.js')}`;
    files = { script, style: read('screen.css') };
    rmSync(folder, { recursive: true });
  });
  afterAll(() => browser?.close());

  it('looks back to the first sentence when nothing more is said', async () => {
    const { page, fake, complaints, close } = await show();
    expect(await looksBack(page)).toBe(false);
    await wait(page, 6000);
    await expect.poll(() => looksBack(page)).toBe(true);
    await wait(page, 3000);
    await expect.poll(() => topOf(page)).toBe(0);
    // Nothing that the agent would take for a person.
    expect([fake.actions, complaints]).toEqual([[], []]);
    await close();
  });

  it('leaves the page alone when a person scrolls, and reports the person', async () => {
    const { page, fake, close } = await show();
    await page.mouse.move(900, 300);
    await page.mouse.wheel({ deltaY: -120 });
    await expect.poll(() => fake.actions).toEqual([{ do: 'touch', lane: 'main' }]);
    const top = await topOf(page);
    await wait(page, 50_000);
    // Two checks of the script.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(await topOf(page)).toBe(top);
    await wait(page, 10_000);
    await expect.poll(() => topOf(page)).toBeLessThan(top);
    await close();
  });
});
