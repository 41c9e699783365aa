import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { wordingOf } from '../../src/device/screen/wording.ts';
import type { ScreenLane, ScreenPhrase, ScreenSnapshot } from '../../src/protocol/screen.ts';
import { SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { needs } from '../needs.ts';
import { findings } from './axe.ts';
import { buildPage, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const OUT_OF_ORDER = {
  en: 'The interpreter is out of order. A member of staff will come.',
  es: 'El intérprete no funciona. Vendrá un empleado.',
  ar: 'المترجم معطل. سيأتي أحد الموظفين.',
};
const WAIT = { en: 'Please wait here.', es: 'Espere aquí, por favor.', ar: 'يرجى الانتظار هنا.' };
const LONG = {
  en: 'The lift is at the end of the corridor on the left, behind the cloakroom; the toilets and the baby changing room are one floor down, beside the small café there.',
  es: 'El ascensor está al final del pasillo a la izquierda, detrás del guardarropa; los aseos y el cambiador están una planta más abajo, junto a la cafetería pequeña.',
  ar: 'المصعد في نهاية الممر على اليسار خلف غرفة المعاطف، ودورات المياه وغرفة تبديل الحفاضات في الطابق السفلي بجانب المقهى الصغير هناك.',
};
const LIST = [OUT_OF_ORDER, WAIT, LONG, ...Array.from({ length: 17 }, () => WAIT)];
const inLanguages = (languages: readonly ('en' | 'es' | 'ar')[]): ScreenPhrase[] =>
  LIST.map((phrase, number) => ({
    number,
    texts: languages.map((language) => ({ language, text: phrase[language] })),
  }));

const [LANE] = SNAPSHOT.lanes as [ScreenLane];
const AWAY: Partial<ScreenSnapshot> = {
  help: { state: 'none', by: null, mayCall: false },
  status: { kind: 'offline', cause: 'connection' },
  phrases: inLanguages(['en', 'es']),
};
const SIZES = [
  { width: 800, height: 480, heightMm: 107, viewingDistanceMm: 500 },
  { width: 600, height: 1024, heightMm: 180, viewingDistanceMm: 500 },
  { width: 1280, height: 800, heightMm: 150, viewingDistanceMm: 700 },
];

const chooser = (page: Page, panel: string): Promise<void> =>
  page.$$eval(
    `${panel} .aid button`,
    (all, label) => all.find((one) => one.textContent === label)?.click(),
    wordingOf(panel === '.source' ? 'en' : panel === '.target' ? 'es' : '').phrases,
  );
const choicesOf = (page: Page): Promise<string[]> =>
  page.$$eval('.phrases button', (all) => all.map((one) => one.textContent ?? ''));
const pick = (page: Page, at: number): Promise<void> =>
  page.$$eval('.phrases button', (all, index) => (all[index] as HTMLElement | undefined)?.click(), at);
/** What is shown large, in each panel. */
const shownOn = (page: Page): Promise<string[]> =>
  page.$$eval('p.phrase', (all) => all.map((one) => `${one.lang} ${one.dir}: ${one.textContent}`));

describe(`phrases of the house on the page${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('are offered to both people, each in their language, and a touch shows them to the other one', async () => {
    const { page, fake, close } = await showPage(browser, files, AWAY);
    await chooser(page, '.source');
    expect((await choicesOf(page)).slice(0, 3)).toEqual([OUT_OF_ORDER.en, WAIT.en, LONG.en]);
    await pick(page, 0);
    await expect
      .poll(() => fake.actions)
      .toEqual([{ do: 'phrase', lane: 'main', number: 0, language: 'es' }]);
    expect(await page.$('dialog')).toBeNull();
    expect(await shownOn(page)).toEqual([`en ltr: ${OUT_OF_ORDER.en}`, `es ltr: ${OUT_OF_ORDER.es}`]);
    await chooser(page, '.target');
    expect((await choicesOf(page)).slice(0, 2)).toEqual([OUT_OF_ORDER.es, WAIT.es]);
    await pick(page, 1);
    await expect
      .poll(() => fake.actions.at(-1))
      .toEqual({ do: 'phrase', lane: 'main', number: 1, language: 'en' });
    expect(await shownOn(page)).toEqual([`en ltr: ${WAIT.en}`, `es ltr: ${WAIT.es}`]);
    // Nothing else is asked of the agent: it begins no conversation.
    expect(fake.actions).toHaveLength(2);
    await close();
  });

  it('begin with their first words, whichever part of the text before was shown', async () => {
    const given = { ...AWAY, layout: 'facing', heightMm: 107, viewingDistanceMm: 500 } as const;
    const { page, close } = await showPage(browser, files, given, { width: 800, height: 480 });
    const scroll = () =>
      page.$$eval('.parts', (all) =>
        all.map((one) => {
          one.scrollLeft += one.clientWidth;
          return one.scrollLeft;
        }),
      );
    expect(Math.max(...(await scroll()))).toBeGreaterThan(0);
    await chooser(page, '.source');
    await pick(page, 2);
    expect(await page.$$eval('.parts', (all) => all.map((one) => one.scrollLeft))).toEqual([0, 0]);
    await scroll();
    await chooser(page, '.source');
    await pick(page, 1);
    expect(await page.$$eval('.parts', (all) => all.map((one) => one.scrollLeft))).toEqual([0, 0]);
    await close();
  });

  it('are shown although the sound is refused, and without the agent', async () => {
    const { page, fake, breakConnection, close } = await showPage(browser, files, AWAY);
    fake.refuseWith({ code: 'unsupported', message: 'only shown' });
    await chooser(page, '.source');
    await pick(page, 0);
    expect(await shownOn(page)).toHaveLength(2);
    await breakConnection();
    await page.waitForFunction(
      () => document.querySelector('.status')?.getAttribute('data-kind') === 'offline',
    );
    await chooser(page, '.target');
    await pick(page, 1);
    expect(await shownOn(page)).toEqual([`en ltr: ${WAIT.en}`, `es ltr: ${WAIT.es}`]);
    await close();
  });

  it('go when a reader goes back, when the kiosk interprets again, and with the conversation', async () => {
    const { page, fake, close } = await showPage(browser, files, AWAY);
    const showFirst = async () => {
      await chooser(page, '.source');
      await pick(page, 0);
      expect(await shownOn(page)).toHaveLength(2);
    };
    await showFirst();
    await page.$$eval(
      '.target .aid button',
      (all, back) => {
        all.find((one) => one.textContent === back)?.click();
      },
      wordingOf('es').back,
    );
    expect([await shownOn(page), await page.$$eval('.trouble', (all) => all.length)]).toEqual([[], 2]);
    await showFirst();
    fake.change({ status: { kind: 'listening' } });
    await settle(page);
    expect(await shownOn(page)).toEqual([]);
    expect(await page.$('.aid')).toBeNull();
    fake.change({ status: { kind: 'closed', until: null } });
    await settle(page);
    expect(await shownOn(page)).toEqual([]);
    await showFirst();
    fake.change({ conversation: 2 });
    await settle(page);
    expect(await shownOn(page)).toEqual([]);
    await close();
  });

  it('are not offered while the kiosk interprets, without phrases, or to a language that they lack', async () => {
    const { page, fake, close } = await showPage(browser, files, { ...AWAY, status: { kind: 'listening' } });
    const buttons = () => page.$$eval('.aid button:not(.staff)', (all) => all.length);
    expect(await buttons()).toBe(0);
    fake.change({ status: { kind: 'offline', cause: 'microphone' } });
    await settle(page);
    expect(await buttons()).toBe(2);
    fake.change({ phrases: [{ number: 0, texts: [{ language: 'en', text: OUT_OF_ORDER.en }] }] });
    await settle(page);
    expect(await buttons()).toBe(0);
    fake.change({ phrases: [] });
    await settle(page);
    expect(await buttons()).toBe(0);
    await close();
  });

  it.each(
    SIZES.flatMap((size) =>
      (['beside', 'facing', 'one'] as const).map(
        (layout) => [layout, size.width, size.height, size] as const,
      ),
    ),
  )(
    'are large and whole, and their buttons within the panel: %s, %i x %i',
    async (layout, width, height, size) => {
      const { heightMm, viewingDistanceMm } = size;
      const lanes = [{ ...LANE, targets: ['ar'], visitor: 'ar' }];
      const given = {
        ...AWAY,
        layout,
        heightMm,
        viewingDistanceMm,
        lanes,
        phrases: inLanguages(['en', 'ar']),
      };
      const { page, fake, complaints, close } = await showPage(browser, files, given, { width, height });
      await screenshot(page, `phrases-${layout}-${width}x${height}`);
      const own = layout === 'one' ? 'ar' : 'en';
      await page.$$eval(
        '.aid button',
        (all, label) => all.find((one) => one.textContent === label)?.click(),
        wordingOf(own).phrases,
      );
      await screenshot(page, `phrases-list-${layout}-${width}x${height}`);
      const rows = await page.$$eval('.phrases button', (all) =>
        all.map((one) => ({
          height: one.getBoundingClientRect().height,
          dir: getComputedStyle(one).direction,
        })),
      );
      expect(rows).toHaveLength(20);
      expect(new Set(rows.map(({ dir }) => dir))).toEqual(new Set([own === 'ar' ? 'rtl' : 'ltr']));
      const least = (15 * height) / heightMm;
      expect(Math.min(...rows.map((row) => row.height))).toBeGreaterThanOrEqual(least - 1);
      expect(await findings(page)).toEqual([]);
      await pick(page, 2);
      await expect
        .poll(() => fake.actions.at(-1))
        .toEqual({ do: 'phrase', lane: 'main', number: 2, language: 'ar' });
      await screenshot(page, `phrases-shown-${layout}-${width}x${height}`);
      expect((await shownOn(page)).toSorted()).toEqual([`ar rtl: ${LONG.ar}`, `en ltr: ${LONG.en}`]);
      // Buttons and text are within their panel, and do not touch each other.
      const isWhole = await page.$$eval('.panel', (all) =>
        all.every((panel) => {
          const outer = panel.getBoundingClientRect();
          const box = panel.querySelector('.parts')?.getBoundingClientRect();
          const buttons = [...panel.querySelectorAll('.aid button')].map((one) =>
            one.getBoundingClientRect(),
          );
          const isWithin = (one: DOMRect): boolean =>
            one.left >= outer.left &&
            one.right <= outer.right &&
            one.top >= outer.top &&
            one.bottom <= outer.bottom;
          const isApart = (one: DOMRect): boolean =>
            box !== undefined && (one.top >= box.bottom - 1 || one.bottom <= box.top + 1);
          return (
            box !== undefined &&
            box.height > 40 &&
            buttons.length >= 2 &&
            buttons.every((one) => isWithin(one) && isApart(one))
          );
        }),
      );
      expect(isWhole).toBe(true);
      expect(await findings(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    },
  );
});
