import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page, Viewport } from 'puppeteer-core';
import { bundlePage } from '../../scripts/bundle-page.mjs';
import { createSystemClock } from '../../src/adapters/clock.ts';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { openPageServer, type PageServer } from '../../src/adapters/screen/page-server.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { ScreenSource } from '../../src/ports/screen.ts';
import type { ScreenSnapshot } from '../../src/protocol/screen.ts';
import { createFakeSource, SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { PATIENT } from '../setup/patience.ts';

export { NO_BROWSER, openBrowser, screenshot } from './chromium.ts';

let built: Promise<PageFiles> | null = null;
/** The page's files as the build makes them. */
export function buildPage(): Promise<PageFiles> {
  built ??= bundle();
  return built;
}

async function bundle(): Promise<PageFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-page-'));
  try {
    await bundlePage(folder);
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    return { script: read('screen.js'), style: read('screen.css') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Notes the number of the last message that the page has received. */
const NOTE_NUMBERS = `
  globalThis.EventSource = class extends EventSource {
    constructor(...words) {
      super(...words);
      for (const event of ['snapshot', 'change'])
        this.addEventListener(event, ({ lastEventId }) => { globalThis.received = Number(lastEventId); });
    }
  };`;
/** What a page must have received, by its source. */
const sources = new WeakMap<Page, ScreenSource>();

export interface Shown {
  readonly fake: ReturnType<typeof createFakeSource>;
  readonly page: Page;
  readonly url: string;
  /** The server ends, as when the agent does; `back` starts it again at the same address. */
  breakConnection(): Promise<{ back(): Promise<void> }>;
  /** Errors and refused requests of the page. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** A page of the shipped server with a source that the test drives. */
export async function showPage(
  browser: Browser,
  files: PageFiles,
  snapshot: Partial<ScreenSnapshot> = {},
  size: Viewport = { width: 1280, height: 720 },
  prepare: (page: Page) => Promise<unknown> = async () => {},
  clock: Clock = createSystemClock(),
): Promise<Shown> {
  const fake = createFakeSource({ ...SNAPSHOT, ...snapshot });
  const options = { port: 0, token: 'page-token', files, source: fake.source, clock };
  let server: PageServer = await openPageServer(options);
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  await page.setViewport(size);
  page.setDefaultTimeout(PATIENT.poll.timeout);
  await page.evaluateOnNewDocument(NOTE_NUMBERS);
  sources.set(page, fake.source);
  await prepare(page);
  await page.goto(server.url);
  await page.waitForSelector('.panel, .idle');
  await settle(page);
  return {
    fake,
    page,
    url: server.url,
    complaints,
    async breakConnection() {
      const port = Number(new URL(server.url).port);
      await server.close();
      return {
        async back() {
          server = await openPageServer({ ...options, port });
        },
      };
    },
    async close() {
      await page.close();
      await server.close();
    },
  };
}

/** Waits until the page has received what its source has, and has painted it. */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction('document.querySelector(".status, .idle") !== null');
  const sent = sources.get(page)?.snapshot().seq;
  if (sent !== undefined) await page.waitForFunction(`globalThis.received === ${sent}`);
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => resolve())), 60);
      }),
  );
}

/** The visible lines of one language. */
export function linesOf(page: Page, language: string): Promise<string[]> {
  return page.$$eval(`.body[lang="${language}"] .line`, (lines) =>
    lines.map((line) => line.textContent ?? ''),
  );
}
