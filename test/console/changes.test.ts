import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditLine } from '../../src/protocol/console-owner.ts';
import { needs } from '../needs.ts';
import { NO_BROWSER, openBrowser, settle, showConsole } from './console-page.ts';

let browser: Browser;
const PASSWORD = 'right horse battery';

const lineOf = (id: string): AuditLine => ({
  id,
  at: '2026-11-27T08:20:00.000Z',
  who: `person-${id}`,
  from: '192.0.2.7',
  what: 'command.mute',
  on: null,
  args: {},
  result: null,
});
const isForm = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.querySelector('.door #password') !== null);

describe(
  `what a person changes in the console${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`,
  needs(NO_BROWSER),
  () => {
    beforeAll(async () => {
      browser = await openBrowser();
    });
    afterAll(() => browser?.close());

    it('is nothing any more after "Sign out": the backend has ended the session', async () => {
      const { page, fake, open, close } = await showConsole(browser, '/me');
      await page.click('.who button');
      await expect.poll(() => isForm(page)).toBe(true);
      expect(fake.isSignedIn).toBe(false);
      await open('/people');
      expect([await isForm(page), await page.$('table')]).toEqual([true, null]);
      await close();
    });

    it('is their own password, with the old one', async () => {
      const { page, fake, close } = await showConsole(browser, '/me');
      await page.type('#old', 'the old password');
      await page.type('#new', 'the new password');
      await page.click('form .first');
      await page.waitForSelector('form .good');
      const sent = fake.asked.filter(({ path }) => path === '/api/me/password');
      expect(sent.map(({ body }) => body)).toEqual([{ old: 'the old password', new: 'the new password' }]);
      expect(
        await page.$$eval('#old, #new', (fields) => fields.map((field) => (field as HTMLInputElement).value)),
      ).toEqual(['', '']);
      await close();
    });

    it("is the chosen person's password, or the person as a whole after a question", async () => {
      const { page, fake, close } = await showConsole(browser, '/people');
      const sent = () => fake.asked.filter(({ path }) => path.startsWith('/api/people'));
      await page.click('tbody tr:nth-child(2) button:not(.danger)::-p-text(Set)');
      await page.waitForSelector('dialog[open] #set-password');
      await page.type('#set-password', PASSWORD);
      await page.click('dialog .first');
      await expect.poll(sent).toEqual([{ path: '/api/people/night-desk', body: { password: PASSWORD } }]);
      await page.waitForFunction(() => document.querySelector('dialog') === null);
      await page.click('tbody tr:nth-child(3) button.danger');
      await page.waitForSelector('dialog[open] .danger');
      expect(await page.$eval('dialog', (dialog) => dialog.textContent)).toContain('board');
      expect(sent()).toHaveLength(1);
      await page.click('dialog .danger');
      await expect.poll(() => sent().slice(1)).toEqual([{ path: '/api/people/board/remove', body: {} }]);
      await close();
    });

    it('is a new person with the chosen role', async () => {
      const { page, fake, close } = await showConsole(browser, '/people');
      fake.answers.set('POST /api/people', { value: {} });
      await page.type('#new-name', 'desk');
      await page.select('#new-role', 'operator');
      await page.type('#new-password', PASSWORD);
      await page.click('form .first');
      await page.waitForSelector('form .good');
      const sent = fake.asked.filter(({ path }) => path === '/api/people');
      expect(sent.map(({ body }) => body)).toEqual([{ name: 'desk', role: 'operator', password: PASSWORD }]);
      await close();
    });

    it('is sent to many devices only after a question, also when the first answer was a refusal', async () => {
      const { page, fake, close } = await showConsole(browser, '/');
      const problem = { code: 'too_many', message: 'Too many jobs run.' } as const;
      fake.answers.set('POST /api/commands', { status: 409, problem });
      await page.click('.head input');
      await page.click('.bulk .first');
      await page.waitForSelector('dialog #command');
      await page.select('#command', 'identify');
      await page.waitForSelector('dialog form');
      const sent = () => fake.asked.filter(({ path }) => path === '/api/commands').length;
      for (const times of [1, 2]) {
        await page.click('dialog form .first');
        await page.waitForSelector('dialog .warn[role=alert]');
        expect(sent()).toBe(times - 1);
        await page.click('dialog form .first');
        await expect.poll(sent).toBe(times);
        await page.waitForFunction(() => document.querySelector('dialog .warn') === null);
        await settle(page);
      }
      expect(await page.$eval('dialog .fault', (fault) => fault.textContent)).toContain('Too many jobs run.');
      await close();
    });

    it('is known again when what was asked for did not come: the page says why, and waits no more', async () => {
      const { page, fake, open, close } = await showConsole(browser, '/me');
      const problem = { code: 'internal', message: 'The ledger cannot be read.' } as const;
      fake.answers.set('GET /api/cost', { status: 500, problem });
      await open('/cost');
      const text = await page.$eval('main', (main) => main.textContent);
      expect(text).toContain('The ledger cannot be read.');
      expect(text).not.toContain('Loading');
      await close();
    });

    it('stands in the audit, whose older lines follow the newer ones', async () => {
      const { page, fake, open, close } = await showConsole(browser, '/me');
      const names = () =>
        page.$$eval('tbody tr td:nth-child(2)', (cells) => cells.map((cell) => cell.textContent));
      fake.answers.set('GET /api/audit', { value: { lines: [lineOf('4'), lineOf('3')], before: '3' } });
      await open('/audit');
      expect(await names()).toEqual(['person-4', 'person-3']);
      fake.answers.set('GET /api/audit', { value: { lines: [lineOf('2'), lineOf('1')], before: null } });
      await page.click('button::-p-text(Older)');
      await expect.poll(names).toEqual(['person-4', 'person-3', 'person-2', 'person-1']);
      await expect.poll(() => page.$('button::-p-text(Older)')).toBeNull();
      fake.answers.delete('GET /api/audit');
      await page.type('#audit-who', 'night');
      await page.keyboard.press('Enter');
      await expect.poll(names).toEqual(['night-desk']);
      await close();
    });
  },
);
