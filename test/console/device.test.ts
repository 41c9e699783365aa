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
} from './console-page.ts';
import { answerJob } from './fake-owner.ts';
import { detailFor, rowFor } from './fleet-fixtures.ts';
import { REGISTRY } from './owner-fixtures.ts';

let browser: Browser;
const PATH = '/device/museum/kiosk-00002';

describe(`a device${NO_BROWSER ? ` (${NO_BROWSER})` : ''}`, needs(NO_BROWSER), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('shows its lanes live', async () => {
    const { page, fake, close } = await showConsole(browser, PATH);
    const [lane] = detailFor(rowFor(2)).lanes;
    if (lane === undefined) throw new Error('there is no lane');
    fake.sendAll({ device: { lanes: [{ ...lane, phase: 'waiting', targets: ['fr'], levelDbfs: -31 }] } });
    await page.waitForFunction(() => document.querySelector('main')?.textContent?.includes('-31 dBFS'));
    const text = await page.$eval('main', (main) => main.textContent);
    expect(text).toContain('waits for the next attempt');
    expect(text).toContain('en → fr');
    fake.sendAll({ device: { lanes: detailFor(rowFor(2)).lanes } });
    await page.waitForSelector('section[aria-label="Lane clerk"]');
    const flags = await page.$$eval('section[aria-label^=Lane]', (lanes) =>
      lanes.map((one) => [...one.querySelectorAll('b, dd.warn')].map(({ textContent }) => textContent)),
    );
    expect(flags).toEqual([
      ['in a conversation', '1 second'],
      ['muted', '1 second'],
    ]);
    await close();
  });

  it('appends new events, and follows the log on demand', async () => {
    const { page, fake, open, close } = await showConsole(browser, `${PATH}/events`);
    fake.sendAll({
      events: [
        { number: 3, at: '2026-11-27T08:30:00.000Z', kind: 'wake', lane: 'main', message: null, fields: {} },
      ],
    });
    await page.waitForFunction(() => document.querySelector('tbody code')?.textContent === 'wake');
    const kinds = () => page.$$eval('tbody code', (codes) => codes.map((code) => code.textContent));
    await page.select('main select', 'audio_lost');
    await expect.poll(kinds).toEqual(['audio_lost']);
    await page.select('main select', '');
    await expect.poll(kinds).toEqual(['wake', 'audio_lost', 'session_started']);
    await open(`${PATH}/log`);
    await page.select('select[aria-label="Level"]', 'debug');
    await page.select('select[aria-label="Duration"]', '15');
    await page.click('main .first');
    await expect
      .poll(() => fake.asked.filter(({ path }) => path.endsWith('/log')).map(({ body }) => body))
      .toEqual([{ minutes: 15, level: 'debug' }]);
    const line = {
      level: 'warn',
      time: '2026-11-27T08:30:00.000Z',
      msg: 'the microphone is silent',
      lane: 'main',
    };
    fake.sendAll({ log: { lines: [JSON.stringify(line), 'not JSON <b>'], dropped: 2 } });
    await page.waitForSelector('[role=log]');
    const shown = await page.$eval('[role=log]', (log) => log.textContent);
    expect(shown).toContain('warn the microphone is silent {"lane":"main"}');
    expect(shown).toContain('not JSON <b>');
    await screenshot(page, 'console-log-lines-light');
    expect(await findings(page)).toEqual([]);
    await close();
  });

  it("shows the doctor's report, also after a reload", async () => {
    const { page, fake, close } = await showConsole(browser, `${PATH}/doctor`);
    await page.click('main .first');
    await page.waitForFunction(() => location.search === '?job=job-1');
    const data = {
      version: '1.0.0',
      verdict: 'problem',
      checks: [
        { check: 'broker', lane: null, verdict: 'ok', finding: 'connected', fix: null, data: {} },
        {
          check: 'capture',
          lane: 'main',
          verdict: 'problem',
          finding: 'no sound from `plughw:CARD=Mic`',
          fix: 'check the cable, then `dragoman devices`',
          data: {},
        },
      ],
    };
    answerJob(fake, 'job-1', () => ({ state: 'ok', data }));
    await page.waitForFunction(() => document.querySelector('tbody') !== null);
    await page.reload();
    await settle(page);
    const rows = await page.$$eval('tbody tr', (lines) => lines.map((line) => line.textContent));
    expect(rows[0]).toContain('no sound from plughw:CARD=Mic');
    for (const [look, how] of Object.entries(LOOKS)) {
      await setLook(page, how);
      await screenshot(page, `console-report-${look}`);
      expect(await findings(page), look).toEqual([]);
    }
    await close();
  });

  it('sends a command from its form, and shows what the device answered', async () => {
    const { page, fake, close } = await showConsole(browser, `${PATH}/commands`);
    await page.select('#command', 'volume');
    await page.waitForSelector('[id="/percent"]');
    await page.type('[id="/percent"]', '55');
    await page.type('[id="/lane"]', 'clerk');
    // A double click, before the page can have the answer to the first.
    await page.$eval('form .first', async (button) => {
      (button as HTMLButtonElement).click();
      for (let step = 0; step < 10; step += 1) await null;
      (button as HTMLButtonElement).click();
    });
    await page.waitForFunction(() => location.search === '?job=job-1');
    await settle(page);
    expect(fake.asked.filter(({ path }) => path === '/api/commands')).toHaveLength(1);
    expect(fake.asked.at(-1)?.body).toEqual({
      command: 'volume',
      args: { percent: 55, lane: 'clerk' },
      to: { devices: ['museum/kiosk-00002'] },
    });
    answerJob(fake, 'job-1', () => ({
      state: 'error',
      code: 'no_lane',
      message: 'There is no lane "clerk".',
    }));
    await page.waitForFunction(() =>
      document.querySelector('main')?.textContent?.includes('There is no lane'),
    );
    await screenshot(page, 'console-command-refused-light');
    expect(await findings(page)).toEqual([]);
    await close();
  });

  it('cuts long descriptions of commands between words, with an ellipsis', async () => {
    const { page, close } = await showConsole(browser, `${PATH}/commands`);
    const shown = await page.$$eval('#command option[value]:not([value=""])', (options) =>
      options.map((option) => [(option as HTMLOptionElement).value, option.textContent ?? ''] as const),
    );
    const whole = new Map(REGISTRY.commands.map(({ name, says }) => [name, says.replaceAll('`', '')]));
    for (const [name, text] of shown) {
      const full = `${name}: ${whole.get(name)}`;
      if (text === full) continue;
      expect(text).toMatch(/\w …$/);
      expect(full.startsWith(text.slice(0, -2))).toBe(true);
      expect(full[text.length - 2]).toMatch(/\W/);
    }
    expect(shown.filter(([, text]) => text.endsWith('…')).length).toBeGreaterThan(3);
    await close();
  });

  it("shows the server's faults beside their fields", async () => {
    const { page, fake, close } = await showConsole(browser, `${PATH}/commands`);
    fake.answers.set('POST /api/commands', {
      status: 400,
      problem: {
        code: 'invalid',
        message: 'The arguments are not valid.',
        faults: [{ pointer: '/args/language', message: 'must be a language tag such as "es"' }],
      },
    });
    await page.select('#command', 'say');
    await page.waitForSelector('[id="/text"]');
    await page.type('[id="/text"]', 'Hello');
    await page.type('[id="/language"]', '???');
    await page.click('form .first');
    await page.waitForSelector('.fault');
    const beside = await page.$eval('[id="/language"]', (input) => input.closest('.field')?.textContent);
    expect(beside).toContain('must be a language tag');
    await screenshot(page, 'console-command-faults-light');
    await close();
  });

  it('changes the desired configuration after showing what differs', async () => {
    const { page, fake, close } = await showConsole(browser, `${PATH}/config`);
    const volume = '[id="/lanes/0/volume"]';
    const shown = () =>
      page.$$eval('.diff > *', (parts) =>
        parts.map(({ innerHTML }) => innerHTML.replaceAll(/<.?code>/g, '')),
      );
    await page.$eval(volume, (input) => (input as HTMLInputElement).select());
    await page.keyboard.press('Backspace');
    // An empty field is a key that is not set.
    await expect.poll(shown).toEqual(['lanes[0].volume', '<del>70</del> ']);
    await page.click('form .first + button');
    await expect.poll(shown).toEqual([]);
    expect(await page.$eval(volume, (input) => (input as HTMLInputElement).value)).toBe('70');
    await page.$eval(volume, (input) => (input as HTMLInputElement).select());
    await page.type(volume, '45');
    await page.select('[id="/log/level"]', 'debug');
    await page.select('[id="/schedule"]', 'null');
    await settle(page);
    const changes = await page.$$eval('.diff dt', (keys) => keys.map((key) => key.textContent));
    expect(changes).toEqual(['lanes[0].volume', 'log.level', 'schedule']);
    await page.$eval('.diff', (diff) => diff.scrollIntoView());
    await screenshot(page, 'console-config-diff-light');
    expect(await findings(page)).toEqual([]);
    await page.click('form .first');
    await expect
      .poll(() => fake.asked.find(({ path }) => path === '/api/config')?.body)
      .toEqual({
        target: { device: 'museum/kiosk-00002' },
        basedOn: 3,
        document: {
          lanes: [{ id: 'main', source: 'en', targets: ['es', 'fr'], volume: 45 }],
          schedule: null,
          log: { level: 'debug' },
        },
      });
    await page.waitForFunction(() => document.querySelector('form .good')?.textContent?.startsWith('Sent.'));
    await close();
  });

  it('removes the chosen entry of a list, and keeps the others in their order', async () => {
    const { page, fake, close } = await showConsole(browser, `${PATH}/config`);
    for (const [at, id] of ['second', 'third'].entries()) {
      await page.click('button::-p-text(Add lanes)');
      const field = `[id="/lanes/${at + 1}/id"]`;
      await page.waitForSelector(field);
      await page.$eval(field, (input) => (input as HTMLInputElement).select());
      await page.type(field, id);
    }
    await page.click('button::-p-text(lanes 2)');
    await page.waitForFunction(() => document.getElementById('/lanes/2/id') === null);
    await page.click('form .first');
    const sent = () => fake.asked.find(({ path }) => path === '/api/config')?.body;
    await expect.poll(sent).toMatchObject({ document: { lanes: [{ id: 'main' }, { id: 'third' }] } });
    await close();
  });

  it('says that somebody was faster when the document has changed', async () => {
    const { page, fake, close } = await showConsole(browser, `${PATH}/config`);
    fake.answers.set('POST /api/config', {
      status: 409,
      problem: { code: 'changed', message: 'Somebody has changed it: load the page again.' },
    });
    await page.select('[id="/log/level"]', 'debug');
    await page.click('form .first');
    await page.waitForSelector('form [role=alert]');
    expect(await page.$eval('form [role=alert]', (text) => text.textContent)).toContain(
      'Somebody has changed it',
    );
    await close();
  });
});
