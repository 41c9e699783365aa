/** How the page looks for those who need it otherwise: large letters, high contrast, the machine's own colours, braille. */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { wordingOf } from '../../src/device/screen/wording.ts';
import type { ScreenLane, ScreenSnapshot, ScreenText } from '../../src/protocol/screen.ts';
import { SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { needs } from '../needs.ts';
import { findings } from './axe.ts';
import { buildPage, linesOf, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';
import { faultsOf, SCREEN_STATES, SIZES, stateFor } from './screen-states.ts';

let browser: Browser;
let files: PageFiles;

const [LANE] = SNAPSHOT.lanes as [ScreenLane];
const SAID = 'Mi hija usa silla de ruedas y quiere ver los cuadros.';
const TEXTS: readonly ScreenText[] = [
  { language: 'en', text: 'My daughter uses a wheelchair.', breaks: true, isSpoken: true, number: 1 },
  { language: 'es', text: SAID, breaks: true, isSpoken: false, number: 2 },
];
const INVITATION: Partial<ScreenSnapshot> = {
  isTalking: false,
  lanes: [{ ...LANE, offer: ['es', 'fr'] }],
  status: { kind: 'standby' },
};

type Choice = 'large' | 'contrast';
const PANEL = (language: string): string => `.panel:has(.body[lang="${language}"])`;

/** As a reader does it: the button "Aa", a switch, and back. */
async function choose(page: Page, part: string, ...choices: readonly Choice[]): Promise<void> {
  await page.click(`${part} .look`);
  await page.waitForSelector('dialog[open]');
  for (const choice of choices)
    await page.click(`dialog .choices button:${choice === 'large' ? 'first' : 'last'}-child`);
  await page.click('dialog .bar button');
  await page.waitForFunction('document.querySelector("dialog") === null');
  await settle(page);
}

/** The letters of captions (px), and the ground. */
const lookIn = (page: Page, part: string) =>
  page.$eval(part, (one) => {
    const { backgroundColor } = getComputedStyle(one);
    const letters = one.querySelector('.body, .question') ?? one;
    return { letter: Number.parseFloat(getComputedStyle(letters).fontSize), ground: backgroundColor };
  });
const BLACK = 'rgb(0, 0, 0)';

/** Where each line of a language stands. */
const placesOf = (page: Page, language: string) =>
  page.$$eval(`.body[lang="${language}"] .line`, (lines) =>
    lines.map((line) => {
      const { left, top } = line.getBoundingClientRect();
      return [line.textContent, left, top];
    }),
  );

/** What puppeteer does not know by name. */
async function emulate(page: Page, name: string, value: string): Promise<void> {
  const session = await page.createCDPSession();
  await session.send('Emulation.setEmulatedMedia', { features: [{ name, value }] });
  await settle(page);
}

describe(`the look that a reader chooses${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it.each(['beside', 'facing'] as const)(
    'changes the own half of %s and moves nothing in the other',
    async (layout) => {
      const { page, close } = await showPage(browser, files, { layout, heightMm: 300, texts: TEXTS });
      const [own, other] = [PANEL('es'), PANEL('en')];
      const before = { own: await lookIn(page, own), other: await lookIn(page, other) };
      const places = await placesOf(page, 'en');
      await choose(page, own, 'large', 'contrast');
      await screenshot(page, `look-${layout}`);
      const after = await lookIn(page, own);
      expect(after.letter).toBeGreaterThanOrEqual(1.2 * before.own.letter);
      expect([before.own.ground, after.ground]).toEqual([before.other.ground, BLACK]);
      expect(before.own.ground).not.toBe(BLACK);
      expect(await lookIn(page, other)).toEqual(before.other);
      expect(await placesOf(page, 'en')).toEqual(places);
      expect((await linesOf(page, 'es')).join(' ')).toBe(SAID);
      await choose(page, own, 'large');
      expect(await lookIn(page, own)).toEqual({ letter: before.own.letter, ground: BLACK });
      await close();
    },
  );

  it('ends with the conversation, and not when the language changes', async () => {
    const { page, fake, close } = await showPage(browser, files, { texts: TEXTS });
    const usual = await lookIn(page, PANEL('es'));
    await choose(page, PANEL('es'), 'large', 'contrast');
    const chosen = await lookIn(page, PANEL('es'));
    fake.change({ lanes: [{ ...LANE, targets: ['fr'], visitor: 'fr' }] });
    await page.waitForSelector('.body[lang="fr"]');
    expect(await lookIn(page, PANEL('fr'))).toEqual(chosen);
    fake.change({ conversation: 2, lanes: [LANE] });
    await page.waitForSelector('.body[lang="es"]');
    await settle(page);
    expect(await lookIn(page, PANEL('es'))).toEqual(usual);
    await close();
  });

  it('is shown in the dialog at once, and a screen reader hears what is on', async () => {
    const { page, fake, close } = await showPage(browser, files, { texts: TEXTS });
    const { largeLetters, highContrast } = wordingOf('es');
    await page.click(`${PANEL('es')} .look`);
    await page.waitForSelector('dialog[open]');
    const choices = () =>
      page.$$eval('dialog .choices button', (all) => all.map((one) => [one.textContent, one.ariaPressed]));
    expect(await choices()).toEqual([
      [largeLetters, 'false'],
      [highContrast, 'false'],
    ]);
    const before = await lookIn(page, 'dialog');
    await page.click('dialog .choices button:first-child');
    await page.click('dialog .choices button:last-child');
    await settle(page);
    expect(await choices()).toEqual([
      [largeLetters, 'true'],
      [highContrast, 'true'],
    ]);
    const after = await lookIn(page, 'dialog');
    expect(after.letter).toBeGreaterThan(before.letter);
    expect(after.ground).toBe(BLACK);
    expect(await findings(page)).toEqual([]);
    // Opening it begins a conversation, at whose end the look is the usual one again.
    expect(fake.actions).toEqual([{ do: 'touch', lane: 'main' }]);
    await close();
  });

  it('offers no large letters where there is no room for larger ones', async () => {
    const given = { layout: 'facing', heightMm: 147, texts: TEXTS } as const;
    const { page, close } = await showPage(browser, files, given, { width: 1024, height: 600 });
    await page.click(`${PANEL('en')} .look`);
    await page.waitForSelector('dialog[open]');
    const names = await page.$$eval('dialog .choices button', (all) => all.map((one) => one.textContent));
    expect(names).toEqual([wordingOf('en').highContrast]);
    await close();
  });

  it('goes with its reader from the invitation to the own half of the conversation', async () => {
    const { page, fake, close } = await showPage(browser, files, INVITATION);
    await choose(page, '.idle', 'large', 'contrast');
    await screenshot(page, 'look-invitation');
    expect(await page.$eval('.idle', (one) => one.className)).toBe('idle large contrast');
    expect(fake.actions).toEqual([]);
    fake.change({ isTalking: true, status: { kind: 'listening' } });
    await page.waitForSelector('.panel');
    await settle(page);
    const [own, other] = [await lookIn(page, PANEL('es')), await lookIn(page, PANEL('en'))];
    expect(own.ground).toBe(BLACK);
    expect(own.letter).toBeGreaterThan(other.letter);
    expect(other.ground).not.toBe(BLACK);
    await close();
  });

  it.each(SIZES)(
    'leaves whole words beside it and the call for staff on the page of languages: %i x %i',
    async (width, height) => {
      const offer = ['es', 'fr', 'ar', 'zh', 'de', 'uk', 'ja', 'pt', 'it', 'hi', 'th', 'pl'];
      const help = { state: 'called', by: null, mayCall: true } as const;
      const given = { ...INVITATION, help, lanes: [{ ...LANE, offer }] };
      const { page, close } = await showPage(browser, files, given, { width, height });
      await screenshot(page, `look-foot-${width}x${height}`);
      const faults = await faultsOf(page);
      expect(faults.filter((fault) => fault.startsWith('cut'))).toEqual([]);
      await close();
    },
  );

  it('is left for a minute after the last touch while no conversation is under way', async () => {
    // The minute is over when the test says so.
    const BY_HAND = `globalThis.minutes = new Map();
      const [later, never] = [window.setTimeout, window.clearTimeout];
      window.setTimeout = (callback, ms) => {
        const id = later(ms === 60000 ? () => {} : callback, ms);
        if (ms === 60000) globalThis.minutes.set(id, callback);
        return id;
      };
      window.clearTimeout = (id) => { globalThis.minutes.delete(id); never(id); };`;
    const shown = await showPage(browser, files, INVITATION, undefined, (page) =>
      page.evaluateOnNewDocument(BY_HAND),
    );
    const { page, fake, close } = shown;
    const timers = (): Promise<number[]> =>
      page.evaluate('[...globalThis.minutes.keys()]') as Promise<number[]>;
    expect(await timers()).toEqual([]);
    await choose(page, '.idle', 'contrast');
    const first = await timers();
    expect(first).toHaveLength(1);
    await page.mouse.click(5, 5);
    const second = await timers();
    expect(second).toHaveLength(1);
    expect(second).not.toEqual(first);
    // A conversation has an end of its own.
    fake.change({ isTalking: true, status: { kind: 'listening' } });
    await expect.poll(timers).toEqual([]);
    fake.change({ isTalking: false, status: { kind: 'standby' } });
    await expect.poll(async () => (await timers()).length).toBe(1);
    expect(await page.$eval('.idle', (one) => one.className)).toBe('idle contrast');
    await page.evaluate('for (const end of globalThis.minutes.values()) end()');
    await expect.poll(() => page.$eval('.idle', (one) => one.className)).toBe('idle');
    expect(await timers()).toEqual([]);
    await close();
  });

  it('lets captions hold still in large letters, and skips nothing that waits to be read', async () => {
    const { page, fake, close } = await showPage(browser, files, { texts: [] });
    await page.evaluate(
      'globalThis.speed = 0; const then = performance.now.bind(performance); performance.now = () => globalThis.speed * then()',
    );
    const words = Array.from({ length: 40 }, (_, at) => `palabra${at}`);
    fake.change({
      texts: [{ language: 'es', text: words.join(' '), breaks: true, isSpoken: false, number: 1 }],
    });
    await settle(page);
    expect((await linesOf(page, 'es')).join(' ')).not.toContain('palabra39');
    const shownBefore = (await linesOf(page, 'es')).join(' ').split(' ').length;
    await choose(page, PANEL('es'), 'large');
    // No time to read has passed.
    expect((await linesOf(page, 'es')).join(' ').split(' ').length).toBeLessThan(words.length);
    expect((await linesOf(page, 'es')).join(' ').split(' ').length).toBeGreaterThanOrEqual(shownBefore);
    await page.evaluate(`globalThis.seen = [];
      new MutationObserver(() => {
        globalThis.seen.push([...document.querySelectorAll('.body[lang="es"] .line bdi')].map((line) => line.textContent));
      }).observe(document, { childList: true, subtree: true, characterData: true });
      globalThis.speed = 50;`);
    fake.change({ texts: [{ language: 'es', text: ' fin.', breaks: false, isSpoken: false, number: 2 }] });
    await expect.poll(async () => (await linesOf(page, 'es')).join(' ')).toBe(`${words.join(' ')} fin.`);
    const seen = (await page.evaluate('globalThis.seen')) as string[][];
    expect(seen.length).toBeGreaterThan(2);
    for (const [at, lines] of seen.entries()) {
      // A line that is shown may only grow.
      const before = seen[at - 1] ?? [];
      expect(before.every((line, place) => lines[place]?.startsWith(line))).toBe(true);
    }
    await close();
  });

  it('keeps the newest line in view, however many there are', async () => {
    const texts = Array.from({ length: 12 }, (_, at) => ({
      language: 'es',
      text: `Esta es la frase número ${at} de la conversación.`,
      breaks: true,
      isSpoken: false,
      number: at + 1,
    }));
    const { page, close } = await showPage(browser, files, { texts });
    const isInView = () =>
      page.$eval('.body[lang="es"]', (body) => {
        const line = [...body.querySelectorAll('.line')].at(-1)?.getBoundingClientRect();
        const { top, bottom } = body.getBoundingClientRect();
        return line !== undefined && line.bottom <= bottom + 2 && line.top >= top;
      });
    for (const [width, height] of [SIZES[2], SIZES[0], SIZES[4], SIZES[3]]) {
      await page.setViewport({ width, height });
      await settle(page);
      await expect.poll(isInView).toBe(true);
      for (const _ of ['on', 'off']) {
        await choose(page, PANEL('es'), 'large');
        await expect.poll(isInView).toBe(true);
        expect(await page.$('.looking-back')).toBeNull();
      }
    }
    await close();
  });

  const CHECKED = ['idle', 'conversation', 'turns', 'no microphone', 'typing dialog'];
  it.each(
    SCREEN_STATES.filter(({ name }) => CHECKED.includes(name)).map((state) => [state.name, state] as const),
  )(
    'has whole texts, large buttons and nothing that axe finds, large and in high contrast, when the state is %s',
    async (name, state) => {
      const { page, fake, close } = await showPage(browser, files);
      await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
      const before = { kind: state.isIdle ? 'standby' : 'listening' } as const;
      fake.change({ ...stateFor(state, 'es', 2), status: before });
      await settle(page);
      const parts = state.isIdle ? ['.idle'] : ['.panel.source', '.panel.target'];
      for (const part of parts) await choose(page, part, 'large', 'contrast');
      const faults: string[] = [];
      let step = 0;
      for (const target of ['es', 'ar', 'hi'] as const)
        for (const [width, height] of SIZES) {
          step += 1;
          await page.setViewport({ width, height });
          const { conversation: _same, texts = [], ...now } = stateFor(state, target, 2);
          fake.change({ ...now, texts: texts.map((one) => ({ ...one, number: one.number + 10 * step })) });
          await settle(page);
          if (state.opens !== undefined) {
            await page.click(state.opens);
            await page.waitForSelector('dialog[open]');
          }
          const place = `${name}-${target}-${width}x${height}`;
          await screenshot(page, `look-${place}`.replaceAll(/[ ,]+/g, '-'));
          const found = [...(await faultsOf(page)), ...(await findings(page))];
          faults.push(...found.map((fault) => `${place}: ${fault}`));
          if (state.opens !== undefined) await page.keyboard.press('Escape');
        }
      expect(faults).toEqual([]);
      expect(await page.$$eval('.large.contrast', (all) => all.length)).toBeGreaterThan(0);
      await close();
    },
  );
});

describe(`what the machine asks for${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('is high contrast on the whole page, which a reader may switch off', async () => {
    const { page, close } = await showPage(browser, files, { texts: TEXTS });
    const grounds = async () => [
      (await lookIn(page, PANEL('en'))).ground,
      (await lookIn(page, PANEL('es'))).ground,
    ];
    const [usual] = await grounds();
    await emulate(page, 'prefers-contrast', 'more');
    expect(await grounds()).toEqual([BLACK, BLACK]);
    expect(await findings(page)).toEqual([]);
    await choose(page, PANEL('es'), 'contrast');
    expect(await grounds()).toEqual([BLACK, usual]);
    await emulate(page, 'prefers-contrast', 'no-preference');
    expect(await grounds()).toEqual([usual, usual]);
    await close();
  });

  it('is at least 7 to 1 for every text in high contrast', async () => {
    const { page, fake, close } = await showPage(browser, files, { texts: TEXTS, endsInMs: 19_500 });
    await emulate(page, 'prefers-contrast', 'more');
    const low = async (): Promise<string[]> => {
      await settle(page);
      // axe measures what AAA asks for, too.
      await findings(page);
      return (await page.evaluate(`axe.run(document, { runOnly: ['color-contrast-enhanced'] })
        .then(({ violations, passes }) => passes.length === 0 ? ['nothing measured']
          : violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)))`)) as string[];
    };
    expect(await low()).toEqual([]);
    fake.change({ endsInMs: null, status: { kind: 'offline', cause: 'microphone' } });
    expect(await low()).toEqual([]);
    fake.change({ ...INVITATION, conversation: 2 });
    expect(await low()).toEqual([]);
    await close();
  });

  it('is its own colours: edges, states and the level stay visible', async () => {
    const turn = { mode: 'button', speakers: ['source', 'target'], speaker: 'source', isOpen: true } as const;
    const given = {
      texts: TEXTS,
      level: 6,
      lanes: [{ ...LANE, offer: ['es', 'fr'], turn }],
      endsInMs: 19_500,
    };
    const { page, close } = await showPage(browser, files, given);
    await emulate(page, 'forced-colors', 'active');
    await screenshot(page, 'forced-colors');
    const seen = await page.evaluate(() => {
      const style = (selector: string): CSSStyleDeclaration => {
        const part = document.querySelector(selector);
        if (part === null) throw new Error(`there is no ${selector}`);
        return getComputedStyle(part);
      };
      const edge = (selector: string): boolean => {
        const { borderTopStyle, borderTopWidth, borderTopColor, backgroundColor } = style(selector);
        return (
          borderTopStyle !== 'none' &&
          Number.parseFloat(borderTopWidth) > 0 &&
          borderTopColor !== backgroundColor
        );
      };
      return {
        edges: ['.panel', '.bar .end', '.bar .step', '.still-there', '.still-there button'].filter(
          (one) => !edge(one),
        ),
        open: style('.panel.source .turn').backgroundColor !== style('.panel.target .turn').backgroundColor,
        off: style('.bar [aria-disabled="true"]').borderTopStyle,
        level: style('.level .on').backgroundColor !== style('.panel').backgroundColor,
        said: [style('.spoken .line').borderLeftStyle, style('.translated .line').borderLeftStyle],
      };
    });
    expect(seen).toEqual({ edges: [], open: true, off: 'dashed', level: true, said: ['solid', 'dotted'] });
    await close();
  });

  it('is not needed to tell by more than a colour who has said it and whose microphone is open', async () => {
    const turn = { mode: 'button', speakers: ['source', 'target'], speaker: 'source', isOpen: true } as const;
    const { page, close } = await showPage(browser, files, { texts: TEXTS, lanes: [{ ...LANE, turn }] });
    const marks = await page.evaluate(() =>
      ['.spoken .line', '.translated .line', '.panel.source .turn', '.panel.target .turn'].map((selector) => {
        const part = document.querySelector(selector);
        if (part === null) throw new Error(`there is no ${selector}`);
        const { borderLeftStyle, boxShadow } = getComputedStyle(part);
        return part.tagName === 'P' ? borderLeftStyle : boxShadow !== 'none';
      }),
    );
    expect(marks).toEqual(['solid', 'dotted', true, false]);
    await close();
  });
});

describe(`captions for a braille display${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  /** What each live region announces, and how. */
  const live = (page: Page) =>
    page.$$eval('.live', (all) =>
      Object.fromEntries(
        all.map((one) => [
          one.closest('[lang]')?.getAttribute('lang'),
          [one.ariaLive, ...Array.from(one.children, ({ textContent }) => textContent)],
        ]),
      ),
    );
  const say = (number: number, text: string, breaks = false, language = 'es'): { texts: ScreenText[] } => ({
    texts: [{ language, text, breaks, isSpoken: false, number }],
  });

  it('are off until a reader comes with Tab, and then whole sentences of the own half, each once', async () => {
    const { page, fake, close } = await showPage(browser, files, { layout: 'facing' });
    fake.change(say(1, 'Buenos días.', true));
    await settle(page);
    expect(await live(page)).toEqual({ es: ['off'], en: ['off'] });
    await page.focus(`${PANEL('es')} .bar .end`);
    await page.mouse.click(5, 5);
    expect(await live(page)).toEqual({ es: ['off'], en: ['off'] });
    await page.keyboard.press('Tab');
    await settle(page);
    // What was said before is not announced.
    expect(await live(page)).toEqual({ es: ['polite'], en: ['off'] });
    await page.evaluate(`globalThis.announced = [];
      new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes)
          if (target.matches('.live')) for (const node of addedNodes) globalThis.announced.push(node.textContent);
      }).observe(document, { childList: true, subtree: true });`);
    fake.change(say(2, '¿Dónde', true));
    fake.change(say(3, ' está'));
    fake.change(say(4, ' el ascensor?'));
    fake.change(say(5, 'Here.', true, 'en'));
    fake.change(say(6, 'Sí.', true));
    fake.change(say(7, 'Sí.', true));
    await settle(page);
    expect(await page.evaluate('globalThis.announced')).toEqual(['¿Dónde está el ascensor?', 'Sí.', 'Sí.']);
    expect(await live(page)).toEqual({ es: ['polite', 'Sí.'], en: ['off'] });
    // The visible captions grow word by word, and announce nothing.
    expect(await page.$$eval('.captions', (all) => all.map((one) => one.ariaLive))).toEqual(['off', 'off']);
    expect(await findings(page)).toEqual([]);
    await close();
  });

  it('go with the reader to the other half, and stop when the reader has left', async () => {
    const { page, fake, close } = await showPage(browser, files, {});
    await page.keyboard.press('Tab');
    await settle(page);
    expect(await live(page)).toEqual({ en: ['polite'], es: ['off'] });
    fake.change(say(1, 'Here.', true, 'en'));
    await settle(page);
    expect(await live(page)).toEqual({ en: ['polite', 'Here.'], es: ['off'] });
    await page.focus(`${PANEL('en')} .bar .end`);
    await page.keyboard.press('Tab');
    await settle(page);
    expect(await live(page)).toEqual({ en: ['off'], es: ['polite'] });
    await page.mouse.click(300, 300);
    await settle(page);
    expect(await live(page)).toEqual({ en: ['off'], es: ['off'] });
    await page.keyboard.press('Tab');
    fake.change({ conversation: 2 });
    await settle(page);
    expect(await live(page)).toEqual({ en: ['off'], es: ['off'] });
    await close();
  });

  it('come after a pause of 3 s when their sentence has no mark at its end', async () => {
    const { page, fake, close } = await showPage(browser, files, {}, undefined, (page) =>
      page.evaluateOnNewDocument(`const later = window.setTimeout;
        window.setTimeout = (callback, ms) => later(callback, ms === 3000 ? 300 : ms);`),
    );
    await page.keyboard.press('Tab');
    await settle(page);
    fake.change(say(1, 'Here', true, 'en'));
    await expect.poll(async () => (await live(page))['en']).toEqual(['polite', 'Here']);
    fake.change(say(2, ' it is.', false, 'en'));
    await expect.poll(async () => (await live(page))['en']).toEqual(['polite', 'it is.']);
    await close();
  });
});
