import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

/** Debian's package, or another one by `CHROMIUM`. */
const PATH = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Why these tests cannot run here; null: they can. */
export const NO_BROWSER = existsSync(PATH) ? null : `there is no ${PATH}: apt install chromium`;

/** Where screenshots stay; null: there are none. */
const SCREENSHOTS = process.env['SCREENSHOTS'] ?? null;

export async function openBrowser(...flags: readonly string[]): Promise<Browser> {
  return puppeteer.launch({
    executablePath: PATH,
    // Root has no sandbox, and a container no shared memory of its own.
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--force-color-profile=srgb',
      ...flags,
    ],
    headless: true,
  });
}

export async function screenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === null) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}
