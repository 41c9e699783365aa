import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { wordingOf } from '../../src/device/screen/wording.ts';
import type { ScreenHelp, ScreenLane, ScreenSnapshot } from '../../src/protocol/screen.ts';
import { SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { needs } from '../needs.ts';
import { buildPage, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const NONE: ScreenHelp = { state: 'none', by: null, mayCall: true };
const [LANE] = SNAPSHOT.lanes as [ScreenLane];
const TALK: Partial<ScreenSnapshot> = {
  help: NONE,
  lanes: [{ ...LANE, offer: ['es', 'fr'] }],
  texts: [
    { language: 'en', text: 'Is there a lift?', breaks: false, isSpoken: true, number: 1 },
    { language: 'es', text: '¿Hay ascensor?', breaks: false, isSpoken: false, number: 2 },
  ],
};
const SIZES = [
  { width: 800, height: 480, heightMm: 107, viewingDistanceMm: 500 },
  { width: 600, height: 1024, heightMm: 180, viewingDistanceMm: 500 },
  { width: 1280, height: 800, heightMm: 150, viewingDistanceMm: 700 },
];

const linesOf = (page: Page): Promise<string[]> =>
  page.$$eval('.call bdi', (all) => all.map((one) => `${one.lang}: ${one.textContent}`));
/** Whether the line is whole, between the captions and the buttons. */
const isWhole = (page: Page): Promise<boolean> =>
  page.$$eval('.panel, .idle', (all) =>
    all.every((panel) => {
      const place = (name: string) => panel.querySelector(name)?.getBoundingClientRect();
      const [line, body, bar] = [place('.call'), place('.body, .offers'), place('.bar, .foot .staff')];
      const outer = panel.getBoundingClientRect();
      if (line === undefined || body === undefined || bar === undefined || line.height === 0) return false;
      const isTurned = panel.matches('.turned');
      const above = (upper: DOMRect, lower: DOMRect): boolean =>
        isTurned ? lower.bottom <= upper.top + 1 : upper.bottom <= lower.top + 1;
      // On the page of languages the button is beside the line.
      const isApart = bar.left >= line.right || above(line, bar);
      return above(body, line) && isApart && line.left >= outer.left && line.right <= outer.right;
    }),
  );

describe(`a call for staff on the page${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('begins with a button in each panel, which is off while the call is open', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    const isOff = () =>
      page.$$eval('.bar .staff', (all) => all.map((one) => one.getAttribute('aria-disabled') === 'true'));
    expect(await page.$$eval('.bar .staff', (all) => all.map((one) => one.ariaLabel))).toEqual([
      wordingOf('en').callStaff,
      wordingOf('es').callStaff,
    ]);
    expect([await isOff(), await linesOf(page)]).toEqual([[false, false], []]);
    await page.click('.target .bar .staff');
    await expect.poll(() => fake.actions).toEqual([{ do: 'help', lane: 'main' }]);
    fake.change({ help: { state: 'calling', by: null, mayCall: false } });
    await settle(page);
    expect([await isOff(), await linesOf(page)]).toEqual([[true, true], []]);
    await close();
  });

  const STATES: readonly [ScreenHelp, string, string][] = [
    [{ state: 'called', by: null, mayCall: false }, wordingOf('en').called, wordingOf('es').called],
    [{ state: 'answered', by: '$& Ann', mayCall: false }, '$& Ann is coming.', '$& Ann viene enseguida.'],
    [
      { state: 'answered', by: null, mayCall: true },
      wordingOf('en').staffComing,
      wordingOf('es').staffComing,
    ],
    [
      { state: 'unanswered', by: null, mayCall: true },
      wordingOf('en').unanswered,
      wordingOf('es').unanswered,
    ],
    [{ state: 'unreached', by: null, mayCall: true }, wordingOf('en').unreached, wordingOf('es').unreached],
  ];
  it('is told to both people in their languages', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    for (const [help, english, spanish] of STATES) {
      fake.change({ help });
      await settle(page);
      expect(await linesOf(page)).toEqual([`en: ${english}`, `es: ${spanish}`]);
    }
    fake.change({ help: NONE });
    await settle(page);
    expect(await linesOf(page)).toEqual([]);
    await close();
  });

  it.each(
    SIZES.flatMap((size) =>
      (['beside', 'facing', 'one'] as const).map(
        (layout) => [layout, size.width, size.height, size] as const,
      ),
    ),
  )('has a whole line between captions and buttons: %s, %i x %i', async (layout, width, height, size) => {
    const help: ScreenHelp = { state: 'unanswered', by: null, mayCall: true };
    const lanes = [{ ...LANE, targets: ['ar'], visitor: 'ar', offer: ['ar', 'fr'] }];
    const texts = [
      { language: 'en', text: 'Is there a lift?', breaks: false, isSpoken: true, number: 1 },
      { language: 'ar', text: 'هل يوجد مصعد؟', breaks: false, isSpoken: false, number: 2 },
    ];
    const sizes = { heightMm: size.heightMm, viewingDistanceMm: size.viewingDistanceMm };
    const given = { ...TALK, ...sizes, layout, help, lanes, texts };
    const { page, complaints, close } = await showPage(browser, files, given, { width, height });
    await screenshot(page, `help-${layout}-${width}x${height}`);
    expect(await isWhole(page)).toBe(true);
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(SIZES)('is possible on the page of languages: $width x $height', async (size) => {
    const { width, height, ...sizes } = size;
    const offer = ['es', 'fr', 'ar', 'zh', 'de', 'uk', 'ja', 'pt', 'it', 'hi', 'th', 'pl'];
    const given: Partial<ScreenSnapshot> = {
      ...sizes,
      help: { ...NONE, state: 'called' },
      status: { kind: 'standby' },
      isTalking: false,
      lanes: [{ ...LANE, offer }],
      notices: offer.map((language) => ({
        language,
        text: `The notice in ${language}, two lines of it here.`,
      })),
    };
    const { page, fake, close } = await showPage(browser, files, given, { width, height });
    await screenshot(page, `help-idle-${width}x${height}`);
    expect(await isWhole(page)).toBe(true);
    await page.click('.foot .staff');
    await expect.poll(() => fake.actions).toEqual([{ do: 'help', lane: 'main' }]);
    await close();
  });

  it.each([
    ['works', true],
    ['is not offered without the broker', false],
  ])('%s when the kiosk is out of order', async (_, mayCall) => {
    const given: Partial<ScreenSnapshot> = {
      ...TALK,
      help: { ...NONE, mayCall },
      status: { kind: 'offline', cause: mayCall ? 'microphone' : 'connection' },
    };
    const { page, close } = await showPage(browser, files, given, { width: 800, height: 480 });
    await screenshot(page, `help-cover-${mayCall}`);
    const buttons = await page.$$eval('.cover .staff', (all) =>
      all.map((one) => [one.textContent, one.getAttribute('aria-disabled') === 'true']),
    );
    // English is the language of the staff here.
    expect(buttons).toEqual(mayCall ? [[wordingOf('es').callStaff, false]] : []);
    await close();
  });

  it('has no button where visitors cannot call', async () => {
    const { page, close } = await showPage(browser, files, { ...TALK, help: null });
    expect(await page.$('.staff')).toBeNull();
    await close();
  });
});
