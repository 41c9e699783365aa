import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import {
  findings,
  LOOKS,
  NARROW,
  NO_BROWSER,
  openBrowser,
  screenshot,
  setLook,
  settle,
  showConsole,
  wideParts,
} from './console-page.ts';
import { detailFor, EVENTS, rowFor } from './fleet-fixtures.ts';

let browser: Browser;

/** An override that is never closed, markup, and far more than fits. */
const HOSTILE = `\u202egnp.exe <img src=x onerror=alert(1)> <script>alert(2)</script> ${'long '.repeat(400)}`;

/** The page's timer of 3 s runs when the test passes them. */
const BY_HAND = `const later = window.setTimeout;
  window.setTimeout = (callback, ms) => {
    if (ms !== 3000) return later(callback, ms);
    window.again = callback;
    return 0;
  };
  window.passThreeSeconds = () => {
    const { again } = window;
    window.again = undefined;
    again();
  };`;

const bannerOf = (page: Page): Promise<string> =>
  page.$eval('[role=status]', (banner) => (banner.className === 'banner' ? (banner.textContent ?? '') : ''));

describe(`the console every day${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('says that the backend is gone, and comes back by itself with one snapshot', async () => {
    const { page, fake, close } = await showConsole(browser, '/');
    const before = fake.snapshots;
    await fake.close();
    await page.waitForFunction(() => document.querySelector('.banner') !== null);
    expect(await bannerOf(page)).toContain('No connection to the backend');
    for (const [look, how] of Object.entries(LOOKS)) {
      await setLook(page, how);
      await screenshot(page, `console-gone-${look}`);
      expect(await findings(page), look).toEqual([]);
    }
    fake.rows.set('museum/kiosk-00001', rowFor(1, { status: 'ready', isProblem: false, reasons: [] }));
    await fake.open();
    await page.waitForFunction(() => document.querySelector('.banner') === null);
    expect(fake.snapshots).toBe(before + 1);
    expect(await page.$eval('.counts .bad b', (count) => count.textContent)).toBe('9');
    await close();
  });

  it('says why it shows nothing when the backend cannot answer at first, and begins by itself after 3 s', async () => {
    const { page, fake, open, close } = await showConsole(browser, '/me');
    const problem = { code: 'internal', message: 'The store does not answer yet.' } as const;
    fake.answers.set('GET /api/me', { status: 503, problem });
    await page.evaluateOnNewDocument(BY_HAND);
    await open('/');
    expect(await page.$eval('main', (main) => main.textContent)).toBe(problem.message);
    fake.answers.delete('GET /api/me');
    await page.waitForFunction('window.again !== undefined');
    await page.evaluate('window.passThreeSeconds()');
    await page.waitForSelector('[role=grid]');
    await close();
  });

  it('shows in the audit what failed as bad, and a published configuration not yet as good', async () => {
    const { page, close } = await showConsole(browser, '/audit');
    const tones = await page.$$eval('td > span:has(bdi)', (found) =>
      found.map((span) => [span.textContent, span.className]),
    );
    expect(tones).toEqual([
      ['published as version 3', ''],
      ['wrong password', 'bad'],
    ]);
    await close();
  });

  it('asks for a snapshot when a difference is missing', async () => {
    const { page, fake, close } = await showConsole(browser, '/?sort=device');
    const before = fake.snapshots;
    fake.skip();
    fake.change(rowFor(2, { status: 'idle', isProblem: false, reasons: ['muted'] }));
    await expect.poll(() => fake.snapshots).toBe(before + 1);
    await page.waitForFunction(() =>
      document.querySelector('[aria-rowindex="3"]')?.textContent?.includes('muted by command'),
    );
    await close();
  });

  it('says so when the backend does not hear the devices', async () => {
    const { page, fake, close } = await showConsole(browser, '/');
    fake.sendAll({ broker: 'away' });
    await page.waitForFunction(() => document.querySelector('.banner') !== null);
    expect(await bannerOf(page)).toContain('no connection to the broker');
    await close();
  });

  it('asks to sign in again when the session has ended, and keeps the page behind', async () => {
    const path = '/device/museum/kiosk-00002/config';
    const { page, fake, complaints, close } = await showConsole(browser, path);
    await page.type('[id="/lanes/0/voice"]', 'a');
    const fieldset = await page.$('fieldset input');
    await fieldset?.type('x');
    fake.endSession();
    await page.waitForSelector('dialog');
    await screenshot(page, 'console-session-over-light');
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.$('dialog')).not.toBeNull();
    await page.type('#password', 'right horse battery');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('dialog') === null);
    await settle(page);
    expect(await page.$eval('fieldset input', (input) => (input as HTMLInputElement).value)).toBe('mainx');
    // What could not be fetched without a session is fetched now.
    fake.isSignedIn = false;
    await page.click('.tabs a[href$="/health"]');
    await page.waitForSelector('dialog #password');
    await page.type('#password', 'right horse battery');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.plot');
    expect(await page.$('.fault')).toBeNull();
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    await close();
  });

  it('shows another person who signs in nothing that the one before has entered', async () => {
    const { page, fake, close } = await showConsole(browser, '/device/museum/kiosk-00002/config');
    await (await page.$('fieldset input'))?.type('x');
    fake.endSession();
    await page.waitForSelector('dialog #password');
    const board = { name: 'board', role: 'administrator', expiresAt: '2026-11-28T08:00:00.000Z' };
    fake.answers.set('POST /api/sign-in', { value: board });
    fake.isSignedIn = true;
    await page.type('#password', 'right horse battery');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.who')?.textContent?.includes('board'));
    await settle(page);
    expect(await page.$eval('fieldset input', (input) => (input as HTMLInputElement).value)).toBe('main');
    await close();
  });

  it('shows hostile names and messages as text, cut to their place', async () => {
    const row = rowFor(1, {
      site: HOSTILE,
      reasons: [`capture:${HOSTILE}`],
      version: HOSTILE,
      groups: [HOSTILE],
    });
    const { page, fake, open, complaints, close } = await showConsole(browser, '/', { rows: [row] });
    const event = {
      number: 9,
      at: null,
      kind: HOSTILE,
      lane: HOSTILE,
      message: HOSTILE.repeat(128),
      fields: { [HOSTILE]: HOSTILE },
    };
    const [lane] = detailFor(row).lanes;
    if (lane === undefined) throw new Error('there is no lane');
    fake.details.set(
      row.device,
      detailFor(row, {
        events: [...EVENTS, event],
        lanes: [
          { ...lane, id: HOSTILE, phase: HOSTILE, lastError: { at: 'x', code: HOSTILE, message: HOSTILE } },
        ],
      }),
    );
    const path = '/device/museum/kiosk-00001';
    for (const [name, to] of [
      ['fleet', '/'],
      ['device', path],
      ['events', `${path}/events`],
    ] as const) {
      await open(to);
      for (const look of ['light', 'telephone'] as const) {
        await setLook(page, LOOKS[look]);
        await screenshot(page, `console-hostile-${name}-${look}`);
        expect(await page.$$('main img, main script')).toEqual([]);
        expect(
          await page.$eval('main', (main) => /[\u202a-\u202e\u2066-\u2069]/.test(main.textContent ?? '')),
        ).toBe(false);
        expect(await wideParts(page)).toEqual([]);
        expect(await findings(page)).toEqual([]);
      }
    }
    expect(complaints).toEqual([]);
    await close();
  });

  it('can be used by keyboard alone', async () => {
    const { page, fake, close } = await showConsole(browser, '/');
    const focused = (): Promise<string> =>
      page.evaluate(() => {
        const { activeElement: at } = document;
        return `${at?.getAttribute('role') ?? at?.tagName} ${at?.getAttribute('aria-label') ?? at?.textContent}`;
      });
    const hasRing = (): Promise<boolean> =>
      page.evaluate(() => {
        const at = document.activeElement;
        return at !== null && getComputedStyle(at).outlineStyle === 'solid';
      });
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('A Skip to the content');
    expect(await hasRing()).toBe(true);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('BUTTON all 40');
    // To the rows: every stop has a ring, and none is a trap.
    const stops: string[] = [];
    for (let step = 0; step < 30 && !(await focused()).startsWith('grid'); step += 1) {
      expect(await hasRing(), await focused()).toBe(true);
      stops.push(await focused());
      await page.keyboard.press('Tab');
    }
    expect(new Set(stops).size).toBe(stops.length);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.waitForSelector('.bulk');
    expect(await page.$eval('.bulk b', (text) => text.textContent)).toBe('1 device selected');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tabs');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main');
    for (let step = 0; step < 20 && (await focused()) !== 'A Commands'; step += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#command');
    await page.focus('#command');
    await page.keyboard.type('mute');
    await page.waitForSelector('main form');
    await page.evaluate(() => document.querySelector<HTMLElement>('main form button')?.focus());
    await page.keyboard.press('Enter');
    await expect.poll(() => fake.asked.some(({ path }) => path === '/api/commands')).toBe(true);
    await close();
  });

  it('changes no role before the person has confirmed it, also when an arrow key chose it', async () => {
    const { page, fake, close } = await showConsole(browser, '/people');
    const board = 'tbody tr:nth-child(3) select';
    const changes = () => fake.asked.filter(({ path }) => path === '/api/people/board');
    await page.focus(board);
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('dialog') === null);
    expect(await page.$eval(board, (list) => (list as HTMLSelectElement).value)).toBe('viewer');
    expect(changes()).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Enter');
    await expect.poll(changes).toMatchObject([{ body: { role: 'operator' } }]);
    await close();
  });

  it('shows whose name is locked after wrong passwords, and unlocks it', async () => {
    const { page, fake, close } = await showConsole(browser, '/people');
    const rows = await page.$$eval('tbody tr', (list) => list.map((row) => row.textContent ?? ''));
    expect(rows.map((text) => text.includes('Locked after wrong passwords until'))).toEqual([
      false,
      true,
      false,
    ]);
    const unlock = await page.$$('tbody tr:nth-child(2) button::-p-text(Unlock)');
    expect(await page.$$('button::-p-text(Unlock)')).toHaveLength(1);
    await unlock[0]?.click();
    await expect
      .poll(() => fake.asked.filter(({ path }) => path.startsWith('/api/people/')))
      .toMatchObject([{ path: '/api/people/night-desk/unlock' }]);
    await close();
  });

  it('gives the keyboard back when a dialog closes', async () => {
    const { page, close } = await showConsole(browser, '/people', { size: NARROW });
    await page.focus('button.danger');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest('dialog') !== null))
      .toBe(true);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('dialog') === null);
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('danger');
    await close();
  });
});
