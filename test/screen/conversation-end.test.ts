import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import type { ScreenAction, ScreenLane, ScreenSnapshot } from '../../src/protocol/screen.ts';
import { LONGEST_TYPED, SCREEN_LAYOUTS } from '../../src/protocol/screen-size.ts';
import { needs } from '../needs.ts';
import { buildPage, linesOf, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

const SECRET = 'My passport number is 12345';
const LANE: ScreenLane = {
  id: 'main',
  source: 'en',
  targets: ['es'],
  offer: ['es', 'fr'],
  visitor: 'es',
  turn: null,
  typing: [
    { from: 'en', into: 'es' },
    { from: 'es', into: 'en' },
  ],
  repeatable: [],
  volume: 80,
};
const TALK: Partial<ScreenSnapshot> = { lanes: [LANE] };
const SIZES = [
  { width: 800, height: 480 },
  { width: 1280, height: 800 },
  { width: 600, height: 1024 },
] as const;

/** The page's clock, as far as the page reads it, is moved by `skewMs`. */
const SKEWED = `window.skewMs = 0;
  const now = performance.now.bind(performance);
  performance.now = () => now() + window.skewMs;`;
/** The page's timers of half a second run when the test calls them. */
const BY_HAND = `window.looks = [];
  const every = window.setInterval;
  window.setInterval = (callback, ms) => ms === 500 ? window.looks.push(callback) : every(callback, ms);
  window.passHalfSeconds = (count) => {
    for (let time = 0; time < count; time++) for (const look of window.looks) look();
  };`;

/** Counts the pings that came. */
const COUNT_PINGS = `window.pings = window.seenPings = 0;
  window.EventSource = class extends EventSource {
    constructor(...words) {
      super(...words);
      this.addEventListener('ping', () => { window.pings += 1; });
    }
  };`;

const withScript = (script: string) => (page: Page) => page.evaluateOnNewDocument(script);
const stateOf = (page: Page) => page.$eval('.status', (line) => line.getAttribute('data-kind'));
/** Everything that the page holds: text, and what stands in its fields. */
const allOf = (page: Page) =>
  page.evaluate(
    () =>
      document.body.textContent +
      Array.from(document.querySelectorAll('input'), ({ value }) => value).join(' '),
  );

describe(`the end of a conversation${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  describe.each(SIZES)('on $width x $height', (size) => {
    it.each(SCREEN_LAYOUTS)('closes what is typed, and the next dialog is empty: %s', async (layout) => {
      const shown = await showPage(browser, files, { ...TALK, layout, heightMm: 300 }, size);
      const { page, fake, close, complaints } = shown;
      const { length } = await page.$$('.bar .keyboard');
      expect(length).toBe(layout === 'one' ? 1 : 2);
      const open = async (button: number): Promise<void> => {
        await (await page.$$('.bar .keyboard'))[button]?.click();
        await page.waitForSelector('dialog[open] input');
      };
      for (let button = 0; button < length; button++) {
        await open(button);
        await page.keyboard.type(SECRET);
        expect(await allOf(page)).toContain('12345');
        await screenshot(page, `typed-${layout}-${size.width}-${button}`);
        fake.change({ conversation: 2 + button });
        await expect.poll(() => page.$('dialog')).toBeNull();
        expect(await allOf(page)).not.toContain('12345');
        await screenshot(page, `typed-ended-${layout}-${size.width}-${button}`);
        await open(button);
        expect(await page.$eval('dialog input', ({ value }) => value)).toBe('');
        await page.keyboard.press('Escape');
        await expect.poll(() => page.$('dialog')).toBeNull();
      }
      expect(complaints).toEqual([]);
      await close();
    });
  });

  it('closes the choice of languages', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    await page.click('.bar .language');
    await page.waitForSelector('dialog[open] .choices');
    fake.change({ conversation: 2 });
    await expect.poll(() => page.$('dialog')).toBeNull();
    await close();
  });

  it('closes what is typed when another run of the agent begins', async () => {
    const { page, fake, close, breakConnection } = await showPage(browser, files, TALK);
    await page.click('.bar .keyboard');
    await page.waitForSelector('dialog input:focus');
    await page.keyboard.type(SECRET);
    const { back } = await breakConnection();
    await expect.poll(() => stateOf(page)).toBe('offline');
    // The dialog closes in the frame after.
    await expect.poll(() => allOf(page)).not.toContain('12345');
    fake.restart('run-2');
    await back();
    await expect.poll(() => stateOf(page)).toBe('listening');
    expect(await page.$('dialog')).toBeNull();
    await close();
  });

  it('leaves no word for somebody who chooses the same language later', async () => {
    const words = { language: 'es', text: 'Mi número es 12345', breaks: false, isSpoken: false, number: 1 };
    const { page, fake, close } = await showPage(browser, files, { ...TALK, texts: [words] });
    expect((await linesOf(page, 'es')).join(' ')).toBe(words.text);
    fake.change({ conversation: 2 });
    fake.change({ lanes: [{ ...LANE, targets: ['fr'], visitor: 'fr' }] });
    await page.waitForSelector('.body[lang="fr"]');
    fake.change({ lanes: [LANE] });
    await page.waitForSelector('.body[lang="es"]');
    await settle(page);
    expect(await allOf(page)).not.toContain('12345');
    await close();
  });
});

describe(`somebody at a dialog${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('is there when it opens and when a key is pressed 5 s later, and not by waiting', async () => {
    const shown = await showPage(browser, files, TALK, undefined, withScript(SKEWED));
    const { page, fake, close } = shown;
    const touch: ScreenAction = { do: 'touch', lane: 'main' };
    await page.click('.bar .keyboard');
    await expect.poll(() => fake.actions).toEqual([touch]);
    await page.keyboard.type('a');
    await page.evaluate('window.skewMs = 60_000');
    // The page hears the agent again before anybody presses a key.
    fake.change({ level: 1 });
    await settle(page);
    expect(fake.actions).toEqual([touch]);
    await page.keyboard.type('b');
    await expect.poll(() => fake.actions).toEqual([touch, touch]);
    await (await page.waitForSelector('.keys ::-p-text(q)'))?.click();
    await page.evaluate('window.skewMs = 120_000');
    fake.change({ level: 2 });
    await settle(page);
    await (await page.waitForSelector('.keys ::-p-text(q)'))?.click();
    await expect.poll(() => fake.actions).toEqual([touch, touch, touch]);
    await close();
  });

  it('is not what lies on a key of the keyboard', async () => {
    const shown = await showPage(browser, files, TALK, undefined, withScript(SKEWED));
    const { page, fake, close } = shown;
    await page.click('.bar .keyboard');
    await expect.poll(() => fake.actions).toHaveLength(1);
    await page.keyboard.down('a');
    await page.evaluate('window.skewMs = 60_000');
    // The browser repeats a key that is down already.
    await page.keyboard.down('a');
    await expect.poll(() => page.$eval('dialog input', ({ value }) => value)).toBe('aa');
    await settle(page);
    expect(fake.actions).toHaveLength(1);
    await page.keyboard.up('a');
    await page.keyboard.press('b');
    await expect.poll(() => fake.actions).toHaveLength(2);
    await settle(page);
    expect(fake.actions).toHaveLength(2);
    await close();
  });

  it('deletes a letter as a person sees it, with all its parts, and types no more than the agent takes', async () => {
    const { page, close } = await showPage(browser, files, TALK);
    await page.click('.bar .keyboard');
    await page.waitForSelector('dialog input:focus');
    await page.keyboard.sendCharacter('ye\u0301👩‍👩‍👧');
    const typed = () => page.$eval('dialog input', ({ value }) => value);
    await expect.poll(typed).toBe('ye\u0301👩‍👩‍👧');
    for (const left of ['ye\u0301', 'y', '', '']) {
      await page.click('button[aria-label="Delete"]');
      await expect.poll(typed).toBe(left);
    }
    // The agent refuses a longer text.
    await page.focus('dialog input');
    await page.keyboard.sendCharacter('a'.repeat(LONGEST_TYPED));
    await (await page.waitForSelector('.keys ::-p-text(q)'))?.click();
    await settle(page);
    expect(await typed()).toBe('a'.repeat(LONGEST_TYPED));
    await close();
  });

  it('keeps what is typed when the connection is lost for a moment', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    await page.click('.bar .keyboard');
    await page.waitForFunction('document.activeElement?.tagName === "INPUT"');
    await page.keyboard.type('Hola');
    fake.change({ status: { kind: 'offline', cause: 'connection' } });
    await settle(page);
    fake.change({ status: { kind: 'listening' } });
    await settle(page);
    expect(await page.$eval('dialog input', (input) => (input as HTMLInputElement).value)).toBe('Hola');
    await close();
  });

  it('speaks once by a double Enter', async () => {
    const { page, fake, close } = await showPage(browser, files, TALK);
    let answer = (): void => {};
    await page.click('.bar .keyboard');
    await page.waitForSelector('dialog input:focus');
    await page.keyboard.type('Hello');
    await expect.poll(() => fake.actions).toHaveLength(1);
    fake.answerAfter(
      new Promise<void>((resolve) => {
        answer = resolve;
      }),
    );
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.click('dialog .bar button:last-of-type');
    const said = () => fake.actions.filter((action) => action.do === 'say');
    await expect.poll(said).toHaveLength(1);
    await settle(page);
    expect(await page.$eval('dialog [role="status"]', (line) => line.textContent)).toBe('Speaking');
    answer();
    await expect.poll(() => page.$('dialog')).toBeNull();
    expect(said()).toHaveLength(1);
    await close();
  });
});

