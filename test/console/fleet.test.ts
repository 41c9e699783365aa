import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import {
  findings,
  LOOKS,
  NO_BROWSER,
  openBrowser,
  screenshot,
  setLook,
  settle,
  showConsole,
  WIDE,
} from './console-page.ts';
import { answerJob } from './fake-owner.ts';
import { rowFor, rowsFor } from './fleet-fixtures.ts';

let browser: Browser;

const shownDevices = (page: Page): Promise<(string | null)[]> =>
  page.$$eval('.scroller .line a .name', (names) => names.map((name) => name.textContent));
const firstDevice = async (page: Page): Promise<string | null> =>
  page.$eval('[aria-rowindex="2"] .name', (name) => name.textContent);

describe(`the fleet${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('keeps few rows and reaches the last of 10,000 devices', async () => {
    const { page, close } = await showConsole(browser, '/?sort=device', { rows: rowsFor(10_000) });
    expect(await page.$eval('[role=grid]', (grid) => grid.getAttribute('aria-rowcount'))).toBe('10001');
    // A window that grows has rows down to its end, also before anybody scrolls.
    await page.setViewport({ width: 1280, height: 2400 });
    await page.waitForFunction(() => {
      const end = document.querySelector('.scroller')?.getBoundingClientRect().bottom ?? 0;
      const last = document.querySelector('.scroller .line:last-child')?.getBoundingClientRect().bottom ?? 0;
      return end > 2000 && last >= end;
    });
    await page.setViewport(WIDE);
    await page.focus('[role=grid]');
    await page.keyboard.press('End');
    await page.waitForFunction(
      () => document.querySelector('.at .name')?.textContent === 'museum/kiosk-10000',
    );
    expect((await page.$$('.scroller .line')).length).toBeLessThan(50);
    await page.keyboard.press('PageUp');
    await page.keyboard.press('ArrowUp');
    await settle(page);
    const at = await page.$eval('.at', (line) => Number(line.getAttribute('aria-rowindex')));
    expect(at).toBeLessThan(10_000);
    expect(await page.$eval('[role=grid]', (grid) => grid.getAttribute('aria-activedescendant'))).toBe(
      `row-${at - 2}`,
    );
    await close();
  });

  it.each(
    [
      [800, 480],
      [1024, 600],
      [1280, 800],
      [1920, 1080],
    ].flatMap(([width = 0, height = 0]) =>
      ['en', 'de'].map((language) => [width, height, language] as const),
    ),
  )('shows whole names, pages and headers on %i x %i in the language %s', async (width, height, language) => {
    const { page, close } = await showConsole(browser, '/', { size: { width, height }, language });
    await screenshot(page, `fleet-${language}-${width}x${height}`);
    const cut = await page.$$eval(
      'header.top nav, header.top nav a, .grid .head > *, .grid .scroller .line .name, .grid .status, .counts > *, .who > *',
      (parts) =>
        parts
          .filter((part) => part.getClientRects().length > 0)
          .filter((part) => {
            const { left, right } = part.getBoundingClientRect();
            return part.scrollWidth > part.clientWidth || left < 0 || right > innerWidth;
          })
          .map((part) => `${part.className} ${part.textContent}`),
    );
    expect(cut).toEqual([]);
    const heads = await page.$$eval('.grid .head > span', (all) =>
      all
        .filter((one) => one.getClientRects().length > 0)
        .map((one) => one.getBoundingClientRect())
        .map(({ left, right }) => [left, right] as const),
    );
    for (const [index, [, right]] of heads.entries())
      expect(heads[index + 1]?.[0] ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(right);
    await close();
  });

  it('changes one row and the counts when a device changes', async () => {
    const { page, fake, close } = await showConsole(browser, '/?sort=device');
    fake.change(rowFor(3, { status: 'degraded', isProblem: true, reasons: ['budget'] }));
    await page.waitForFunction(() =>
      document.querySelector('[aria-rowindex="4"]')?.textContent?.includes('minutesPerDay'),
    );
    expect(await page.$eval('.counts .bad b', (count) => count.textContent)).toBe('11');
    expect(await page.$eval('[aria-rowindex="4"]', (row) => row.textContent)).toMatch(/en → es.*Old town/);
    await close();
  });

  it('moves a new problem to the top, but not while the pointer is over the rows', async () => {
    const { page, fake, close } = await showConsole(browser, '/');
    const before = await firstDevice(page);
    // Rows stay for 3 s by the page's clock, which stands still: otherwise a slow machine would end them.
    await page.evaluate(() => {
      const now = performance.now();
      performance.now = () => now;
    });
    await page.mouse.move(600, 400);
    await page.mouse.move(610, 410);
    fake.change(rowFor(0, { status: 'lost', isProblem: true, reasons: ['connection_lost'] }));
    await page.waitForFunction(() => document.querySelector('.counts .bad b')?.textContent === '11');
    await settle(page);
    expect(await firstDevice(page)).toBe(before);
    await page.mouse.move(600, 20);
    await page.waitForFunction(
      () => document.querySelector('[aria-rowindex="2"] .name')?.textContent === 'museum/kiosk-00000',
    );
    await close();
  });

  it('forgets a selection when a link leads to other devices than those that were selected', async () => {
    const { page, close } = await showConsole(browser, '/?problem=1');
    await page.click('.head input[type=checkbox]');
    await page.waitForSelector('.bulk');
    await page.click('[aria-rowindex="2"] a');
    await page.waitForFunction(() => location.pathname.startsWith('/device/'));
    await page.click('nav a[href="/"]');
    await page.waitForFunction(() => document.querySelector('[role=grid]')?.ariaRowCount === '41');
    expect(await page.$('.bulk')).toBeNull();
    await close();
  });

  it('keeps filter, search and order in the address', async () => {
    const { page, open, close } = await showConsole(browser, '/');
    await page.type('input[type=search]', 'harbour');
    await page.waitForFunction(() => location.search.includes('q=harbour'));
    await page.evaluate(() => {
      const buttons = [...document.querySelectorAll<HTMLButtonElement>('.counts button')];
      buttons.find((button) => button.textContent?.startsWith('lost'))?.click();
    });
    const wanted = rowsFor(40).filter(({ site, status }) => site === 'Harbour' && status === 'lost');
    const names = wanted.map(({ device }) => device);
    expect(names.length).toBeGreaterThan(0);
    await expect.poll(() => shownDevices(page)).toEqual(names);
    const address = await page.evaluate(() => location.pathname + location.search);
    await open(address);
    expect(await shownDevices(page)).toEqual(names);
    expect(await page.$eval('input[type=search]', (input) => (input as HTMLInputElement).value)).toBe(
      'harbour',
    );
    const addressed = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));
    await page.select('select[aria-label="all groups"]', 'lobby');
    await page.select('select[aria-label="Sort"]', 'device');
    expect(await addressed()).toEqual({ q: 'harbour', status: 'lost', group: 'lobby', sort: 'device' });
    const inLobby = wanted.filter(({ groups }) => groups.includes('lobby')).map(({ device }) => device);
    await expect.poll(() => shownDevices(page)).toEqual(inLobby);
    await page.click('.counts button');
    await page.select('select[aria-label="all groups"]', '');
    expect(await addressed()).toEqual({ q: 'harbour', sort: 'device' });
    await close();
  });

  it('sends a command to everything that the filter admits, but for some', async () => {
    const { page, fake, open, close } = await showConsole(browser, '/?problem=1', { rows: rowsFor(1000) });
    await page.click('.head input');
    await page.click('[aria-rowindex="3"] input');
    await settle(page);
    expect(await page.$eval('.bulk b', (text) => text.textContent)).toBe('249 devices selected');
    await page.click('.bulk .first');
    await page.waitForSelector('dialog #command');
    await page.select('#command', 'identify');
    await page.waitForSelector('dialog form');
    for (const [look, how] of Object.entries(LOOKS)) {
      await setLook(page, how);
      await screenshot(page, `console-bulk-${look}`);
      expect(await findings(page), look).toEqual([]);
    }
    await page.click('dialog .first');
    await page.waitForSelector('dialog [role=alert]');
    expect(fake.asked.some(({ path }) => path === '/api/commands')).toBe(false);
    await page.click('dialog .first');
    await page.waitForFunction(() => location.pathname === '/jobs/job-1');
    const { body } = fake.asked.find(({ path }) => path === '/api/commands') ?? { body: {} };
    expect(body).toEqual({
      command: 'identify',
      args: {},
      to: { filter: { problem: true }, except: ['museum/kiosk-00002'] },
    });
    await settle(page);
    // Those that do not have it yet shall not get it.
    await page.click('main .danger');
    await expect.poll(() => fake.asked.some(({ path }) => path === '/api/jobs/job-1/stop')).toBe(true);
    answerJob(fake, 'job-1', (_, at) =>
      at % 5 === 0 ? { state: 'error', code: 'busy', message: 'A chime is playing.' } : { state: 'ok' },
    );
    await page.waitForFunction(() => document.querySelector('.counts')?.textContent?.includes('refused'));
    // Another browser, or this one later: the address has everything.
    await open('/jobs/job-1');
    await screenshot(page, 'console-job-light');
    expect(await page.$('main .danger')).toBeNull();
    expect(await page.$eval('progress', (bar) => (bar as HTMLProgressElement).value)).toBe(1000);
    expect(await page.$eval('.counts', (counts) => counts.textContent)).toContain('refused 200');
    const shown = () => page.$$eval('tbody tr', ({ length }) => length);
    expect(await shown()).toBe(100);
    await page.click('main > button');
    await expect.poll(shown).toBe(200);
    const shownStates = () =>
      page.$$eval('tbody td:nth-child(2)', (cells) => [...new Set(cells.map((cell) => cell.textContent))]);
    expect(await shownStates()).toEqual(['refused', 'done']);
    await page.click('.counts button::-p-text(refused)');
    await expect.poll(shownStates).toEqual(['refused']);
    expect(await findings(page)).toEqual([]);
    await close();
  });

  it('names each group with its problems and its devices', async () => {
    const { page, close } = await showConsole(browser, '/');
    const options = await page.$$eval('select[aria-label="all groups"] option', (all) =>
      all.map((option) => option.textContent),
    );
    expect(options).toEqual(['all groups', 'counter (1/20)', 'lobby (20)']);
    await close();
  });
});
