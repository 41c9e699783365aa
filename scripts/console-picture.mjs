/**
 * Makes docs/console.png and docs/console-device.png: runs the shipped `dragoman demo --web`, signs in at the console, and
 * keeps pictures of its three kiosks and of the one in trouble. Usage: npm run picture:console
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import puppeteer from 'puppeteer-core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLEET = { width: 1280, height: 340, deviceScaleFactor: 1 };
const DEVICE = { width: 1280, height: 760, deviceScaleFactor: 1 };
/** Longest wait for the kiosks (ms). */
const LONGEST_MS = 60_000;
const THREE_KIOSKS = `['degraded', 'idle', 'ready'].every((status) =>
  document.querySelector('.scroller .status.' + status) !== null)`;

const folder = await mkdtemp(join(tmpdir(), 'dragoman-picture-'));
const words = ['demo', '--web', '--json', '--output', join(folder, 'demo.wav')];
const demo = spawn(process.execPath, [join(ROOT, 'dist', 'dragoman.mjs'), ...words], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((resolve) => demo.on('exit', resolve));
try {
  const { url, name, password } = await consoleOf(createInterface({ input: demo.stdout }));
  const browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--accept-lang=en-GB'],
  });
  try {
    const page = await browser.newPage();
    await page.setViewport(FLEET);
    await page.goto(url);
    await page.waitForSelector('#password');
    await page.type('#name', name);
    await page.type('#password', password);
    await page.keyboard.press('Enter');
    await page.waitForFunction(THREE_KIOSKS, { timeout: LONGEST_MS });
    await page.screenshot({ path: join(ROOT, 'docs', 'console.png') });
    await page.setViewport(DEVICE);
    await page.goto(`${url}/device/demo/kiosk-03`);
    await page.waitForSelector('.reason');
    await page.screenshot({ path: join(ROOT, 'docs', 'console-device.png') });
  } finally {
    await browser.close();
  }
} finally {
  demo.kill('SIGINT');
  await ended;
  await rm(folder, { recursive: true });
}

async function consoleOf(lines) {
  for await (const line of lines) {
    const { pages } = JSON.parse(line);
    if (pages !== undefined) return pages.console;
  }
  throw new Error('the demo ended before it served its pages');
}
