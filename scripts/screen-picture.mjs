/**
 * Makes docs/screen.png: runs the shipped `dragoman demo --web`, opens the kiosk's page in chromium, and keeps the picture when
 * both languages have two lines. Usage: npm run picture:screen
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
const SIZE = { width: 1280, height: 720 };
/** Longest wait for the sentences (ms): the recording has the first ones within 10 s. */
const LONGEST_MS = 60_000;
const TWO_LINES = `['en', 'es'].every((language) =>
  document.querySelectorAll('.body[lang="' + language + '"] .line').length === 2) &&
  document.querySelector('.status[data-kind="listening"], .status[data-kind="speaking"]') !== null`;

const folder = await mkdtemp(join(tmpdir(), 'dragoman-picture-'));
const words = ['demo', '--web', '--json', '--output', join(folder, 'demo.wav')];
const demo = spawn(process.execPath, [join(ROOT, 'dist', 'dragoman.mjs'), ...words], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((resolve) => demo.on('exit', resolve));
try {
  const kiosk = await addressOf(createInterface({ input: demo.stdout }));
  const browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    await page.setViewport(SIZE);
    await page.goto(kiosk);
    await page.waitForFunction(TWO_LINES, { timeout: LONGEST_MS });
    await page.screenshot({ path: join(ROOT, 'docs', 'screen.png') });
  } finally {
    await browser.close();
  }
} finally {
  demo.kill('SIGINT');
  await ended;
  await rm(folder, { recursive: true });
}

async function addressOf(lines) {
  for await (const line of lines) {
    const { pages } = JSON.parse(line);
    if (pages !== undefined) return pages.kiosk;
  }
  throw new Error('the demo ended before it served its page');
}
