import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { findings, NO_BROWSER, openBrowser, screenshot, settle, showConsole, WIDE } from './console-page.ts';
import { answerJob } from './fake-owner.ts';
import { rowFor, rowsFor } from './fleet-fixtures.ts';

let browser: Browser;
const SINCE = '2026-11-27T08:15:00.000Z';
const waiting = (number: number, isLate = false) => rowFor(number, { call: { since: SINCE, isLate } });
const callsOf = (page: Page): Promise<(string | null)[]> =>
  page.$$eval('.calls > [role=status] .call .name', (names) => names.map((name) => name.textContent));

describe(`calls for staff${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it.each([
    ['wide', WIDE],
    ['narrow', { width: 400, height: 800 }],
  ])('stand above the fleet, and leave when they are answered (%s)', async (name, size) => {
    const { page, fake, close } = await showConsole(browser, '/', { rows: rowsFor(30), size });
    expect(await page.$('.calls')).toBeNull();
    const rows = [waiting(3), waiting(5, true)];
    for (const row of rows) fake.change(row);
    fake.sendAll({
      calls: rows.map(({ device, site }) => ({ device, site, since: SINCE, isLate: device.endsWith('5') })),
    });
    await page.waitForSelector('.calls .late');
    await settle(page);
    await screenshot(page, `calls-${name}`);
    const shown = await page.$$eval('.calls .call', (all) =>
      all.map((one) => [
        one.querySelector('a')?.getAttribute('href'),
        one.querySelector('time')?.dateTime,
        one.getBoundingClientRect().right <= innerWidth,
      ]),
    );
    expect(shown).toEqual(rows.map(({ device }) => [`/device/${device}`, SINCE, true]));
    const isAbove = await page.evaluate(() => {
      const end = document.querySelector('.calls')?.getBoundingClientRect().bottom ?? 0;
      return end <= (document.querySelector('.counts')?.getBoundingClientRect().top ?? 0);
    });
    expect(isAbove).toBe(true);
    expect(await findings(page)).toEqual([]);
    fake.sendAll({ calls: [] });
    await page.waitForFunction(() => document.querySelector('.calls') === null);
    await close();
  });

  it('are answered with the name of the person, and say who has answered already', async () => {
    const row = waiting(3);
    const { page, fake, close } = await showConsole(browser, '/', { rows: [row], role: 'operator' });
    await page.click('.calls button.first');
    await expect
      .poll(() => fake.asked.find(({ path }) => path === '/api/commands')?.body)
      .toEqual({ command: 'help', args: { do: 'answer', by: 'anna' }, to: { devices: [row.device] } });
    fake.sendAll({ calls: [] });
    await page.waitForFunction(() => document.querySelector('.calls > [role=status] .call') === null);
    answerJob(fake, fake.jobs[0]?.id ?? '', () => ({
      state: 'error',
      code: 'answered',
      message: 'Ben has answered already',
    }));
    await page.waitForFunction(() =>
      document.querySelector('.calls')?.textContent?.includes('Ben has answered already'),
    );
    await screenshot(page, 'calls-second');
    await page.click('.calls > .call > button');
    await page.waitForFunction(() => document.querySelector('.calls') === null);
    await close();
  });

  it('cannot be answered by a viewer', async () => {
    const { page, close } = await showConsole(browser, '/', { rows: [waiting(3)], role: 'viewer' });
    expect(await callsOf(page)).toHaveLength(2);
    expect(await page.$('.calls button')).toBeNull();
    await close();
  });
});
