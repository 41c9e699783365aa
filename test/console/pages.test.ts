import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NARROW, NO_BROWSER, openBrowser, screenshot, showConsole, wideParts } from './console-page.ts';

const PAGES: Readonly<Record<string, string>> = {
  fleet: '/',
  device: '/device/museum/kiosk-00002',
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
};
const LOOKS = [
  ['light', {}],
  ['dark', { isDark: true }],
  ['telephone', { size: NARROW }],
  ['telephone-dark', { size: NARROW, isDark: true }],
] as const;

let browser: Browser;

describe.skipIf(NO_BROWSER !== null)(`the console's pages${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  const cases = LOOKS.flatMap(([look]) => Object.keys(PAGES).map((name) => [name, look] as const));
  it.each(cases)('shows %s when it looks %s', async (name, look) => {
    const options = LOOKS.find(([one]) => one === look)?.[1] ?? {};
    const { page, complaints, close } = await showConsole(browser, PAGES[name] ?? '/', options);
    await screenshot(page, `console-${name}-${look}`);
    expect(await page.$$eval('main h1', (heads) => heads.length)).toBe(1);
    expect(await wideParts(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(LOOKS)('shows the form to sign in when it looks %s', async (look, options) => {
    const { page, close } = await showConsole(browser, '/', { ...options, isSignedIn: false });
    await screenshot(page, `console-sign-in-${look}`);
    expect(await page.$('input[type=password]')).not.toBeNull();
    expect(await wideParts(page)).toEqual([]);
    await close();
  });
});
