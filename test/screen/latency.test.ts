import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { buildPage, NO_BROWSER, openBrowser, showPage } from './browser.ts';

const SAMPLES = 200;
const MOST_P99_MS = 100;
const LONG_STALL_MS = 40;
/** A slow page is slow each time; another program that takes the processor from the browser comes once. */
const IN_ONE_OF_THREE = { retry: 2 };

/** Notes when each caption has been painted: the frame after its text is in the page has ended. */
const WATCH = `
  globalThis.painted = {};
  new MutationObserver(() => {
    for (const line of document.querySelectorAll('.body[lang="es"] .line')) {
      const text = line.textContent;
      if (text in globalThis.painted) continue;
      globalThis.painted[text] = null;
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
          globalThis.painted[text] = performance.timeOrigin + performance.now();
        };
        channel.port2.postMessage(0);
      });
    }
  }).observe(document, { childList: true, subtree: true, characterData: true });`;

describe(`the way of a caption${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  let browser: Browser;
  let files: PageFiles;
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('takes 100 ms at most from message to paint, in 99 of 100 cases', IN_ONE_OF_THREE, async ({ skip }) => {
    const stalls = watchStalls();
    const shown = await showPage(browser, files, {}, undefined, (page) => page.evaluateOnNewDocument(WATCH));
    const sentAt = new Map<string, number>();
    for (let number = 1; number <= SAMPLES; number++) {
      const text = `palabra${number}`;
      // A conversation for each, so that no word waits for the reader of the one before. It begins before its words come.
      shown.fake.change({ conversation: number + 1 });
      await new Promise((resolve) => setTimeout(resolve, 50));
      sentAt.set(text, performance.timeOrigin + performance.now());
      shown.fake.change({ texts: [{ language: 'es', text, breaks: false, isSpoken: false, number }] });
      shown.fake.change({ level: number % 10 });
      await new Promise((resolve) => setTimeout(resolve, 40 + ((number * 7) % 30)));
    }
    const painted = (await shown.page.evaluate('globalThis.painted')) as Record<string, number | null>;
    const delays = [...sentAt]
      .flatMap(([text, at]) => (painted[text] == null ? [] : [painted[text] - at]))
      .sort((a, b) => a - b);
    await shown.close();
    expect(delays.length).toBeGreaterThan(SAMPLES * 0.95);
    const at = (share: number): number =>
      Math.round((delays[Math.floor(delays.length * share)] ?? 0) * 10) / 10;
    process.stderr.write(`message to paint: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`);
    judgeSound(skip, stalls, LONG_STALL_MS, () => expect(at(0.99)).toBeLessThanOrEqual(MOST_P99_MS));
  });
});
