import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { needs } from '../needs.ts';
import { findings } from './axe.ts';
import { buildPage, NO_BROWSER, openBrowser, type Shown, screenshot, settle, showPage } from './browser.ts';
import { faultsOf, SCREEN_STATES, type ScreenState, SIZES, stateFor, TARGETS } from './screen-states.ts';

let browser: Browser;
let files: PageFiles;
let shown: Shown;
let conversation = 1;

describe(`each state of the page${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
    shown = await showPage(browser, files);
    await shown.page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
  });
  afterAll(async () => {
    await shown?.close();
    await browser?.close();
  });

  const enter = async (state: ScreenState, target: (typeof TARGETS)[number]): Promise<void> => {
    conversation += 1;
    shown.fake.change(stateFor(state, target, conversation));
    await settle(shown.page);
    if (state.opens === undefined) return;
    await shown.page.click(state.opens);
    await shown.page.waitForSelector('dialog[open]');
  };

  it.each(SCREEN_STATES.map((state) => [state.name, state] as const))(
    'shows whole texts, large buttons, and nothing that axe finds, when the state is %s',
    async (name, state) => {
      const faults: string[] = [];
      for (const target of TARGETS) {
        for (const [width, height] of SIZES) {
          const place = `${name}-${target}-${width}x${height}`;
          await shown.page.setViewport({ width, height });
          await enter(state, target);
          await screenshot(shown.page, `state-${place}`.replaceAll(/[ ,]+/g, '-'));
          const found = [...(await faultsOf(shown.page)), ...(await findings(shown.page))];
          faults.push(...found.map((fault) => `${place}: ${fault}`));
        }
      }
      expect(faults).toEqual([]);
      expect(shown.complaints).toEqual([]);
    },
  );
});
