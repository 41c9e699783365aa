import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page, Viewport } from 'puppeteer-core';
import { bundleConsole } from '../../scripts/bundle-page.mjs';
import { PATIENT } from '../setup/patience.ts';
import { FakeConsole, type FakeOptions } from './fake-console.ts';
import { rowsFor } from './fleet-fixtures.ts';

export { NO_BROWSER, openBrowser, screenshot } from '../screen/chromium.ts';

export const WIDE: Viewport = { width: 1280, height: 800 };
/** The narrowest telephone. */
export const NARROW: Viewport = { width: 360, height: 740 };

export interface ShownConsole {
  readonly fake: FakeConsole;
  readonly page: Page;
  /** Errors and refused requests of the page. */
  readonly complaints: string[];
  open(path: string): Promise<void>;
  close(): Promise<void>;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RUN_AXE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

/** What axe finds on the page as it is. */
export async function findings(page: Page): Promise<unknown> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  return page.evaluate(RUN_AXE);
}

/** The looks of each page. */
export const LOOKS = {
  light: { size: WIDE, isDark: false },
  dark: { size: WIDE, isDark: true },
  telephone: { size: NARROW, isDark: false },
  'telephone-dark': { size: NARROW, isDark: true },
} as const;

export async function setLook(
  page: Page,
  { size, isDark }: { size: Viewport; isDark: boolean },
): Promise<void> {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }]);
  const now = page.viewport();
  if (now?.width !== size.width) await page.setViewport(size);
  await settle(page);
}

/**
 * Counts answers that the page waits for, in `awaited`: of each request, and the first of each stream. A page runs it before its own
 * script, so that `settle` waits for what is on its way and not for a time.
 */
export const COUNT_AWAITED = `
  globalThis.awaited = 0;
  const begin = () => {
    awaited += 1;
    return () => { awaited -= 1; };
  };
  const ask = globalThis.fetch;
  globalThis.fetch = async (...words) => {
    const end = begin();
    try {
      const answer = await ask(...words);
      answer.clone().text().then(end, end);
      return answer;
    } catch (error) {
      end();
      throw error;
    }
  };
  globalThis.EventSource = class extends EventSource {
    constructor(...words) {
      super(...words);
      const end = begin();
      this.end = () => { end(); this.end = () => {}; };
      for (const event of ['snapshot', 'error']) this.addEventListener(event, () => this.end());
    }
    close() {
      this.end();
      super.close();
    }
  };`;

let built: Promise<Readonly<Record<string, string>>> | null = null;
export function buildConsole(): Promise<Readonly<Record<string, string>>> {
  built ??= bundleConsole().then(({ files }) => files);
  return built;
}

export interface ShowOptions extends Partial<FakeOptions> {
  readonly size?: Viewport;
  readonly isDark?: boolean;
  readonly language?: string;
}

/** The console's page with a server that the test drives. */
export async function showConsole(
  browser: Browser,
  path: string,
  { size = WIDE, isDark = false, language = 'en-GB', ...options }: ShowOptions = {},
): Promise<ShownConsole> {
  const fake = new FakeConsole({ rows: rowsFor(40), files: await buildConsole(), ...options });
  await fake.open();
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENT.poll.timeout);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  await page.setViewport(size);
  await page.emulateTimezone('Europe/Berlin');
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }]);
  await page.evaluateOnNewDocument(COUNT_AWAITED);
  await page.evaluateOnNewDocument((tag) => {
    Object.defineProperty(navigator, 'languages', { get: () => [tag] });
  }, language);
  const open = async (to: string): Promise<void> => {
    await page.goto(`${fake.url}${to}`);
    await settle(page);
  };
  await open(path);
  return {
    fake,
    page,
    complaints,
    open,
    async close() {
      await context.close();
      await fake.close();
    },
  };
}

/** Waits until the page has received all that it has asked for, and has painted it. */
export async function settle(page: Page): Promise<void> {
  await page.waitForSelector('main');
  await page.waitForFunction(async () => {
    const isThere = (): boolean =>
      (globalThis as { awaited?: number }).awaited === 0 &&
      !/Loading …|Lädt …/.test(document.querySelector('main')?.textContent ?? '');
    if (!isThere()) return false;
    await new Promise<void>((resolve) => {
      setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => resolve())), 120);
    });
    // What was painted may have asked for more.
    return isThere();
  });
}

/** Parts that stick out of the page, but for what scrolls in itself. */
export function wideParts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const scrolls = 'nav, pre, .table, .scroller, .counts, .tools, .unseen, .skip, .uplot';
    return [...document.querySelectorAll('body *')]
      .filter((part) => part.parentElement?.closest(scrolls) === null && !part.matches('.unseen, .skip'))
      .filter((part) => part.getBoundingClientRect().right > innerWidth + 1)
      .map((part) => `${part.tagName}.${part.className}`)
      .concat(document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : []);
  });
}
