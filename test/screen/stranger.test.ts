/** What a stranger needs beside the conversation itself: what this is, what to do when it fails. */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { noticeIn } from '../../src/device/desk/notice.ts';
import { WORDED_LANGUAGES, wordingOf } from '../../src/device/screen/wording.ts';
import type { ScreenLane, ScreenSnapshot, ScreenStatus } from '../../src/protocol/screen.ts';
import { leastScreenMm, SCREEN_LAYOUTS } from '../../src/protocol/screen-size.ts';
import { SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const [LANE] = SNAPSHOT.lanes as [ScreenLane];
const OFFER = ['es', 'fr', 'ar', 'zh', 'de', 'uk', 'ja', 'vi', 'it', 'hi', 'th', 'pl'];
const noticesIn = (languages: readonly string[]) =>
  languages.map((language) => ({ language, text: noticeIn(language, {}).text }));
const OPERATOR = 'Museo de la Ciudad · متحف المدينة';
const IDLE: Partial<ScreenSnapshot> = {
  status: { kind: 'standby' },
  viewingDistanceMm: 500,
  isTalking: false,
  operator: OPERATOR,
  lanes: [{ ...LANE, offer: OFFER }],
  notices: noticesIn(['en', ...OFFER]),
};
/** Width and height (px), height (mm). */
const SIZES = [
  [800, 480, 107],
  [1024, 600, 125],
  [1280, 800, 150],
  [1920, 1080, 200],
  [600, 1024, 180],
] as const;

/** Of the elements: those whose letters are cut, or out of view. Letters reach beyond their lines, where nothing cuts them. */
const CUT = (selector: string) => `[...document.querySelectorAll('${selector}')].filter((one) => {
  const box = one.getBoundingClientRect();
  const inside = (one.closest('.body') ?? document.body).getBoundingClientRect();
  const { overflow, fontSize } = getComputedStyle(one);
  const tails = overflow === 'visible' ? Number.parseFloat(fontSize) / 3 : 0;
  return one.scrollHeight > one.clientHeight + 1 + tails || one.scrollWidth > one.clientWidth + 1
    || box.top < inside.top - 1 || box.bottom > inside.bottom + 1 || box.left < inside.left - 1 || box.right > inside.right + 1;
}).map((one) => one.textContent)`;

/** Lines of what to do that are cut: those that have no room beside the others are in a part of their own, which follows. */
const CUT_HELP = `[...document.querySelectorAll('.cover p')].filter((one) => {
  const box = one.closest('.parts').getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(one);
  const tails = Number.parseFloat(getComputedStyle(one).fontSize) / 3;
  return [...text.getClientRects()].some(({ top, bottom, width }) =>
    top < box.top - tails || bottom > box.bottom + tails || width > box.width + 1);
}).map((one) => one.textContent)`;

/** Texts alternate every 50 ms in place of 4 s, and dialogs without a touch close after 0.5 s in place of a minute. */
const FASTER = `const every = window.setInterval;
  window.setInterval = (callback, ms) => every(callback, ms === 4000 ? 50 : ms);
  const later = window.setTimeout;
  window.setTimeout = (callback, ms) => later(callback, ms === 60000 ? 500 : ms);`;
const faster = (page: Page) => page.evaluateOnNewDocument(FASTER);
const textOf = (page: Page, selector: string) =>
  page.$$eval(selector, (all) => all.map((one) => one.textContent).join('|'));
const sized = ([width, height]: readonly [number, number, number]) => ({ width, height });

describe(`what a stranger needs${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it.each(SIZES)('cuts no letter of the notice in any language on %i x %i', async (...size) => {
    const offer = [...WORDED_LANGUAGES].slice(0, 12);
    for (const [offered, name] of [
      [offer, 'first'],
      [WORDED_LANGUAGES.slice(7), 'last'],
    ] as const) {
      const given = { ...IDLE, lanes: [{ ...LANE, offer: offered }], notices: noticesIn(offered) };
      const snapshot = { ...given, heightMm: size[2] };
      const { page, close } = await showPage(browser, files, snapshot, sized(size), faster);
      await screenshot(page, `invitation-${name}-${size[0]}x${size[1]}`);
      const seen = new Set<string>();
      await expect
        .poll(async () => {
          expect(await page.evaluate(CUT('.foot .notice, .question .now, .another, .offers button'))).toEqual(
            [],
          );
          seen.add(await page.$eval('.foot .notice', (one) => one.getAttribute('lang') ?? ''));
          return seen.size;
        })
        .toBe(offered.length);
      await close();
    }
  });

  const TROUBLES: Readonly<Record<string, ScreenStatus>> = {
    connection: { kind: 'offline', cause: 'connection' },
    microphone: { kind: 'offline', cause: 'microphone' },
    loudspeaker: { kind: 'offline', cause: 'loudspeaker' },
    closed: { kind: 'closed', until: '2030-01-01T08:00:00.000Z' },
    stopped: { kind: 'closed', until: null },
  };
  it.each(SIZES)(
    'says whole what a visitor and the clerk can do on %i x %i',
    async (...size) => {
      const { page, fake, close } = await showPage(browser, files, { heightMm: size[2] }, sized(size));
      const layouts = SCREEN_LAYOUTS.filter((layout) => size[2] >= leastScreenMm(700, layout));
      for (const layout of layouts)
        for (const target of ['es', 'de', 'ar', 'hi', 'zh']) {
          for (const [name, status] of Object.entries(TROUBLES)) {
            fake.change({
              lanes: [{ ...LANE, targets: [target], visitor: target }],
              status,
              layout,
            } as object);
            await settle(page);
            await screenshot(page, `trouble-${name}-${target}-${layout}-${size[0]}x${size[1]}`);
            expect([name, target, layout, await page.evaluate(CUT_HELP)]).toEqual([name, target, layout, []]);
          }
        }
      await close();
    },
    300_000,
  );

  it.each(['beside', 'facing', 'one'] as const)('tells each reader in %s what to do', async (layout) => {
    const { page, fake, close } = await showPage(browser, files, { layout });
    const helpIn = (language: string) => textOf(page, `.cover [lang="${language}"] .help`);
    for (const [cause, visitors, clerks] of [
      ['connection', 'wait', 'waitClerk'],
      ['microphone', 'microphone', 'microphoneClerk'],
      ['loudspeaker', 'loudspeaker', 'loudspeakerClerk'],
    ] as const) {
      fake.change({ status: { kind: 'offline', cause } });
      await settle(page);
      expect([await helpIn('es'), await helpIn('en')]).toEqual([
        wordingOf('es')[visitors],
        wordingOf('en')[clerks],
      ]);
    }
    fake.change({ status: { kind: 'closed', until: null } });
    await settle(page);
    expect([await helpIn('es'), await helpIn('en')]).toEqual([wordingOf('es').ask, '']);
    expect(await page.$('.opening')).toBeNull();
    await close();
  });

  it('opens what it is in the language that is shown, and begins no conversation by it', async () => {
    const { page, fake, close } = await showPage(browser, files, IDLE, { width: 800, height: 480 });
    const language = await page.$eval('.foot .notice', (one) => one.getAttribute('lang') ?? '');
    const words = wordingOf(language);
    await page.click('.about');
    await page.waitForSelector('dialog[open]');
    await screenshot(page, 'about-idle');
    const told = await textOf(page, 'dialog .told');
    for (const part of [words.about, noticeIn(language, {}).text, words.aboutKept, words.aboutBy, OPERATOR])
      expect(told).toContain(part);
    fake.change({ operator: '', notices: [] });
    await settle(page);
    expect(await textOf(page, 'dialog .told')).toBe(`${words.about}${words.aboutAi}${words.aboutKept}`);
    expect(fake.actions).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.$('dialog')).toBeNull();
    await settle(page);
    expect(await page.evaluate('document.activeElement.className')).toBe('about');
    await close();
  });

  it('opens what it is for each reader in a conversation, in the reader’s language', async () => {
    const { page, fake, close } = await showPage(browser, files, { layout: 'facing', operator: OPERATOR });
    await page.click('.panel[lang="es"] .about');
    await page.waitForSelector('dialog.turned[lang="es"]');
    await screenshot(page, 'about-facing');
    expect(await textOf(page, 'dialog h2')).toBe(wordingOf('es').about);
    await expect.poll(() => fake.actions).toEqual([{ do: 'touch', lane: 'main' }]);
    fake.change({ conversation: 2 });
    await expect.poll(() => page.$('dialog')).toBeNull();
    await close();
  });

  it('closes an abandoned dialog of the invitation', async () => {
    const { page, close } = await showPage(browser, files, IDLE, undefined, faster);
    await page.click('.another');
    await page.waitForSelector('dialog[open]');
    await expect.poll(() => page.$('dialog')).toBeNull();
    await close();
  });

  it('tells visitors whose language is not listed to ask, first in languages that are not listed', async () => {
    const { page, fake, close } = await showPage(browser, files, IDLE);
    expect(await page.$$eval('.offers > button', (all) => all.at(-1)?.className)).toBe('another');
    await page.click('.another');
    await page.waitForSelector('dialog[open]');
    await screenshot(page, 'another');
    const [first = ''] = WORDED_LANGUAGES.filter((language) => !OFFER.includes(language));
    expect(await textOf(page, 'dialog .told')).toBe(
      `${wordingOf(first).another}${wordingOf(first).anotherHelp}`,
    );
    expect(await page.$eval('dialog', (one) => one.lang)).toBe(first);
    expect(fake.actions).toEqual([]);
    await close();
  });

  it('says in the chosen language that a choice was refused, and says so no more after the next', async () => {
    const { page, fake, close } = await showPage(browser, files, IDLE, { width: 800, height: 480 });
    const top = () => page.$eval('.offers', (one) => one.getBoundingClientRect().bottom);
    const before = await top();
    fake.refuseWith({ code: 'rejected', message: 'no' });
    await page.click('.offers button[lang="ar"]');
    await expect.poll(() => textOf(page, '.refused[role=alert]')).toBe(wordingOf('ar').refused);
    await screenshot(page, 'refused-idle');
    expect(await top()).toBe(before);
    expect(await page.$('.offers [aria-pressed=true]')).toBeNull();
    fake.refuseWith(null);
    await page.click('.offers button[lang="fr"]');
    await expect.poll(() => page.$('.refused')).toBeNull();
    await close();
  });

  it('keeps the list of the conversation open when a choice is refused, and closes it when it is done', async () => {
    const talking = { ...IDLE, isTalking: true, status: { kind: 'listening' } as const };
    const { page, fake, close } = await showPage(browser, files, talking);
    fake.refuseWith({ code: 'rejected', message: 'no' });
    await page.click('.panel[lang="es"] .language');
    await page.click('dialog button[lang="fr"]');
    await expect.poll(() => textOf(page, 'dialog .refused')).toBe(wordingOf('fr').refused);
    await screenshot(page, 'refused-dialog');
    fake.refuseWith(null);
    await page.click('dialog button[lang="fr"]');
    await expect.poll(() => page.$('dialog')).toBeNull();
    await close();
  });

  it('gives the focus to the first button of the conversation after a choice by keyboard', async () => {
    const { page, fake, close } = await showPage(browser, files, IDLE);
    await page.focus('.offers button[lang="fr"]');
    await page.keyboard.press('Enter');
    await expect.poll(() => fake.actions.length).toBe(1);
    fake.change({
      isTalking: true,
      status: { kind: 'listening' },
      lanes: [{ ...LANE, offer: OFFER, targets: ['fr'], visitor: 'fr' }],
    });
    await settle(page);
    const isFirst = 'document.activeElement === document.querySelector(".bar button")';
    await expect.poll(() => page.evaluate(isFirst)).toBe(true);
    await close();
  });

  it('says in every language of the page that there is no connection when the agent never answered', async () => {
    const { url, close } = await showPage(browser, files);
    for (const size of SIZES) {
      const page = await browser.newPage();
      await page.setViewport(sized(size));
      await page.evaluateOnNewDocument('EventSource = class { addEventListener() {} close() {} };');
      await page.goto(url);
      await page.waitForSelector('.lost');
      await screenshot(page, `lost-${size[0]}x${size[1]}`);
      expect(await page.$$eval('.lost li', (all) => all.map((one) => one.textContent))).toEqual(
        WORDED_LANGUAGES.map((language) => wordingOf(language).offline),
      );
      expect(await textOf(page, '.lost .wait')).toBe(wordingOf('en').wait);
      expect(await page.evaluate(CUT('.lost li, .lost .wait'))).toEqual([]);
      await page.close();
    }
    await close();
  });
});