describe(`a frozen agent${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('is not one that has nothing to say: its pings keep the page connected', async () => {
    const shown = await showPage(browser, files, {}, undefined, withScript(`${BY_HAND} ${COUNT_PINGS}`));
    const { page, close } = shown;
    for (const more of [1, 2, 3]) {
      await page.evaluate('window.seenPings = window.pings');
      await page.waitForFunction('window.pings > window.seenPings');
      await page.evaluate('window.passHalfSeconds(8)');
      await settle(page);
      expect(await stateOf(page), `ping ${more}`).toBe('listening');
    }
    await close();
  });

  it('that refuses the page while it starts is asked again after 1.5 s', async () => {
    const shown = await showPage(browser, files, {}, undefined, withScript(BY_HAND));
    const { page, breakConnection, close } = shown;
    let refused = 0;
    let isStarting = true;
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (!isStarting || !request.url().endsWith('/events')) return void request.continue();
      refused += 1;
      void request.respond({ status: 503 });
    });
    const { back } = await breakConnection();
    await expect.poll(() => stateOf(page)).toBe('offline');
    await back();
    // A browser asks by itself until it is refused, and then never again.
    await expect.poll(() => refused).toBe(1);
    isStarting = false;
    await settle(page);
    await page.evaluate('window.passHalfSeconds(3)');
    await expect.poll(() => stateOf(page)).toBe('listening');
    expect(refused).toBe(1);
    await close();
  });

  it('is no connection on the glass within 5 s, and a busy one is not', async () => {
    // Its connections stay open, and nothing comes any more.
    const frozen = { ...createSystemClock(), at: () => () => {} };
    const shown = await showPage(browser, files, {}, undefined, withScript(BY_HAND), frozen);
    const { page, close } = shown;
    // It accepts further ones, and does not answer.
    await page.evaluate(
      'window.answered = EventSource; window.EventSource = class { addEventListener() {} close() {} }',
    );
    const stateAfter = async (halfSeconds: number) => {
      await page.evaluate(`window.passHalfSeconds(${halfSeconds})`);
      await settle(page);
      return stateOf(page);
    };
    expect(await stateAfter(8)).toBe('listening');
    expect(await stateAfter(1)).toBe('offline');
    await screenshot(page, 'frozen');
    expect(await stateAfter(40)).toBe('offline');
    await page.evaluate('window.EventSource = window.answered');
    await page.evaluate('window.passHalfSeconds(9)');
    await expect.poll(() => stateOf(page)).toBe('listening');
    await close();
  });
});
