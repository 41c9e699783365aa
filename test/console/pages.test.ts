import type { Browser } from 'puppeteer-core';
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
  wideParts,
} from './console-page.ts';
import { answerJob } from './fake-owner.ts';
import { REGISTRY } from './owner-fixtures.ts';

const PAGES: Readonly<Record<string, string>> = {
  fleet: '/',
  'fleet-filtered': '/?q=kiosk-0000&problem=1',
  'fleet-nothing': '/?q=nowhere',
  device: '/device/museum/kiosk-00002',
  'device-lost': '/device/museum/kiosk-00001',
  'device-missing': '/device/museum/nowhere',
  events: '/device/museum/kiosk-00002/events',
  health: '/device/museum/kiosk-00002/health',
  log: '/device/museum/kiosk-00002/log',
  doctor: '/device/museum/kiosk-00002/doctor',
  config: '/device/museum/kiosk-00002/config',
  commands: '/device/museum/kiosk-00002/commands',
  group: '/group/museum/lobby',
  jobs: '/jobs',
  conversations: '/conversations',
  cost: '/cost?month=2026-11',
  people: '/people',
  audit: '/audit',
  account: '/me',
  missing: '/no/such/page',
};

let browser: Browser;

describe(`the console's pages${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it.each(Object.entries(PAGES))('shows %s in light, in dark and on a telephone', async (name, path) => {
    const { fake, page, complaints, close } = await showConsole(browser, '/me');
    for (const [number, command] of ['mute', 'identify'].entries()) {
      await page.evaluate(
        (body) =>
          fetch('/api/commands', {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(body),
          }).then(() => {}),
        { command, args: {}, to: { devices: ['museum/kiosk-00001', 'museum/kiosk-00003'] } },
      );
      answerJob(fake, `job-${number + 1}`, (_device, at) =>
        at === 0 ? { state: 'ok' } : { state: 'error', code: 'unsupported', message: 'No microphone.' },
      );
    }
    await page.goto(`${fake.url}${path}`);
    await settle(page);
    for (const [look, how] of Object.entries(LOOKS)) {
      await setLook(page, how);
      await screenshot(page, `console-${name}-${look}`);
      expect(await page.$$eval('main h1', (heads) => heads.length)).toBe(1);
      expect(await wideParts(page)).toEqual([]);
      expect(await findings(page), look).toEqual([]);
    }
    const expected = name === 'device-missing' ? [expect.stringContaining('404')] : [];
    expect(complaints).toEqual(expected);
    await close();
  });

  it('shows the form to sign in, what is wrong, and then the page that was asked for', async () => {
    const { page, close } = await showConsole(browser, '/device/museum/kiosk-00002', { isSignedIn: false });
    for (const [look, how] of Object.entries(LOOKS)) {
      await setLook(page, how);
      await screenshot(page, `console-sign-in-${look}`);
      expect(await wideParts(page)).toEqual([]);
      expect(await findings(page), look).toEqual([]);
    }
    await page.type('#name', 'anna');
    await page.type('#password', 'wrong');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]');
    expect(await page.$eval('[role=alert]', (part) => part.textContent)).toContain('is wrong');
    expect(await findings(page)).toEqual([]);
    await page.$eval('#password', (input) => {
      (input as HTMLInputElement).value = '';
    });
    await page.type('#password', 'right horse battery');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tabs');
    expect(await page.$eval('h1', (head) => head.textContent)).toBe('museum/kiosk-00002');
    await close();
  });

  it('speaks German when the browser asks for it, and keeps the choice', async () => {
    const { page, fake, close } = await showConsole(browser, '/', { language: 'de-AT' });
    expect(await page.$eval('html', (html) => html.lang)).toBe('de');
    expect(await page.$eval('header nav', (nav) => nav.textContent)).toContain('Flotte');
    await screenshot(page, 'console-fleet-german');
    expect(await wideParts(page)).toEqual([]);
    await page.select('header select', 'en');
    await page.goto(`${fake.url}/cost`);
    await settle(page);
    expect(await page.$eval('h1', (head) => head.textContent)).toBe('Cost');
    await close();
  });

  it('shows and downloads the cost as the owner has grouped it', async () => {
    const { page, close } = await showConsole(browser, '/cost?month=2026-11');
    await page.select('main select', 'group');
    await page.waitForFunction(() => document.querySelector('tbody td')?.textContent?.startsWith('lobby'));
    const link = await page.$eval('a.button', ({ href, download }) => [new URL(href).search, download]);
    expect(link).toEqual(['?month=2026-11&by=group', 'cost-2026-11-by-group.csv']);
    await close();
  });

  it("shows times in the viewer's zone", async () => {
    const { page, close } = await showConsole(browser, '/device/museum/kiosk-00002/events');
    const shown = await page.$eval('tbody time', (time) => [time.textContent, time.getAttribute('datetime')]);
    expect(shown).toEqual([expect.stringContaining('09:14:00'), '2026-11-27T08:14:00.000Z']);
    await close();
  });

  it.each([
    ['viewer', ['Fleet', 'Commands', 'Conversations', 'Cost'], ['Now', 'Events', 'Health', 'Configuration']],
    [
      'operator',
      ['Fleet', 'Commands', 'Conversations', 'Cost'],
      ['Now', 'Events', 'Health', 'Log', 'Doctor', 'Configuration', 'Commands'],
    ],
  ] as const)('offers only what the role %s may do', async (role, pages, tabs) => {
    const { page, open, close } = await showConsole(browser, '/device/museum/kiosk-00002', { role });
    expect(await page.$$eval('header nav a', (links) => links.map((link) => link.textContent))).toEqual(
      pages,
    );
    expect(await page.$$eval('.tabs a', (links) => links.map((link) => link.textContent))).toEqual(tabs);
    expect(
      await page.$$eval('[aria-current=page]', (links) => links.map((link) => link.textContent)),
    ).toEqual(['Fleet', 'Now']);
    if (role === 'operator') {
      await open('/device/museum/kiosk-00002/commands');
      const off = await page.$$eval('#command option:disabled', (options) =>
        options.map((option) => (option as HTMLOptionElement).value),
      );
      const forbidden = REGISTRY.commands.filter((command) => command.role === 'administrator');
      expect(off).toEqual(forbidden.map(({ name }) => name));
      expect(off).not.toEqual([]);
    }
    await open('/device/museum/kiosk-00002/config');
    expect(await page.$('form')).toBeNull();
    await close();
  });
});
