import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleFilesOf } from '../../src/adapters/console/console-files.ts';
import { parseJson } from '../../src/protocol/common/json.ts';
import { consoleOfEachTest, PASSWORD, PREFIX } from '../backend/console/console-on-loopback.ts';
import { freePort } from '../free-port.ts';
import { needs } from '../needs.ts';
import { PATIENT } from '../setup/patience.ts';
import { buildConsole, COUNT_AWAITED, NO_BROWSER, openBrowser, settle } from './console-page.ts';

let browser: Browser;
const consoles = consoleOfEachTest();

async function openConsole() {
  const files = consoleFilesOf(await buildConsole());
  const port = await freePort();
  const fixture = await consoles.start({ files, config: { console: { listen: `127.0.0.1:${port}` } } });
  for (let number = 1; number <= 30; number += 1) fixture.status(`museum/kiosk-${number}`);
  fixture.status('museum/kiosk-7', 'degraded', { reasons: ['capture:silent'] });
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENT.poll.timeout);
  await page.evaluateOnNewDocument(COUNT_AWAITED);
  await page.goto(`${fixture.url}/`);
  await page.waitForSelector('#password');
  await page.type('#name', 'ann');
  await page.type('#password', PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () =>
      document.querySelector('.counts b')?.textContent === '30' &&
      document.querySelector('.counts .bad b')?.textContent === '1',
  );
  return { fixture, page, context };
}

const firstRow = (page: Page): Promise<string | null> =>
  page.$eval('[aria-rowindex="2"]', (row) => row.textContent);

describe(`the page and the real backend${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('shows what devices publish, problems first, and changes by itself', async () => {
    const { fixture, page, context } = await openConsole();
    await expect.poll(() => firstRow(page)).toContain('museum/kiosk-7');
    fixture.status('museum/kiosk-30', 'lost', { reasons: ['connection_lost'] });
    await page.waitForFunction(() => document.querySelector('.counts .bad b')?.textContent === '2');
    await page.type('input[type=search]', 'kiosk-30');
    await page.waitForFunction(() => document.querySelectorAll('.scroller .line').length === 1);
    await page.keyboard.press('Tab');
    await context.close();
  });

  it('sends a command to a device and shows its answer', async () => {
    const { fixture, page, context } = await openConsole();
    await page.goto(`${fixture.url}/device/museum/kiosk-7/commands`);
    await settle(page);
    await page.select('#command', 'identify');
    await page.waitForSelector('main form');
    await page.click('main form .first');
    const topic = `${PREFIX}/museum/kiosk-7/cmd/identify`;
    await expect.poll(() => fixture.device.messages.some((message) => message.topic === topic)).toBe(true);
    const { payload } = fixture.device.messages.find((message) => message.topic === topic) ?? {
      payload: '',
    };
    const { id } = parseJson(payload) as { id: string };
    fixture.say(
      'museum/kiosk-7',
      'cmd/identify/res',
      { ts: null, id, status: 'error', error: { code: 'no_lane', message: 'There is no loudspeaker.' } },
      false,
    );
    await page.waitForFunction(() => document.querySelector('main')?.textContent?.includes('no loudspeaker'));
    await page.goto(`${fixture.url}/audit`);
    await page.waitForFunction(() =>
      document.querySelector('tbody')?.textContent?.includes('command.identify'),
    );
    await context.close();
  });

  it('says that a killed backend is gone, and goes on with the one that follows, still signed in', async () => {
    const { fixture, page, context } = await openConsole();
    await fixture.restart();
    await page.waitForFunction(() => document.querySelector('.banner') === null);
    fixture.status('museum/kiosk-8', 'degraded', { reasons: ['playback:lost'] });
    await page.waitForFunction(() => document.querySelector('.counts .bad b')?.textContent === '2');
    expect(await page.$('#password')).toBeNull();
    await context.close();
  });

  it('asks to sign in again after the session has ended elsewhere', async () => {
    const { fixture, page, context } = await openConsole();
    await fixture.signIn('ann');
    await fixture.ask('ann', 'POST', '/api/me/password', { old: PASSWORD, new: 'another long password' });
    await page.waitForSelector('dialog #password');
    await page.type('#password', 'another long password');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('dialog') === null);
    await expect.poll(() => firstRow(page)).toContain('museum/kiosk-7');
    await context.close();
  });
});
