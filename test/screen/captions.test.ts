import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { plainCaption } from '../../src/device/screen/captions/plain-caption.ts';
import { wordingOf } from '../../src/device/screen/wording.ts';
import { sizesFor } from '../../src/page/kiosk/sizes.ts';
import type { ScreenLane, ScreenText } from '../../src/protocol/screen.ts';
import { SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { needs } from '../needs.ts';
import { buildPage, linesOf, NO_BROWSER, openBrowser, screenshot, settle, showPage } from './browser.ts';

let browser: Browser;
let files: PageFiles;

/** Notes each change of the lines: their texts and places. */
const WATCH = `
  globalThis.seen = [];
  const look = () => {
    const lines = [...document.querySelectorAll('.body[lang="es"] .line bdi')];
    const now = lines.map((line) => ({ text: line.textContent, left: line.getBoundingClientRect().left }));
    if (JSON.stringify(now) !== JSON.stringify(globalThis.seen.at(-1))) globalThis.seen.push(now);
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });`;

interface SeenLine {
  readonly text: string;
  readonly left: number;
}

/** The lines that are wider than their panel. */
const cutLines = (page: Page) =>
  page.$$eval('.line', (lines) =>
    lines
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ textContent }) => textContent),
  );

let number = 0;
const text = (words: string, more: Partial<ScreenText> = {}): ScreenText => {
  number += 1;
  return { language: 'es', text: words, breaks: false, isSpoken: false, number, ...more };
};

async function seenOf(page: Page): Promise<SeenLine[][]> {
  return (await page.evaluate('globalThis.seen')) as SeenLine[][];
}

describe(`captions in a browser${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('hold still: a painted word keeps its line and its place in it', async () => {
    const shown = await showPage(browser, files, {}, undefined, (page) => page.evaluateOnNewDocument(WATCH));
    const words = 'Mi hija usa silla de ruedas y quiere ver los cuadros del segundo piso hoy'.split(' ');
    for (const word of words) {
      shown.fake.change({ texts: [text(` ${word}`)] });
      await expect.poll(async () => (await linesOf(shown.page, 'es')).at(-1)?.split(' ').at(-1)).toBe(word);
    }
    const seen = await seenOf(shown.page);
    expect(seen.length).toBeGreaterThan(8);
    for (const [index, now] of seen.entries()) {
      const before = seen[index - 1] ?? [];
      // Either a line grew, or all lines moved up by one.
      const grew = before.every((line, at) => now[at]?.text.startsWith(line.text));
      const moved = before.slice(1).every((line, at) => now[at]?.text.startsWith(line.text));
      expect(grew || moved).toBe(true);
      for (const { left } of now) expect(left).toBe(now[0]?.left);
    }
    await shown.close();
  });

  it('stay where they are when the connection is lost and comes back', async () => {
    const shown = await showPage(browser, files, {}, undefined, (page) => page.evaluateOnNewDocument(WATCH));
    shown.fake.change({ texts: [text('Buenos días.')] });
    await settle(shown.page);
    const before = ['Buenos días.'];
    await expect.poll(() => linesOf(shown.page, 'es')).toEqual(before);
    const count = (await seenOf(shown.page)).length;
    const broken = await shown.breakConnection();
    const kind = () => shown.page.$eval('.status', (line) => line.getAttribute('data-kind'));
    await expect.poll(kind).toBe('offline');
    expect(await shown.page.$eval('.body[lang="es"] .help', (cover) => cover.textContent)).toBe(
      'Espere, por favor, o avise al personal.',
    );
    await broken.back();
    await expect.poll(kind).toBe('listening');
    expect(await shown.page.$('.body[lang="es"] .cover')).toBeNull();
    shown.fake.change({ texts: [text(' ¿Qué tal?')] });
    const whole = `${before.join(' ')} ¿Qué tal?`;
    await expect.poll(async () => (await linesOf(shown.page, 'es')).join(' ')).toBe(whole);
    expect((await seenOf(shown.page)).length).toBe(count + 1);
    await shown.close();
  });

  it('come whole and hold still over a slow connection', async () => {
    const { page, fake, close } = await showPage(browser, files);
    await page.evaluate(WATCH);
    await page.emulateNetworkConditions({ download: 3000, upload: 3000, latency: 800 });
    const words = 'Mi hija usa silla de ruedas.'.split(' ');
    for (const word of words) {
      fake.change({ texts: [text(`${word} `)], level: 5 });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await expect.poll(async () => (await linesOf(page, 'es')).join(' ')).toBe(words.join(' '));
    // What is shown never becomes shorter.
    const lengths = (await seenOf(page)).map((lines) => lines.map((line) => line.text).join(' ').length);
    expect(lengths).toEqual(lengths.toSorted((one, other) => one - other));
    expect(await page.$eval('.status', (line) => line.getAttribute('data-kind'))).toBe('listening');
    await close();
  });

  it('disappear at the end of the conversation', async () => {
    const shown = await showPage(browser, files);
    shown.fake.change({ texts: [text('Buenos días.')] });
    await settle(shown.page);
    expect(await linesOf(shown.page, 'es')).toEqual(['Buenos días.']);
    shown.fake.change({ conversation: 2 });
    await settle(shown.page);
    expect(await linesOf(shown.page, 'es')).toEqual([]);
    expect(await shown.page.evaluate(() => document.body.textContent?.includes('Buenos'))).toBe(false);
    await shown.close();
  });

  it.each([
    [
      'markup',
      '<img src=x onerror="document.title=\'hacked\'"><script>document.title="hacked"</script> &lt;b&gt;',
    ],
    ['10,000 characters', 'palabra '.repeat(1250)],
    ['10,000 characters without a blank', 'a'.repeat(10_000)],
    ['bidi controls', 'precio ‮005$‬ ⁦abc⁩ ‏fin'],
    ['stacked marks', `Z${'\u0301\u0316'.repeat(500)}algo`],
    ['line breaks', 'uno\n\n\n\n\ndos\u2028tres\r\tcuatro'],
    ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈👨🏽‍🚀'.repeat(50)],
  ])('survive %s', async (what, hostile) => {
    const shown = await showPage(browser, files);
    // As the agent cleans it, and as it came: the page does not rely on that.
    for (const words of [plainCaption(hostile), hostile]) {
      shown.fake.change({ texts: [text(words, { breaks: true, isSpoken: false })] });
      await settle(shown.page);
    }
    shown.fake.change({ level: 7 });
    await settle(shown.page);
    await screenshot(shown.page, `hostile-${what.replaceAll(/\W+/g, '-')}`);
    expect(await shown.page.title()).toBe('Interpreter');
    expect(await shown.page.$$eval('img, .line *:not(bdi)', (parts) => parts.length)).toBe(0);
    // Nothing has pushed the buttons away, and the page still works.
    const end = await shown.page.$eval('button[aria-label="End"]', (button) => {
      const { bottom, right } = button.getBoundingClientRect();
      return bottom <= innerHeight && right <= innerWidth;
    });
    expect(end).toBe(true);
    expect((await linesOf(shown.page, 'es')).length).toBeLessThanOrEqual(200);
    expect(await shown.page.$$eval('.level .on', (steps) => steps.length)).toBe(14);
    expect(shown.complaints).toEqual([]);
    await shown.close();
  });

  it('show the end of the conversation when a page begins late', async () => {
    const texts = Array.from({ length: 40 }, (_, at) => text(` palabra${at}`));
    const shown = await showPage(browser, files, { texts });
    expect((await linesOf(shown.page, 'es')).at(-1)).toMatch(/palabra39$/);
    await shown.close();
  });

  it('stay until they can have been read, however much has come', async () => {
    const { page, fake, close } = await showPage(browser, files);
    // The page's clock stands still: no time to read passes.
    await page.evaluate('const then = performance.now(); performance.now = () => then');
    fake.change({ texts: [text(Array.from({ length: 60 }, (_, at) => `palabra${at} `).join(''))] });
    await settle(page);
    const lines = await linesOf(page, 'es');
    expect(lines[0]).toMatch(/^palabra0\b/);
    expect(lines.join(' ')).not.toContain('palabra59');
    await close();
  });

  it('fill their lines again, in letters of another size, when the screen is turned', async () => {
    const { page, fake, close } = await showPage(browser, files);
    const words = 'Mi hija usa silla de ruedas y quiere ver los cuadros.';
    fake.change({ texts: [text(words)] });
    await settle(page);
    const before = await linesOf(page, 'es');
    await page.setViewport({ width: 1000, height: 720 });
    await expect.poll(() => linesOf(page, 'es')).not.toEqual(before);
    expect(await cutLines(page)).toEqual([]);
    await page.setViewport({ width: 720, height: 1280 });
    const { viewingDistanceMm, heightMm } = SNAPSHOT;
    const { letter } = sizesFor({ layout: 'beside', viewingDistanceMm, heightMm }, 720, 1280);
    await expect
      .poll(() => page.$eval('main', (main) => Number.parseFloat(main.style.getPropertyValue('--letter'))))
      .toBeCloseTo(letter);
    await settle(page);
    const after = await linesOf(page, 'es');
    expect(after.join(' ')).toBe(words);
    expect(await cutLines(page)).toEqual([]);
    await close();
  });

  it('have letters for the whole screen when the window grew while the page began', async () => {
    // A browser that has just started becomes as large as the screen before the page hears of it.
    const BEGINS_SMALL = `
      Object.defineProperty(globalThis, 'innerHeight', { get: () => document.querySelector('main') === null ? 480 : 720 });`;
    const { page, close } = await showPage(browser, files, {}, { width: 1280, height: 720 }, (begun) =>
      begun.evaluateOnNewDocument(BEGINS_SMALL),
    );
    const { viewingDistanceMm, heightMm } = SNAPSHOT;
    const { letter } = sizesFor({ layout: 'beside', viewingDistanceMm, heightMm }, 1280, 720);
    await expect
      .poll(() => page.$eval('main', (main) => Number.parseFloat(main.style.getPropertyValue('--letter'))))
      .toBeCloseTo(letter);
    await close();
  });

  it('leave the page empty until the agent answers, and then say that it does not', async () => {
    const page = await browser.newPage();
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      // The page and its files come, and no events.
      if (request.url().endsWith('/events')) void request.abort();
      else void request.continue();
    });
    const shown = await showPage(browser, files);
    await page.goto(shown.page.url());
    expect(await page.$('.panel')).toBeNull();
    await expect
      .poll(() => page.$eval('.lost [lang="en"]', (state) => state.textContent).catch(() => ''))
      .toBe('No connection');
    await page.close();
    await shown.close();
  });

  it('keep the newest line in view when the buttons go and come back', async () => {
    const { page, fake, close } = await showPage(browser, files, {}, undefined, (page) =>
      page.evaluateOnNewDocument(
        'const then = performance.now.bind(performance); performance.now = () => 50 * then()',
      ),
    );
    for (let at = 0; at < 8; at++)
      fake.change({ texts: [text(`Esta es la frase número ${at} de la conversación.`, { breaks: true })] });
    await expect.poll(async () => (await linesOf(page, 'es')).join(' ')).toContain('número 7');
    fake.change({ status: { kind: 'offline', cause: 'connection' } });
    await settle(page);
    fake.change({ status: { kind: 'listening' } });
    await settle(page);
    const isInView = () =>
      page.$eval('.body[lang="es"]', (body) => {
        const line = [...body.querySelectorAll('.line')].at(-1)?.getBoundingClientRect();
        return line !== undefined && line.bottom <= body.getBoundingClientRect().bottom + 2;
      });
    await expect.poll(isInView).toBe(true);
    await close();
  });

  it('show each sentence as a block, the newest bright, with a mark of who has said it', async () => {
    const { page, fake, close } = await showPage(browser, files);
    fake.change({
      texts: [
        text('Buenos días.', { breaks: true, isSpoken: true }),
        text('¿En qué puedo', { breaks: true }),
        text(' ayudarle?'),
      ],
    });
    await settle(page);
    const blocks = await page.$$eval('.body[lang="es"] .sentence', (all) =>
      all.map((one) => [one.textContent, one.className, getComputedStyle(one).getPropertyValue('--said-by')]),
    );
    const [own, other] = await page.$eval('.panel:has(.body[lang="es"])', (panel) =>
      ['--own', '--other'].map((name) => getComputedStyle(panel).getPropertyValue(name)),
    );
    expect(own).not.toBe(other);
    expect(blocks).toEqual([
      ['Buenos días.', 'sentence spoken earlier', own],
      [expect.stringMatching(/^¿En qué puedo ?ayudarle\?$/), 'sentence translated', other],
    ]);
    await close();
  });

  it.each([
    [800, 480, 107],
    [1024, 600, 125],
    [1280, 800, 150],
    [1920, 1080, 200],
    [600, 1024, 180],
  ])(
    'show a sentence of 80 letters as a whole in both languages on %i x %i',
    async (width, height, heightMm) => {
      const given = { viewingDistanceMm: 500, heightMm };
      const { page, fake, close } = await showPage(browser, files, given, { width, height });
      const es = '¿Y a qué hora cierra hoy la exposición del jardín botánico, y la casa de flores?';
      const en = 'And what time does the exhibition of the botanical garden close today, madam? Ok';
      expect([es.length, en.length]).toEqual([80, 80]);
      fake.change({ texts: [text(es, { breaks: true }), text(en, { breaks: true, language: 'en' })] });
      await settle(page);
      for (const [language, words] of [
        ['es', es],
        ['en', en],
      ] as const) {
        const visible = await page.$$eval(`.body[lang="${language}"] .line`, (lines) =>
          lines.filter((line) => !line.matches('.gone')).map((line) => line.textContent),
        );
        expect(visible.join(' ')).toBe(words);
      }
      await close();
    },
  );

  it('can be read again by a finger, and return to the newest after 10 s', async () => {
    const { page, fake, close } = await showPage(browser, files, {}, undefined, (page) =>
      page.evaluateOnNewDocument(`globalThis.looks = 0;
        new MutationObserver(() => { globalThis.looks += document.querySelectorAll('.looking-back').length; })
          .observe(document, { attributes: true, subtree: true, attributeFilter: ['class'] });
        const later = window.setTimeout;
        window.setTimeout = (callback, ms) => later(callback, ms === 10000 ? 1000 : ms);`),
    );
    await page.evaluate(
      'const then = performance.now.bind(performance); performance.now = () => 50 * then()',
    );
    for (let at = 0; at < 12; at++)
      fake.change({ texts: [text(`Esta es la frase número ${at} de la conversación.`, { breaks: true })] });
    const box = '.body[lang="es"] .captions';
    await expect.poll(async () => (await linesOf(page, 'es')).join(' ')).toContain('número 11');
    const atEnd = () => page.$eval(box, (one) => one.scrollTop + one.clientHeight > one.scrollHeight - 20);
    await expect.poll(atEnd).toBe(true);
    // Lines that move up are not a reader who looks back.
    const looks = await page.evaluate('globalThis.looks');
    expect(looks).toBe(0);
    await page.$eval(box, (one) => one.scrollTo(0, 0));
    await expect.poll(() => page.$eval(box, (one) => one.classList.contains('looking-back'))).toBe(true);
    const first = await page.$eval(`${box} .line`, (line) => getComputedStyle(line).visibility);
    expect(first).toBe('visible');
    await expect.poll(atEnd).toBe(true);
    expect(await page.$eval(box, (one) => one.classList.contains('looking-back'))).toBe(false);
    await close();
  });

  it('begin anew when the agent has started again', async () => {
    const shown = await showPage(browser, files, { texts: [text('Antes.')] });
    expect(await linesOf(shown.page, 'es')).toEqual(['Antes.']);
    const broken = await shown.breakConnection();
    shown.fake.restart('run-2');
    await broken.back();
    await expect.poll(() => linesOf(shown.page, 'es')).toEqual([]);
    shown.fake.change({
      texts: [{ language: 'es', text: 'Después.', breaks: false, isSpoken: false, number: 1 }],
    });
    await expect.poll(() => linesOf(shown.page, 'es')).toEqual(['Después.']);
    await shown.close();
  });
});

/** Half past eleven at night in Berlin, on a Friday. */
const AT_NIGHT = `const Real = Date;
  Date = class extends Real {
    constructor(...words) {
      if (words.length === 0) super('2026-11-27T22:30:00.000Z');
      else super(...words);
    }
  };`;

/** What stands in place of captions for readers of English; null: nothing. */
const coverOf = (page: Page, language = 'en') =>
  page.$eval(`.body[lang="${language}"]`, (body) => {
    const found = body.querySelector('.invitation, .opening') ?? body.querySelector('.help');
    return found?.textContent ?? null;
  });

describe(`what stands in place of captions${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    [browser, files] = await Promise.all([openBrowser(), buildPage()]);
  });
  afterAll(() => browser?.close());

  it('says what to do about each trouble', async () => {
    const { page, fake, close } = await showPage(browser, files);
    const coversWhen = async (cause: 'connection' | 'microphone' | 'loudspeaker') => {
      fake.change({ status: { kind: 'offline', cause } });
      await settle(page);
      return [await coverOf(page, 'en'), await coverOf(page, 'es')];
    };
    // English is the clerk's language here.
    expect(await coversWhen('connection')).toEqual([
      'Check the network cable, or call your technician.',
      'Espere, por favor, o avise al personal.',
    ]);
    expect(await coversWhen('microphone')).toEqual([
      'The microphone does not work. Check its plug, or call your technician.',
      wordingOf('es').microphone,
    ]);
    expect(await coversWhen('loudspeaker')).toEqual([
      'There is no sound. Check the loudspeaker and its plug, or call your technician.',
      wordingOf('es').loudspeaker,
    ]);
    await close();
  });

  it("says when the kiosk opens, with the day in the kiosk's zone", async () => {
    const prepare = async (page: Page) => {
      await page.emulateTimezone('Europe/Berlin');
      await page.evaluateOnNewDocument(AT_NIGHT);
    };
    const { page, fake, close } = await showPage(browser, files, {}, undefined, prepare);
    const closedUntil = async (until: string | null) => {
      fake.change({ status: { kind: 'closed', until } });
      await settle(page);
      return coverOf(page);
    };
    expect(await closedUntil('2026-11-27T22:45:00.000Z')).toBe('Opens today 11:45 PM');
    expect(await closedUntil('2026-11-27T23:15:00.000Z')).toBe('Opens tomorrow 12:15 AM');
    expect(await closedUntil(null)).toBe('');
    expect(await coverOf(page, 'es')).toBe('Avise al personal, por favor.');
    fake.change({ help: { state: 'none', by: null, mayCall: true } });
    await settle(page);
    // The button says it.
    expect(await coverOf(page, 'es')).toBe('');
    await close();
  });

  it('invites to speak or to hold the button, and hides no words', async () => {
    const [lane] = SNAPSHOT.lanes as [ScreenLane];
    const { page, fake, close } = await showPage(browser, files);
    const holds = { mode: 'hold', speakers: ['source'], speaker: 'source', isOpen: false } as const;
    const covers: (string | null)[] = [];
    const look = async (): Promise<void> => {
      await settle(page);
      covers.push(await coverOf(page));
    };
    await look();
    fake.change({ status: { kind: 'muted' } });
    await look();
    fake.change({ lanes: [{ ...lane, turn: holds }] });
    await look();
    fake.change({
      texts: [{ language: 'en', text: 'Where is the lift?', breaks: false, isSpoken: false, number: 1 }],
    });
    await look();
    fake.change({ lanes: [lane], status: { kind: 'standby' } });
    await look();
    fake.change({ status: { kind: 'listening' } });
    await look();
    expect(covers).toEqual(['Please speak', null, 'Hold the button and speak', null, 'Please speak', null]);
    await close();
  });
});
